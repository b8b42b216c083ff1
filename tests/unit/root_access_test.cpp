// Who may read resctrl, on an ordinary directory.
#include "rdtd/resctrl/root_access.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.hpp"

namespace rdtd {
namespace {

using resctrl::Admit;

class RootAccessTest : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    fs::create_directories(root_ / "resctrl");
    fs::create_directories(root_ / "state");
    set_mode(0555);
  }
  void set_mode(mode_t mode) { ASSERT_EQ(::chmod((root_ / "resctrl").c_str(), mode), 0); }
  // The mode and the group afterwards: "0750 0".
  std::string admit(Admit who, const Result<std::optional<gid_t>>& group = std::nullopt) {
    const auto root = Directory::open((root_ / "resctrl").string());
    const auto state = Directory::open((root_ / "state").string());
    const auto done = resctrl::admit(who, *root, *state, group);
    return done ? access() : done.error().text();
  }
  [[nodiscard]] std::string access() const {
    struct stat status{};
    EXPECT_EQ(::stat((root_ / "resctrl").c_str(), &status), 0);
    return fmt::format("{:04o} {}", status.st_mode & 07777, status.st_gid);
  }
  [[nodiscard]] static std::string with_own_group(const char* mode) {
    return fmt::format("{} {}", mode, ::getegid());
  }
  [[nodiscard]] bool recorded() const { return fs::exists(root_ / "state/access"); }
};

TEST_F(RootAccessTest, OthersNoMoreAndBack) {
  EXPECT_EQ(admit(Admit::group), with_own_group("0750"));
  EXPECT_EQ(admit(Admit::group), with_own_group("0750"));
  EXPECT_EQ(admit(Admit::all), with_own_group("0755"));
  EXPECT_EQ(admit(Admit::group), with_own_group("0750"));
  EXPECT_EQ(admit(Admit::before), with_own_group("0555"));
  EXPECT_FALSE(recorded());
  EXPECT_EQ(admit(Admit::before), with_own_group("0555"));
}

TEST_F(RootAccessTest, AUserGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a directory to any group";
  EXPECT_EQ(admit(Admit::group, 812), "0750 812");
  EXPECT_EQ(admit(Admit::group, 813), "0750 813");  // it was made again
  EXPECT_EQ(admit(Admit::all, 813), "0755 0");
  EXPECT_EQ(admit(Admit::group, 813), "0750 813");
  EXPECT_EQ(admit(Admit::before), "0555 0");
}

// The readers' group is not changed because nobody says which it is. That is an error: who calls
// tries again until it is known.
TEST_F(RootAccessTest, AGroupThatCannotBeLookedUp) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a directory to any group";
  const Error no_answer{"look up", "user group 'rdtd'", 0, "the user database does not answer"};
  EXPECT_EQ(admit(Admit::group, std::unexpected(no_answer)), no_answer.text());
  EXPECT_EQ(access(), with_own_group("0750"));
  EXPECT_EQ(admit(Admit::group, 812), "0750 812");
  EXPECT_EQ(admit(Admit::group, std::unexpected(no_answer)), no_answer.text());
  EXPECT_EQ(access(), "0750 812");
  EXPECT_EQ(admit(Admit::group), with_own_group("0750"));
  // Nobody needs to know it for these.
  EXPECT_EQ(admit(Admit::all, std::unexpected(no_answer)), with_own_group("0755"));
  EXPECT_EQ(admit(Admit::before, std::unexpected(no_answer)), with_own_group("0555"));
  set_mode(0700);
  EXPECT_EQ(admit(Admit::group, std::unexpected(no_answer)), with_own_group("0700"));
}

// What an administrator has closed is not opened, and not given to a group.
TEST_F(RootAccessTest, OthersCouldNotReadBefore) {
  for (const mode_t mode : {0700U, 0750U}) {
    set_mode(mode);
    EXPECT_EQ(admit(Admit::group, 812), with_own_group(fmt::format("{:04o}", mode).c_str()));
    EXPECT_FALSE(recorded());
  }
  set_mode(0500);
  EXPECT_EQ(admit(Admit::group, 812), with_own_group("0700"));
  EXPECT_EQ(admit(Admit::before), with_own_group("0500"));
}

// A record outlives a mount; a mode that somebody sets meanwhile is theirs.
TEST_F(RootAccessTest, AnotherModeMeanwhile) {
  EXPECT_EQ(admit(Admit::group), with_own_group("0750"));
  set_mode(0511);  // another mount
  EXPECT_EQ(admit(Admit::group), with_own_group("0750"));
  EXPECT_EQ(admit(Admit::before), with_own_group("0511"));
  EXPECT_EQ(admit(Admit::group), with_own_group("0750"));
  set_mode(0700);
  EXPECT_EQ(admit(Admit::before), with_own_group("0700"));
  EXPECT_FALSE(recorded());
  put("state/access", "of what?\n");
  EXPECT_EQ(admit(Admit::group), with_own_group("0700"));
}

// The mode shows that rdtd has closed the root, and only the kernel's own was open: else it would
// stay closed until the next boot.
TEST_F(RootAccessTest, ADamagedRecord) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a directory to any group";
  for (const char* text : {"", "\n", "of what?\n", "0555\n", "0555 0 0\n"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(admit(Admit::group, 812), "0750 812");
    put("state/access", text);
    EXPECT_EQ(admit(Admit::group, 812), "0750 812");
    EXPECT_EQ(admit(Admit::all), "0755 0");
    EXPECT_EQ(admit(Admit::group, 812), "0750 812");
    EXPECT_EQ(admit(Admit::before), "0555 0");
    EXPECT_FALSE(recorded());
  }
}

// Root makes monitoring groups without CAP_DAC_OVERRIDE too.
TEST_F(RootAccessTest, MonitoringGroupsOfTheRoot) {
  set_mode(0755);
  fs::create_directories(root_ / "resctrl/mon_groups");
  fs::permissions(root_ / "resctrl/mon_groups", fs::perms{0555});
  EXPECT_EQ(admit(Admit::group), with_own_group("0750"));
  EXPECT_EQ(fs::status(root_ / "resctrl/mon_groups").permissions(), fs::perms{0755});
}

// A daemon that was killed between the two changes has recorded what was there.
TEST_F(RootAccessTest, HalfDone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a directory to any group";
  put("state/access", "0555 0\n");
  set_mode(0750);
  EXPECT_EQ(admit(Admit::group, 812), "0750 812");
  EXPECT_EQ(admit(Admit::before), "0555 0");
}

// It is not taken for one that there is not: then nobody would know what was there.
TEST_F(RootAccessTest, ARecordThatCannotBeRead) {
  EXPECT_EQ(admit(Admit::group), with_own_group("0750"));
  fs::rename(root_ / "state/access", root_ / "state/kept");
  put("state/access/in the way", "");
  for (const Admit who : {Admit::before, Admit::all, Admit::group})
    EXPECT_EQ(admit(who), "cannot read " + (root_ / "state/access").string() + ": Is a directory");
  EXPECT_EQ(fs::status(root_ / "resctrl").permissions(), fs::perms{0750});
  fs::remove_all(root_ / "state/access");
  fs::rename(root_ / "state/kept", root_ / "state/access");
  EXPECT_EQ(admit(Admit::before), with_own_group("0555"));
}

TEST_F(RootAccessTest, NothingIsChangedWithoutARecord) {
  const auto root = Directory::open((root_ / "resctrl").string());
  const auto state = Directory::open((root_ / "state").string());
  fs::remove(root_ / "state");
  const auto done = resctrl::admit(Admit::group, *root, *state, std::nullopt);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text(),
            "cannot write " + (root_ / "state/access").string() + ": No such file or directory");
  EXPECT_EQ(fs::status(root_ / "resctrl").permissions(), fs::perms{0555});
}

}  // namespace
}  // namespace rdtd
