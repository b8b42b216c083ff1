#include <gtest/gtest.h>

#include <signal.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <unistd.h>

#include "files.hpp"
#include "rdtd/base/directory.hpp"

namespace rdtd {
namespace {

// A disk that becomes full in the middle of the text, played by a limit on the size of files.
TEST_F(Files, ReplaceKeepsTheOldFileIfAWriteFails) {
  put("out", "old\n");
  const auto directory = Directory::open(root_.string());
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{10, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto replaced = directory->replace("out", std::string(20, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  (void)::signal(SIGXFSZ, handler);
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().text(), "cannot write " + root_.string() + "/out: File too large");
  EXPECT_EQ(directory->read("out"), "old\n");
  EXPECT_FALSE(fs::exists(root_ / ".out.new"));
}

TEST_F(Files, FindsALineInAFileLargerThanARead) {
  const std::string long_line(200'000, 'x');
  put("lines", "first\n" + long_line + "\nwanted 1\nwanted 2\nwanted without an end");
  const auto directory = Directory::open(root_.string());
  const auto find = [&](std::string_view begin) {
    return directory->find_line("lines",
                                [begin](std::string_view line) { return line.starts_with(begin); });
  };
  EXPECT_EQ(find("first"), "first");
  EXPECT_EQ(find("xx"), long_line);
  EXPECT_EQ(find("wanted"), "wanted 1");
  EXPECT_EQ(find("wanted w"), "");
  EXPECT_EQ(directory->find_line("none", [](std::string_view) { return true; }).error().text(),
            "cannot open " + root_.string() + "/none: No such file or directory");
}

TEST_F(Files, ReplaceIsReadableByAll) {
  const auto directory = Directory::open(root_.string());
  const mode_t mask = ::umask(0077);
  ASSERT_TRUE(directory->replace("out", "text\n"));
  ::umask(mask);
  EXPECT_EQ(fs::status(root_ / "out").permissions(), fs::perms(0644));
  ASSERT_TRUE(directory->replace("out", ""));
  EXPECT_EQ(directory->read("out"), "");
}

// A file that the user names has the mode that the user's other new files have.
TEST_F(Files, ReplaceByUmask) {
  const auto directory = Directory::open(root_.string());
  const struct {
    mode_t mask, mode, expected;
  } rows[] = {{0077, 0666, 0600}, {0022, 0666, 0644}, {0, 0600, 0600}, {0277, 0666, 0400}};
  for (const auto& row : rows) {
    const mode_t mask = ::umask(row.mask);
    const auto done = directory->replace_by_umask("out", "text\n", row.mode);
    ::umask(mask);
    ASSERT_TRUE(done);
    EXPECT_EQ(fs::status(root_ / "out").permissions(), fs::perms(row.expected));
    EXPECT_EQ(directory->read("out"), "text\n");
  }
}

// What an administrator has given a file stays: a group that may read it, for instance.
TEST_F(Files, ReplaceDurablyKeepsWhoMayRead) {
  const auto directory = Directory::open(root_.string());
  const fs::path file = root_ / "out";
  ASSERT_TRUE(directory->replace_durably("out", "new\n"));
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0644));
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::chown(file.c_str(), 1, 2), 0);
  }
  fs::permissions(file, fs::perms(0660));
  ASSERT_TRUE(directory->replace_durably("out", "text\n"));
  EXPECT_EQ(directory->read("out"), "text\n");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0660));
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, root ? 1 : ::geteuid());
  EXPECT_EQ(status.st_gid, root ? 2 : ::getegid());
}

// Of two that write the same file, neither takes what the other one has half written; what is left
// of a crash, or a link in its place, goes.
TEST_F(Files, ReplaceLeavesTheFilesOfOthers) {
  const auto directory = Directory::open(root_.string());
  const fs::path temporary = root_ / ".out.new";
  put(".out.new", "half of");
  ASSERT_TRUE(directory->replace("out", "text\n"));
  EXPECT_EQ(directory->read("out"), "text\n");
  EXPECT_EQ(directory->read(".out.new"), "half of");
  fs::last_write_time(temporary, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  ASSERT_TRUE(directory->replace("out", "more\n"));
  EXPECT_FALSE(fs::exists(temporary));
  put("theirs", "theirs");
  fs::create_symlink("theirs", temporary);
  ASSERT_TRUE(directory->replace("out", "again\n"));
  EXPECT_EQ(directory->read("theirs"), "theirs");
  EXPECT_EQ(directory->list()->size(), 2U);
}

TEST_F(Files, ListIsSorted) {
  put("b/file", "");
  put("a", "");
  fs::create_symlink("b", root_ / "c");
  fs::create_symlink("nowhere", root_ / "d");
  const auto entries = Directory::open(root_.string())->list();
  ASSERT_TRUE(entries);
  std::string listed;
  for (const Directory::Entry& entry : *entries)
    listed += entry.name + (entry.is_directory ? "/ " : " ");
  EXPECT_EQ(listed, "a b/ c/ d ");
}

// What another user can put in the place of a directory that root has just made.
TEST_F(Files, WhatWasMadeIsNoOthers) {
  put("full/keep", "1");
  for (const char* name : {"made", "shared"}) fs::create_directory(root_ / name);
  fs::create_directory_symlink("made", root_ / "link");
  fs::permissions(root_ / "made", fs::perms::owner_all);
  fs::permissions(root_ / "shared", fs::perms::all);
  put("file", "");
  const auto directory = Directory::open(root_.string());
  EXPECT_TRUE(directory->open_made("made"));
  for (const char* name : {"full", "shared", "link", "file", "nowhere"}) {
    const auto made = directory->open_made(name);
    EXPECT_EQ(made ? "" : made.error().text(),
              "cannot make " + root_.string() + "/" + name +
                  ": another user has exchanged it: use a directory in which only you can rename "
                  "files");
  }
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown((root_ / "made").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(directory->open_made("made"));
}

}  // namespace
}  // namespace rdtd
