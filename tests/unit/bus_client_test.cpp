// The client of the service: what it reads, and why it reaches no daemon.
#include <gtest/gtest.h>

#include "bus_world.hpp"

namespace rdtd {
namespace {

using namespace test;

TEST_F(BusTest, ClientKnowsWhyItReachesNoDaemon) {
  const auto ask = [] {
    auto client = Client::connect();
    if (!client) return client.error();
    const auto properties = client->properties();
    return properties ? Client::Failure{.text = properties->state} : properties.error();
  };
  Client::Failure failure = ask();
  EXPECT_EQ(failure.kind, Client::Failure::Kind::no_bus);
  EXPECT_EQ(failure.text, "cannot connect to the system bus: No such file or directory");
  start_bus();
  failure = ask();
  EXPECT_EQ(failure.kind, Client::Failure::Kind::not_running);
  EXPECT_EQ(failure.text, "rdtd is not running: systemctl start rdtd");
  // A systemd that says that the unit is active.
  sd_bus* systemd = connect(stranger);
  const auto on_call = [](sd_bus_message* call, void*, sd_bus_error*) {
    return sd_bus_message_is_method_call(call, properties_interface, "Get") > 0
               ? sd_bus_reply_method_return(call, "v", "s", "active")
               : 0;
  };
  ASSERT_GE(sd_bus_add_filter(systemd, nullptr, on_call, nullptr), 0);
  ASSERT_GE(sd_bus_request_name(systemd, "org.freedesktop.systemd1", 0), 0);
  auto asked = std::async(std::launch::async, ask);
  wait_for([&] { return asked.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  failure = asked.get();
  EXPECT_EQ(failure.kind, Client::Failure::Kind::not_on_bus);
  EXPECT_EQ(failure.text,
            "rdtd is running, but it is not on the system bus: journalctl -u rdtd shows why");
  open_service();
  wait_for([&] { return !reports_.empty(); });
  asked = std::async(std::launch::async, ask);
  wait_for([&] { return asked.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  EXPECT_EQ(asked.get().text, "running");
}

// A daemon that hangs is not one that refuses, and a policy in force is not one that was refused.
TEST_F(BusTest, ClientTellsErrorsApart) {
  start_bus();
  sd_bus* daemon = connect(stranger);
  static std::string error_name;
  const auto on_call = [](sd_bus_message* call, void*, sd_bus_error*) {
    return sd_bus_message_is_method_call(call, bus_interface, nullptr) > 0
               ? sd_bus_reply_method_errorf(call, error_name.c_str(), "the daemon's text")
               : 0;
  };
  ASSERT_GE(sd_bus_add_filter(daemon, nullptr, on_call, nullptr), 0);
  ASSERT_GE(sd_bus_request_name(daemon, bus_name, 0), 0);
  using enum Client::Failure::Kind;
  const struct {
    std::string name;
    Client::Failure::Kind kind;
    std::string text;
  } rows[] = {
      {SD_BUS_ERROR_TIMEOUT, timed_out,
       "rdtd has not answered within 180 s, or nobody entered the password"},
      {"org.rdtd1.Error.Incomplete", incomplete, "the daemon's text"},
      {"org.rdtd1.Error.OutOfClosids", no_closid, "the daemon's text"},
      {"org.rdtd1.Error.NoSuchProcess", no_such_process, "the daemon's text"},
      {"org.rdtd1.Error.NotPermitted", not_permitted, "not permitted: the daemon's text"},
      {"org.rdtd1.Error.Busy", refused, "the daemon's text"},
  };
  for (const auto& row : rows) {
    error_name = row.name;
    auto asked = std::async(std::launch::async, [] { return Client::connect()->reload(); });
    wait_for([&] { return asked.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
    const auto answer = asked.get();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, row.kind) << row.name;
    EXPECT_EQ(answer.error().text, row.text);
  }
}

TEST_F(BusTest, ClientReadsEveryAnswer) {
  manager_.groups = std::make_shared<const GroupList>(std::vector<GroupStatus>{
      {.name = "web", .asked = {{"L3", 0, "4 ways"}}, .rules = {{.file = "a", .line = 1}}}});
  manager_.locks = std::vector<LockStatus>{{.name = "buffer",
                                            .resource = "L2",
                                            .domain = 1,
                                            .asked = "8 GiB",
                                            .mask = "3",
                                            .bytes = uint64_t{1} << 33,
                                            .device = "/dev/pseudo_lock/buffer",
                                            .owner = "alice",
                                            .user_group = "root",
                                            .mode = "0660",
                                            .state = "waiting",
                                            .reason = "process 812 (\x1b) has it open"}};
  start_all();
  start_polkit();
  auto done = std::async(std::launch::async, [] {
    auto client = Client::connect();
    const auto plan = client->plan();
    const auto explanation = client->explain(1);
    const auto groups = client->list_groups();
    const auto properties = client->properties();
    const auto rules = client->list_rules();
    const auto locks = client->list_locks();
    ASSERT_TRUE(plan && explanation && groups && properties && rules && locks);
    EXPECT_EQ(locks->at(0).device, "/dev/pseudo_lock/buffer");
    EXPECT_EQ(locks->at(0).bytes, uint64_t{1} << 33);
    EXPECT_EQ(locks->at(0).reason, "process 812 (?) has it open");
    EXPECT_EQ(rules->at(0).group, "a?");
    EXPECT_EQ(rules->at(0).processes, 2U);
    EXPECT_EQ(plan->summary, "1 step");
    EXPECT_EQ(plan->steps.at(0).text, "create  web");
    EXPECT_EQ(explanation->trials.at(0).place, "a.toml:1");
    EXPECT_EQ(explanation->threads.at(0).second, "web");
    EXPECT_EQ(groups->at(0).asked, (std::vector<Share>{{"L3", 0, "4 ways"}}));
    EXPECT_EQ(groups->at(0).tasks, 3U);
    EXPECT_EQ(properties->config_files, std::vector<std::string>{"/etc/rdtd/?.toml"});
    // A process that has ended is not one that cannot be explained now.
    EXPECT_EQ(client->explain(404).error().kind, Client::Failure::Kind::no_such_process);
    const auto lease = client->lease("one too many", "text");
    EXPECT_EQ(lease.error().kind, Client::Failure::Kind::no_closid);
    EXPECT_EQ(lease.error().text, "there are no more CLOSIDs");
    EXPECT_EQ(client->explain(404).error().text, "there is no process 404");
    EXPECT_EQ(client->explain(409).error().kind, Client::Failure::Kind::refused);
    EXPECT_TRUE(client->reload());
    EXPECT_EQ(client->adopt({"web", "batch"}), (std::vector<std::string>{"web", "batch"}));
    EXPECT_EQ(client->adopt({"nowhere"}).error().text, "the policy has no group");
    EXPECT_EQ(client->assign(1, "nowhere").error().text, "there is no group 'nowhere'");
  });
  wait_for([&] { return done.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  EXPECT_EQ(manager_.reloads, 1);
}

}  // namespace
}  // namespace rdtd
