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
  for (const auto kind : {invalid_policy, no_such_group, no_such_process, not_supported,
                          out_of_closids, busy, kernel_rejected, not_permitted})
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

TEST(Methods, CostAndEffect) {
  struct Row {
    const char* member;
    unsigned cost;
    bool effect;
  };
  for (const Row& row : {
           Row{"Check", 10, false},
           Row{"Plan", 10, false},
           Row{"ListGroups", 10, false},
           Row{"ListRules", 10, false},
           Row{"ListLocks", 10, false},
           Row{"GetCounters", 10, false},
           Row{"GetManagedObjects", 10, false},
           Row{"Explain", 5, false},
           Row{"GetAll", 2, false},
           Row{"Get", 1, false},
           Row{"Ping", 1, false},
           Row{"Unheard", 1, false},
           Row{"Reload", 10, true},
           Row{"Reset", 10, true},
           Row{"Adopt", 10, true},
           Row{"Lease", 10, true},
           Row{"ListLeases", 10, false},
           Row{"Assign", 5, true},
           Row{"Subscribe", 1, true},
           Row{"Unsubscribe", 1, true},
           Row{"Set", 1, true},
       }) {
    EXPECT_EQ(cost_of(row.member), row.cost) << row.member;
    EXPECT_EQ(has_effect(row.member), row.effect) << row.member;
  }
}

constexpr uint64_t one_second = 1'000'000;

TEST(CallBudget, BurstThenRate) {
  CallBudget budget;
  uint64_t now = 7 * one_second;
  const auto spend_all = [&] {
    unsigned calls = 0;
    while (budget.spend(1000, 10, now)) calls++;
    return calls;
  };
  EXPECT_EQ(spend_all(), 50U);  // the burst
  EXPECT_EQ(spend_all(), 0U);
  now += one_second;
  EXPECT_EQ(spend_all(), 10U);
  now += one_second / 20;
  EXPECT_FALSE(budget.spend(1000, 10, now));
  EXPECT_TRUE(budget.spend(1000, 5, now));
  now += 3600 * one_second;
  EXPECT_EQ(spend_all(), 50U);
}

TEST(CallBudget, OneUserDoesNotSpendThatOfAnother) {
  CallBudget budget;
  for (int i = 0; i < 20'000; i++) (void)budget.spend(1000, 10, one_second);
  EXPECT_TRUE(budget.spend(1001, 10, one_second));
}

TEST(CallBudget, ForgetsIdleUsers) {
  CallBudget budget;
  for (uid_t uid = 0; uid < 10'000; uid++) EXPECT_TRUE(budget.spend(uid, 1, uid * one_second));
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
