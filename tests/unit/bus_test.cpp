// The bus module without a bus: the values that it sends, and the limits that it sets.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <set>

#include "fields.hpp"
#include "limits.hpp"
#include "names.hpp"
#include "wire.hpp"

namespace rdtd {
namespace {

TEST(Wire, CleanTextIsUtf8WithoutControlCharacters) {
  struct Row {
    const char* text;
    const char* clean;
  };
  for (const Row& row : {
           Row{"", ""},
           Row{"plain", "plain"},
           Row{"größe", "größe"},
           Row{"two\nlines\n", "two\nlines\n"},
           Row{"a\tb", "a b"},
           Row{"\033[2J", "?[2J"},
           Row{"carriage\rreturn", "carriage?return"},
           Row{"latin1 \xe9", "latin1 ?"},
           Row{"surrogate \xed\xa0\x80", "surrogate ???"},
           Row{"overlong \xc0\xaf", "overlong ??"},
       })
    EXPECT_EQ(wire::clean(row.text), row.clean);
}

TEST(Wire, Signatures) {
  EXPECT_STREQ(wire::signature<std::string>(), "s");
  EXPECT_STREQ(wire::signature<bool>(), "b");
  EXPECT_STREQ(wire::signature<std::vector<std::string>>(), "as");
  EXPECT_STREQ(wire::signature<std::vector<PlannedStep>>(), "a(sss)");
  EXPECT_STREQ(wire::signature<std::vector<Explanation::Trial>>(), "a(ssbs)");
  EXPECT_STREQ(wire::signature<decltype(Explanation::threads)>(), "a(us)");
  EXPECT_STREQ(wire::signature<std::vector<AssignmentCount>>(), "a(sst)");
  EXPECT_STREQ(wire::signature<std::vector<Client::GroupRow>>(), "a(sa(sus)a(sus)ssuu)");
  EXPECT_STREQ((wire::signature<std::map<std::string, uint64_t>>()), "a{st}");
}

// A connection with nobody at the other end: messages can be made, but not delivered.
class WireMessage : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()), 0);
    ASSERT_GE(sd_bus_new(&bus_), 0);
    ASSERT_GE(sd_bus_set_fd(bus_, ends_[0], ends_[0]), 0);
    ASSERT_GE(sd_bus_start(bus_), 0);
    sd_bus_message* made = nullptr;
    ASSERT_GE(sd_bus_message_new_signal(bus_, &made, "/", "a.b", "C"), 0);
    message_.reset(made);
  }
  void TearDown() override {
    message_.reset();
    sd_bus_close_unref(bus_);
    ::close(ends_[1]);
  }

  template <class T>
  T round_trip(const T& value) {
    EXPECT_GE(wire::append(message_.get(), value), 0);
    EXPECT_GE(sd_bus_message_seal(message_.get(), 1, 0), 0);
    T out{};
    EXPECT_GE(wire::read(message_.get(), out), 0);
    EXPECT_GT(sd_bus_message_at_end(message_.get(), 1), 0);
    return out;
  }

  std::array<int, 2> ends_{};
  sd_bus* bus_ = nullptr;
  Message message_;
};

TEST_F(WireMessage, ListOfGroups) {
  using Rows = std::vector<Client::GroupRow>;
  const Rows sent = {
      {"web", {{"L3", 0, "4 ways"}, {"L3", 1, "2 ways"}}, {}, "shareable", "0-3", 2, 7},
      {"default", {}, {{"MB", 4294967295, "100"}}, "exclusive", "", 0, 4294967295}};
  const Rows got = round_trip(sent);
  ASSERT_EQ(got.size(), 2U);
  for (size_t i = 0; i < 2; i++) {
    EXPECT_EQ(got[i].name, sent[i].name);
    EXPECT_EQ(got[i].asked, sent[i].asked);
    EXPECT_EQ(got[i].granted, sent[i].granted);
    EXPECT_EQ(got[i].mode, sent[i].mode);
    EXPECT_EQ(got[i].cpus, sent[i].cpus);
    EXPECT_EQ(got[i].rules, sent[i].rules);
    EXPECT_EQ(got[i].tasks, sent[i].tasks);
  }
}

TEST_F(WireMessage, MapOfLists) {
  using Value = std::map<std::string, std::vector<uint32_t>>;
  const Value sent = {{"none", {}}, {"some", {1, 2}}};
  EXPECT_EQ(round_trip(sent), sent);
}

TEST_F(WireMessage, NoMoreThanThatMany) {
  ASSERT_GE(wire::append(message_.get(), std::vector<uint32_t>{1, 2, 3}), 0);
  ASSERT_GE(sd_bus_message_seal(message_.get(), 1, 0), 0);
  std::vector<uint32_t> list;
  EXPECT_EQ(wire::read_list(message_.get(), list, 2), -E2BIG);
  EXPECT_EQ(list, (std::vector<uint32_t>{1, 2}));
}

TEST_F(WireMessage, SizeOfTheValues) {
  sd_bus_message* message = message_.get();
  ASSERT_GE(sd_bus_message_append(message, "susav(bd)a{sy}", "text", 1, "", 2, "s", "ab", "as", 1,
                                  "c", 1, 2.0, 1, "d", 3),
            0);
  ASSERT_GE(sd_bus_message_seal(message, 1, 0), 0);
  // Three values; two variants in a list, one with a text, one with a list; two in a structure; and
  // an entry of two in a map.
  const size_t size = 3 * 8 + 4 + 3 * 8 + 2 * 8 + 2 + 8 + 1 + 3 * 8 + 4 * 8 + 1;
  EXPECT_TRUE(wire::fits(message, size));
  EXPECT_FALSE(wire::fits(message, size - 1));
  EXPECT_FALSE(wire::fits(message, 0));
  std::string text;
  EXPECT_GE(wire::read(message, text), 0);
  EXPECT_EQ(text, "text");
}

TEST_F(WireMessage, EmptyList) {
  EXPECT_EQ(round_trip(std::vector<Share>{}), std::vector<Share>{});
}

// A group that another tool named, or a policy file, may have any bytes in its name.
TEST_F(WireMessage, TextThatIsNotUtf8) {
  const std::vector<std::string> sent = {"\xff\xfe", "a\nb"}, expected = {"??", "a\nb"};
  EXPECT_EQ(round_trip(sent), expected);
}

TEST_F(WireMessage, AnotherTypeIsAnError) {
  ASSERT_GE(wire::append(message_.get(), std::string("text")), 0);
  ASSERT_GE(sd_bus_message_seal(message_.get(), 1, 0), 0);
  uint32_t number = 0;
  EXPECT_LT(wire::read(message_.get(), number), 0);
  std::vector<std::string> list;
  EXPECT_LT(wire::read(message_.get(), list), 0);
}

TEST_F(WireMessage, NothingLeftIsAnError) {
  ASSERT_GE(sd_bus_message_seal(message_.get(), 1, 0), 0);
  std::string text;
  EXPECT_LT(wire::read(message_.get(), text), 0);
}

TEST(Names, EveryRefusalHasItsOwn) {
  using enum Refusal::Kind;
  std::set<std::string> names;
  for (const auto kind :
       {invalid_policy, no_such_group, no_such_process, not_supported, out_of_closids, busy,
        kernel_rejected, not_permitted, no_such_lease, incomplete})
    names.insert(error_name(kind));
  EXPECT_EQ(names.size(), error_names.size());
  EXPECT_EQ(error_name(invalid_policy), "org.rdtd1.Error.InvalidPolicy");
  EXPECT_EQ(error_name(not_permitted), "org.rdtd1.Error.NotPermitted");
}

TEST(Refusal, OthersThanRootGetThePublicText) {
  const Refusal plain{.text = "a"};
  EXPECT_EQ(plain.text_for(true), "a");
  EXPECT_EQ(plain.text_for(false), "a");
  const Refusal quoting{.text = "a\n  1 | secret", .public_text = "a"};
  EXPECT_EQ(quoting.text_for(true), "a\n  1 | secret");
  EXPECT_EQ(quoting.text_for(false), "a");
}

TEST(Methods, Effect) {
  for (const char* member :
       {"Reload", "Reset", "Adopt", "Lease", "Assign", "Subscribe", "Unsubscribe", "Set"})
    EXPECT_TRUE(has_effect(member)) << member;
  for (const char* member : {"Check", "Plan", "Explain", "ListGroups", "GetAll", "Get", "Ping", ""})
    EXPECT_FALSE(has_effect(member)) << member;
}

TEST(Paths, NoneIsLongerOrDeeperThanThatOfAGroup) {
  const std::string longest = std::string(group_path) + "/";
  for (const std::string& path :
       {std::string("/"), std::string("/org/rdtd1"), std::string("/org/freedesktop/LogControl1"),
        longest + std::string(3 * 255, '_')})
    EXPECT_TRUE(is_possible_path(path)) << path;
  for (const std::string& path :
       {std::string("/a/a/a/a/a"), longest + std::string(3 * 255 + 1, '_')})
    EXPECT_FALSE(is_possible_path(path)) << path;
}

constexpr uint64_t one_second = 1'000'000;

TEST(CallBudget, BurstThenRate) {
  CallBudget budget;
  uint64_t now = 7 * one_second;
  const auto spend_all = [&](uint64_t took) {
    unsigned calls = 0;
    for (; budget.allows(1000, now); calls++) budget.charge(1000, took, now);
    return calls;
  };
  EXPECT_EQ(spend_all(10'000), 50U);  // the burst
  EXPECT_EQ(spend_all(10'000), 0U);
  now += one_second;
  EXPECT_EQ(spend_all(10'000), 10U);
  now += one_second / 20;
  EXPECT_EQ(spend_all(5'000), 1U);
  now += 3600 * one_second;
  EXPECT_EQ(spend_all(0), 500U);  // no call is free
}

TEST(CallBudget, ALongCallIsPaidForAfterwards) {
  CallBudget budget;
  budget.charge(1000, 700'000, one_second);
  EXPECT_FALSE(budget.allows(1000, 2 * one_second));
  EXPECT_TRUE(budget.allows(1000, 3 * one_second + 1));
  budget.charge(1000, UINT64_MAX, 10 * one_second);
  EXPECT_FALSE(budget.allows(1000, 15 * one_second));
  EXPECT_TRUE(budget.allows(1000, 15 * one_second + 1));
}

TEST(CallBudget, OneUserDoesNotSpendThatOfAnother) {
  CallBudget budget;
  for (int i = 0; i < 20'000; i++) budget.charge(1000, 10'000, one_second);
  EXPECT_FALSE(budget.allows(1000, one_second));
  EXPECT_TRUE(budget.allows(1001, one_second));
}

TEST(CallBudget, ForgetsIdleUsers) {
  CallBudget budget;
  for (uid_t uid = 0; uid < 10'000; uid++) budget.charge(uid, 1, uid * one_second);
  EXPECT_LE(budget.users(), 256U);
}

TEST(GroupList, FindsByName) {
  const GroupList groups({{.name = "web", .mode = "exclusive"}, {.name = "default"}});
  ASSERT_NE(groups.find("web"), nullptr);
  EXPECT_EQ(groups.find("web")->mode, "exclusive");
  EXPECT_EQ(groups.find("default"), &groups.all()[1]);
  EXPECT_EQ(groups.find("nowhere"), nullptr);
  EXPECT_EQ(GroupList().find(""), nullptr);
}

}  // namespace
}  // namespace rdtd
