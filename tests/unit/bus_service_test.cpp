// The service: whom it answers, what it asks polkit, and what it limits.
#include <gtest/gtest.h>
#include <poll.h>

#include <regex>
#include <sstream>

#include "bus_world.hpp"

namespace rdtd {
namespace {

using namespace test;

TEST(TaskCounts, RequestsInARowShareThem) {
  static uint64_t now = 5'000'000;
  FakeManager manager;
  TaskCounts counts(manager, [] { return now; });
  EXPECT_EQ(counts.in("web"), 3U);
  now += TaskCounts::least_age;
  EXPECT_EQ(counts.in("web"), 3U);
  EXPECT_EQ(manager.counted, 1);
  (void)counts.in("batch");
  EXPECT_EQ(manager.counted, 2);
  now++;
  (void)counts.in("web");
  EXPECT_EQ(manager.counted, 3);
}

TEST(TaskCounts, LongOnesAreSharedForLonger) {
  static uint64_t now = 5'000'000;
  FakeManager manager;
  TaskCounts counts(manager, [] { return now += 50'000; });  // what a count takes
  for (const char* group : {"web", "batch", "web"}) (void)counts.in(group);
  EXPECT_EQ(manager.counted, 2);
  for (int i = 0; i < 15; i++) (void)counts.in("web");
  EXPECT_EQ(manager.counted, 2);
  for (int i = 0; i < 5; i++) (void)counts.in("web");
  EXPECT_EQ(manager.counted, 3);
}

TEST_F(BusTest, SurvivesTheLossOfTheBus) {
  open_service();
  wait_for([&] { return reports_.size() == 1; });
  const std::vector<std::string> expected = {
      "cannot connect to the system bus: No such file or directory", "on",
      "cannot stay on the system bus: Connection reset by peer", "on"};
  start_bus();
  wait_for([&] { return reports_.size() == 2; });
  stop_bus();
  wait_for([&] { return reports_.size() == 3; });
  service_->emit_reloaded(true);
  service_->emit_assigned(1, "web", "");
  start_bus();
  wait_for([&] { return reports_.size() == 4; });
  EXPECT_EQ(reports_, expected);
  EXPECT_EQ(property(connect(stranger), "State"), "running");
}

TEST_F(BusTest, WaitsForTheNameIfAnotherProcessHasIt) {
  start_bus();
  sd_bus* other = connect(stranger);
  ASSERT_GE(sd_bus_request_name(other, bus_name, 0), 0);
  open_service();
  wait_for([&] { return reports_.size() == 1; });
  EXPECT_EQ(reports_[0], "cannot take the name org.rdtd1 on the system bus: File exists");
  disconnect(other);
  wait_for([&] { return reports_.size() == 2; });
  EXPECT_EQ(reports_[1], "on");
}

// Only logind says that the machine wakes up, and only the end of a suspend counts.
TEST_F(BusTest, NoticesTheEndOfASuspend) {
  start_all();
  const auto announce = [](sd_bus* sender, bool begins) {
    EXPECT_GE(
        sd_bus_emit_signal(sender, "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
                           "PrepareForSleep", "b", static_cast<int>(begins)),
        0);
  };
  sd_bus* other = connect(stranger);
  announce(other, false);
  sd_bus_message* made = nullptr;
  ASSERT_GE(sd_bus_message_new_signal(other, &made, "/org/freedesktop/login1",
                                      "org.freedesktop.login1.Manager", "PrepareForSleep"),
            0);
  const Message addressed(made);
  ASSERT_GE(sd_bus_message_append(made, "b", 0), 0);
  ASSERT_GE(sd_bus_send_to(other, made, bus_name, nullptr), 0);
  ASSERT_GE(sd_bus_flush(other), 0);
  sd_bus* logind = connect(::geteuid());
  ASSERT_GE(sd_bus_request_name(logind, "org.freedesktop.login1", 0), 0);
  announce(logind, true);
  announce(logind, false);
  wait_for([&] { return manager_.resumes > 0; });
  EXPECT_EQ(property(connect(stranger), "State"), "running");
  EXPECT_EQ(manager_.resumes, 1);
}

TEST_F(BusTest, IgnoresReadsThatExpectNoReply) {
  start_all();
  sd_bus* client = connect(0);
  for (int i = 0; i < 1000; i++)
    for (const char* method : {"Plan", "Check", "ListGroups"}) {
      const Message request = new_call(client, bus_interface, method);
      ASSERT_GE(sd_bus_message_set_expect_reply(request.get(), 0), 0);
      ASSERT_GE(sd_bus_send(client, request.get(), nullptr), 0);
    }
  const Message request = new_call(client, bus_interface, "Reload");
  ASSERT_GE(sd_bus_message_set_expect_reply(request.get(), 0), 0);
  start_polkit();
  ASSERT_GE(sd_bus_send(client, request.get(), nullptr), 0);
  wait_for([&] { return manager_.reloads == 1; });
  EXPECT_EQ(manager_.plans + manager_.checks + manager_.counted, 0);
}

// sd-bus would look up each prefix of the path.
TEST_F(BusTest, RefusesPathsThatNoObjectHas) {
  start_all();
  sd_bus* client = connect(stranger);
  std::string path;
  while (path.size() < 65'000) path += "/a";
  sd_bus_message* made = nullptr;
  ASSERT_GE(sd_bus_message_new_method_call(client, &made, bus_name, path.c_str(),
                                           properties_interface, "GetAll"),
            0);
  const Message request(made);
  std::vector<Reply> replies;
  send(client, request, replies);
  wait_for([&] { return !replies.empty(); });
  EXPECT_EQ(replies[0].error(), "UnknownObject");
  EXPECT_EQ(replies[0].error_text(), "there is no object with such a path");
}

// The bus is stopped between the call and its answer to the question of who sent it.
class StoppedBusTest : public BusTest {
 protected:
  // Sends the calls, and lets the service take them from a bus that does nothing more.
  void send_and_stop(sd_bus* client, int calls, std::vector<Reply>& replies) {
    for (int i = 0; i < calls; i++)
      send(client, new_call(client, bus_interface, "Reload"), replies);
    // The bus has passed them on when it answers what was sent later.
    ASSERT_GE(sd_bus_call_method(client, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                 "org.freedesktop.DBus", "GetId", nullptr, nullptr, nullptr),
              0);
    ASSERT_EQ(::kill(bus_pid_, SIGSTOP), 0);
    while (sd_event_run(event_, 0) > 0) continue;
    ASSERT_EQ(::kill(bus_pid_, SIGCONT), 0);
  }
};

TEST_F(StoppedBusTest, TheServiceDoesNotWaitForIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may reload without polkit";
  start_all();
  std::vector<Reply> replies;
  send_and_stop(connect(0), 1, replies);
  EXPECT_EQ(manager_.reloads, 0);
  wait_for([&] { return !replies.empty(); });
  EXPECT_EQ(replies[0].error_text(), "");
  EXPECT_EQ(manager_.reloads, 1);
}

TEST_F(StoppedBusTest, FewCallsOfAnUnknownSenderWait) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may reload without polkit";
  start_all();
  std::vector<Reply> replies;
  send_and_stop(connect(0), 10, replies);
  wait_for([&] { return replies.size() == 10; });
  for (size_t i = 0; i < 2; i++) {
    EXPECT_EQ(replies[i].error(), "Busy");
    EXPECT_EQ(replies[i].error_text(),
              "too many requests wait until the bus says who sent them; try again");
  }
  EXPECT_EQ(manager_.reloads, 8);
}

// A long path is refused before the call is kept.
TEST_F(StoppedBusTest, NoCallWithALongPathWaits) {
  start_all();
  sd_bus* client = connect(stranger);
  sd_bus_message* made = nullptr;
  const std::string path = "/" + std::string(65'000, 'a');
  ASSERT_GE(sd_bus_message_new_method_call(client, &made, bus_name, path.c_str(), bus_interface,
                                           "Reload"),
            0);
  const Message request(made);
  std::vector<Reply> replies;
  send(client, request, replies);
  send_and_stop(client, 8, replies);
  wait_for([&] { return replies.size() == 9; });
  EXPECT_EQ(replies[0].error(), "UnknownObject");
  // It has taken no place.
  for (size_t i = 1; i < 9; i++)
    EXPECT_NE(replies[i].error_text(),
              "too many requests wait until the bus says who sent them; try again");
}

TEST_F(StoppedBusTest, AssignmentsDoNotFillTheMemory) {
  start_all();
  sd_bus* client = connect(::geteuid());
  size_t received = 0;
  const auto on_assigned = [](sd_bus_message*, void* count, sd_bus_error*) {
    ++*static_cast<size_t*>(count);
    return 0;
  };
  ASSERT_GE(sd_bus_match_signal(client, nullptr, bus_name, bus_path, bus_interface, "TaskAssigned",
                                on_assigned, &received),
            0);
  manager_.process_owner = ::geteuid();
  EXPECT_EQ(call(client, "Subscribe").error(), "");
  ASSERT_EQ(::kill(bus_pid_, SIGSTOP), 0);
  const std::string group(1000, 'a');
  for (pid_t pid = 1; pid <= 20'000; pid++) service_->emit_assigned(pid, group, "a.toml:1");
  ASSERT_EQ(::kill(bus_pid_, SIGCONT), 0);
  EXPECT_EQ(call(client, "Unsubscribe").error(), "");
  EXPECT_GT(received, 0U);
  EXPECT_LT(received, 20'000U);
}

// A second thread wakes the bus up if the service waits for it.
TEST_F(StoppedBusTest, TheServiceEndsWithoutIt) {
  start_all();
  ASSERT_EQ(::kill(bus_pid_, SIGSTOP), 0);
  for (int i = 0; i < 60; i++) service_->emit_drift(std::string(100'000, 'a'));
  std::promise<void> ended;
  auto in_time = std::async(std::launch::async, [this, end = ended.get_future()] {
    const bool out = end.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    (void)::kill(bus_pid_, SIGCONT);
    return out;
  });
  service_.reset();
  ended.set_value();
  EXPECT_TRUE(in_time.get());
}

TEST_F(BusTest, AsksPolkitWithDetails) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  start_polkit();
  sd_bus* client = connect(stranger);
  EXPECT_EQ(call(client, "Assign", uint32_t{12}, std::string("web")).error(), "");
  EXPECT_EQ(manager_.assigns, 1);
  EXPECT_EQ(call(client, "Explain", uint32_t{12}).read<std::string>(), "redis");
  EXPECT_EQ(call(client, "Check").read<std::string>(), "public");
  EXPECT_EQ(call(client, "Plan").error(), "");
  const std::vector<std::string> groups = {"web", "batch"};
  EXPECT_EQ(call(client, "Adopt", groups).read<std::vector<std::string>>(), groups);
  const std::vector<Authorization> expected = {
      {action_assign, {{"pid", "12"}, {"uid", "7"}, {"group", "web"}}},
      {action_inspect, {{"pid", "12"}}},
      {action_inspect, {}},
      {action_inspect, {}},
      {action_manage, {{"groups", "web batch"}}}};
  EXPECT_EQ(asked_, expected);
  // A request that cannot succeed needs no authorization.
  EXPECT_EQ(call(client, "Assign", uint32_t{12}, std::string("nowhere")).error(), "NoSuchGroup");
  EXPECT_EQ(call(client, "Explain", uint32_t{404}).error_text(), "there is no process 404");
  EXPECT_EQ(asked_.size(), 5U);
  authorized_ = false;
  EXPECT_EQ(call(client, "Adopt", groups).error_text(), "polkit does not authorize it");
  EXPECT_EQ(manager_.adopts, 1);
  for (const char* method : {"Check", "Plan", "Reload", "Reset"}) {
    const Reply reply = call(client, method);
    EXPECT_EQ(reply.error(), "NotPermitted") << method;
    EXPECT_EQ(reply.error_text(), "polkit does not authorize it") << method;
  }
  sd_bus* root = connect(0);
  EXPECT_EQ(call(root, "Check").read<std::string>(), "full");
  EXPECT_EQ(asked_.size(), 10U);
}

TEST_F(BusTest, OwnProcessesAreExplainedWithoutAuthorization) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  sd_bus* client = connect(stranger);
  const auto reason = [&](sd_bus* who) {
    const Reply reply = call(who, "Explain", uint32_t{12});
    if (!reply.error().empty()) return reply.error();
    Explanation out;
    EXPECT_GE(wire::read(reply.message.get(), out.name), 0);
    EXPECT_GE(wire::read(reply.message.get(), out.trials), 0);
    return out.trials.at(0).reason;
  };
  EXPECT_EQ(reason(client), "NotPermitted");
  manager_.process_owner = stranger;
  EXPECT_EQ(reason(client), "");
  start_polkit();
  EXPECT_EQ(reason(client), "pattern");
  authorized_ = false;
  EXPECT_EQ(reason(client), "");
  EXPECT_EQ(reason(connect(0)), "pattern");
  // Polkit does not answer: what need not wait for it does not.
  authorized_.reset();
  std::vector<Reply> replies;
  for (int i = 0; i < 4; i++) send(client, new_call(client, bus_interface, "Reload"), replies);
  EXPECT_EQ(reason(client), "");
}

TEST_F(BusTest, LeaseGivesADescriptor) {
  start_all();
  start_polkit();
  sd_bus* client = connect(stranger);
  const Reply reply = call(client, "Lease", std::string("bench"), std::string("[group.b]"));
  int fd = -1;
  ASSERT_GT(sd_bus_message_read_basic(reply.message.get(), 'h', &fd), 0) << reply.error_text();
  pollfd poll{fd, 0, 0};
  EXPECT_EQ(::poll(&poll, 1, 0), 0);
  manager_.leases.clear();
  EXPECT_EQ(::poll(&poll, 1, 0), 1);
  EXPECT_EQ(poll.revents, POLLHUP);
  const std::vector<Authorization> expected = {{action_manage, {{"lease", "bench"}}}};
  EXPECT_EQ(asked_, ::geteuid() == 0 ? expected : std::vector<Authorization>{});
  EXPECT_EQ(call(client, "Lease", std::string("bench"), std::string()).error_text(),
            ::geteuid() == 0 ? "public" : "full");
  using Row = std::tuple<std::string, uint32_t, uint64_t, std::vector<std::string>, std::string>;
  const std::vector<Row> leases = {{"bench", 7, 42, {"a", "b"}, ::geteuid() == 0 ? "" : "text"}};
  EXPECT_EQ(call(client, "ListLeases").read<std::vector<Row>>(), leases);
  std::vector<std::string> ended;
  const auto on_ended = [](sd_bus_message* signal, void* to, sd_bus_error*) {
    auto& texts = *static_cast<std::vector<std::string>*>(to);
    for (int i = 0; i < 2; i++) EXPECT_GE(wire::read(signal, texts.emplace_back()), 0);
    return 0;
  };
  ASSERT_GE(sd_bus_match_signal(client, nullptr, nullptr, bus_path, bus_interface, "LeaseEnded",
                                on_ended, &ended),
            0);
  service_->emit_lease_ended("bench", "why");
  wait_for([&] { return !ended.empty(); });
  EXPECT_EQ(ended, (std::vector<std::string>{"bench", "why"}));
}

TEST_F(BusTest, UpdatesALease) {
  start_all();
  start_polkit();
  sd_bus* client = connect(stranger);
  ASSERT_EQ(call(client, "Lease", std::string("bench"), std::string("[group.b]")).error(), "");
  asked_.clear();
  EXPECT_EQ(call(client, "UpdateLease", std::string("bench"), std::string("[group.c]")).error(),
            "");
  EXPECT_EQ(manager_.updates, std::vector<std::string>{"[group.c]"});
  const std::vector<Authorization> expected = {{action_manage, {{"lease", "bench"}}}};
  EXPECT_EQ(asked_, ::geteuid() == 0 ? expected : std::vector<Authorization>{});
  EXPECT_EQ(call(client, "UpdateLease", std::string("other"), std::string("")).error(),
            "NoSuchLease");
  EXPECT_EQ(call(client, "UpdateLease", std::string(256, 'a'), std::string("")).error_text(),
            "the name of a lease has at most 255 bytes");
}

TEST_F(BusTest, WithoutPolkitOnlyRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  EXPECT_EQ(call(connect(0), "Reload").error(), "");
  const Reply reply = call(connect(stranger), "Reload");
  EXPECT_EQ(reply.error(), "NotPermitted");
  EXPECT_EQ(reply.error_text(), "polkit does not answer; only root may do this");
}

TEST_F(BusTest, SaysWhyPolkitDoesNotPermit) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  start_polkit();
  sd_bus* client = connect(stranger);
  authorized_ = false;
  challenge_ = true;
  EXPECT_EQ(call(client, "Reload").error_text(),
            "polkit requires a password, and there is no agent to ask for it: do it as root");
  malformed_ = true;
  const Reply reply = call(client, "Reload");
  EXPECT_EQ(reply.error(), "NotPermitted");
  EXPECT_EQ(reply.error_text(), "polkit's answer is malformed; only root may do this");
  EXPECT_EQ(manager_.reloads, 0);
}

TEST_F(BusTest, NamesTheLevelsOfTheLog) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may set the level";
  start_all();
  const auto set_level = [&](sd_bus* client) {
    sd_bus_message* made = nullptr;
    EXPECT_GE(
        sd_bus_message_new_method_call(client, &made, bus_name, "/org/freedesktop/LogControl1",
                                       properties_interface, "Set"),
        0);
    const Message request(made);
    EXPECT_GE(
        sd_bus_message_append(made, "ssv", "org.freedesktop.LogControl1", "LogLevel", "s", "loud"),
        0);
    std::vector<Reply> replies;
    send(client, request, replies);
    wait_for([&] { return !replies.empty(); });
    return replies.front().error() + ": " + replies.front().error_text();
  };
  EXPECT_EQ(set_level(connect(0)),
            "InvalidArgs: there is no log level 'loud'; the levels are debug, info, notice, "
            "warning, err, crit, alert and emerg");
  EXPECT_EQ(set_level(connect(stranger)), "AccessDenied: only root may set the level of the log");
}

TEST_F(BusTest, AssignmentsGoToRootAndTheOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  std::map<std::string, std::vector<uint32_t>> received;
  const auto listen = [&](const std::string& name, uid_t uid) {
    sd_bus* client = connect(uid);
    const auto on_assigned = [](sd_bus_message* signal, void* to, sd_bus_error*) {
      uint32_t pid = 0;
      (void)wire::read(signal, pid);
      static_cast<std::vector<uint32_t>*>(to)->push_back(pid);
      return 0;
    };
    EXPECT_GE(sd_bus_match_signal(client, nullptr, bus_name, bus_path, bus_interface,
                                  "TaskAssigned", on_assigned, &received[name]),
              0);
    return client;
  };
  sd_bus* root = listen("root", 0);
  sd_bus* owner = listen("owner", stranger);
  sd_bus* other = listen("other", neighbor);
  listen("silent", 0);
  for (sd_bus* client : {root, owner, other}) EXPECT_EQ(call(client, "Subscribe").error(), "");
  EXPECT_TRUE(manager_.watched);
  manager_.process_owner = stranger;
  service_->emit_assigned(12, "web", "a.toml:1");
  manager_.process_owner = 0;
  service_->emit_assigned(13, "web", "a.toml:1");
  wait_for([&] { return received["root"].size() == 2 && received["owner"].size() == 1; });
  for (sd_bus* client : {root, owner, other}) EXPECT_EQ(call(client, "Unsubscribe").error(), "");
  const std::map<std::string, std::vector<uint32_t>> expected = {
      {"root", {12, 13}}, {"owner", {12}}, {"other", {}}, {"silent", {}}};
  EXPECT_EQ(received, expected);
  EXPECT_FALSE(manager_.watched);
  EXPECT_EQ(call(owner, "Subscribe").error(), "");
  disconnect(owner);
  wait_for([&] { return !manager_.watched; });
}

// It costs time to learn whose a process is, of which another user must not be the victim.
TEST_F(BusTest, WhoSubscribesPaysForTheOwners) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  const auto assign = [&](int count) {
    manager_.owners_asked = 0;
    for (int i = 0; i < count; i++) service_->emit_assigned(12, "web", "a.toml:1");
    return manager_.owners_asked;
  };
  manager_.process_owner = neighbor;
  manager_.owner_takes = 10'000;
  EXPECT_EQ(call(connect(0), "Subscribe").error(), "");
  EXPECT_EQ(assign(10), 0);
  EXPECT_EQ(call(connect(stranger), "Subscribe").error(), "");
  EXPECT_EQ(assign(10), 0);
  EXPECT_EQ(call(connect(neighbor), "Subscribe").error(), "");
  EXPECT_EQ(assign(10), 10);
  EXPECT_LT(assign(200), 100);
  manager_.process_owner = stranger;
  EXPECT_EQ(assign(10), 10);
}

}  // namespace
}  // namespace rdtd
