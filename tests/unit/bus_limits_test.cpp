// How much one user may ask of the service: calls, their size, and what waits.
#include <gtest/gtest.h>
#include <poll.h>
#include <pwd.h>

#include <regex>
#include <sstream>

#include "bus_world.hpp"
#include "rdtd/base/quota.hpp"

namespace rdtd {
namespace {

using namespace test;

// Linear in groups and rules, and each group counted once.
TEST_F(BusTest, ManagedObjectsOfALargePolicy) {
  std::vector<GroupStatus> groups;
  for (int i = 0; i < 64; i++) {
    GroupStatus& group = groups.emplace_back(GroupStatus{.name = "g" + std::to_string(i)});
    for (unsigned rule = 0; rule < 160; rule++)
      group.rules.push_back({.file = "/etc/rdtd/10-policy.toml", .line = rule});
  }
  groups.push_back({.name = "\xff\n"});
  manager_.groups = std::make_shared<const GroupList>(std::move(groups));
  start_all();
  const Reply reply =
      call_of(connect(stranger), "org.freedesktop.DBus.ObjectManager", "GetManagedObjects");
  EXPECT_EQ(reply.error(), "") << reply.error_text();
  EXPECT_EQ(manager_.counted, 65);
}

TEST_F(BusTest, LimitsTheRequestsOfOneUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  sd_bus* client = connect(stranger);
  std::vector<Reply> replies;
  const int requests = 2000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < requests; i++)
    send(client, new_call(client, bus_interface, "ListGroups"), replies);
  EXPECT_EQ(property(connect(0), "State"), "running");
  EXPECT_EQ(call(connect(neighbor), "ListGroups").error(), "");
  wait_for([&] { return replies.size() == requests; });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const auto served =
      std::ranges::count_if(replies, [](const Reply& r) { return r.error() == ""; });
  EXPECT_GE(served, 1);
  EXPECT_LE(static_cast<double>(served), 501 + 100 * seconds.count());
  EXPECT_EQ(replies.back().error(), "Busy");
  EXPECT_EQ(replies.back().error_text(),
            "this user's requests take too much time; try again in some seconds");
}

// What a call takes is known afterwards only.
TEST_F(BusTest, ChargesACallForTheTimeThatItTook) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  manager_.process_owner = stranger;
  manager_.explain_takes = std::chrono::milliseconds(60);
  sd_bus* client = connect(stranger);
  int served = 0;
  while (served < 100 && call(client, "Explain", uint32_t{12}).error().empty()) served++;
  EXPECT_GE(served, 5);
  EXPECT_LT(served, 30);
  EXPECT_EQ(call(connect(0), "Explain", uint32_t{12}).error(), "");
}

TEST_F(BusTest, LimitsTheSizeOfACall) {
  start_all();
  sd_bus* client = connect(::geteuid());
  for (const char* already : {"unknown", "known"}) {
    const Reply reply =
        call(client, "Adopt", std::vector<std::string>{std::string(size_t{80} * 1024, 'a')});
    EXPECT_EQ(reply.error(), "LimitsExceeded") << already;
    EXPECT_EQ(reply.error_text(), "a request has at most 80 KiB") << already;
  }
}

// With the policy of the package, on a bus that denies calls as the system's does.
TEST_F(BusTest, TheBusPassesOnCallsWithoutDescriptorsOnly) {
  std::ostringstream policy;
  policy << std::ifstream(RDTD_EXAMPLES "/../systemd/org.rdtd1.conf.in").rdbuf();
  std::ofstream(directory_ / "conf")
      << "<busconfig><type>system</type><listen>unix:path=" << (directory_ / "bus").string()
      << "</listen><policy context='default'><allow user='*'/><allow own='*'/>"
         "<deny send_type='method_call'/><allow send_type='signal'/>"
         "<allow send_requested_reply='true' send_type='method_return'/>"
         "<allow send_requested_reply='true' send_type='error'/>"
         "<allow send_destination='org.freedesktop.DBus'/><allow receive_sender='*'/></policy>"
      << "<include>" << (directory_ / "policy").string() << "</include></busconfig>";
  std::ofstream(directory_ / "policy")
      << std::regex_replace(policy.str(), std::regex("@RDTD_BUS_NAME@"), bus_name);
  start_bus();
  sd_bus *server = connect(::geteuid()), *client = connect(stranger);
  std::vector<std::string> received;
  const auto note = [](sd_bus_message* message, void* to, sd_bus_error*) {
    const char* sender = sd_bus_message_get_sender(message);
    const char* member = sd_bus_message_get_member(message);
    if (sender != nullptr && *sender == ':' && member != nullptr)
      static_cast<std::vector<std::string>*>(to)->emplace_back(member);
    return 0;
  };
  ASSERT_GE(sd_bus_add_filter(server, nullptr, note, &received), 0);
  ASSERT_GE(sd_bus_add_match(server, nullptr, "type='signal',interface='a.b'", nullptr, nullptr),
            0);
  ASSERT_GE(sd_bus_request_name(server, bus_name, 0), 0);
  const Message with_descriptor = new_call(client, bus_interface, "WithDescriptor");
  ASSERT_GE(sd_bus_message_append(with_descriptor.get(), "h", STDIN_FILENO), 0);
  std::vector<Reply> replies;
  send(client, with_descriptor, replies);
  sd_bus_message* made = nullptr;
  ASSERT_GE(sd_bus_message_new_signal(client, &made, "/", "a.b", "Addressed"), 0);
  const Message addressed(made);
  ASSERT_GE(sd_bus_send_to(client, made, bus_name, nullptr), 0);
  ASSERT_GE(sd_bus_emit_signal(client, "/", "a.b", "Broadcast", nullptr), 0);
  EXPECT_EQ(call(client, "ListGroups").error(), "UnknownObject");
  EXPECT_EQ(received, (std::vector<std::string>{"Broadcast", "ListGroups"}));
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].error(), "AccessDenied");
}

// Before polkit is asked: what waits must be small.
TEST_F(BusTest, LimitsTheNamesOfOneCall) {
  start_all();
  start_polkit();
  sd_bus* client = connect(stranger);
  using Names = std::vector<std::string>;
  for (const Names& names : {Names(257, "a"), Names{std::string(256, 'a')}}) {
    const Reply reply = call(client, "Adopt", names);
    EXPECT_EQ(reply.error(), "InvalidArgs");
    EXPECT_EQ(reply.error_text(),
              "at most 256 groups can be named, with names of at most 255 bytes");
  }
  EXPECT_EQ(manager_.adopts, 0);
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(call(client, "Adopt", Names(256, std::string(255, 'a'))).error(), "");
  EXPECT_EQ(call(client, "Adopt", Names{"nowhere"}).error(), "NoSuchGroup");
  EXPECT_EQ(call(client, "Adopt", std::string("web")).error(), "InvalidArgs");
}

// Before polkit is asked: what waits must be small.
TEST_F(BusTest, LimitsTheSizeOfALease) {
  start_all();
  start_polkit();
  sd_bus* client = connect(stranger);
  const std::string fits((size_t{8} << 10), '#');
  EXPECT_EQ(call(client, "Lease", std::string("a"), fits + "#").error_text(),
            "the policy of a lease has at most 8192 bytes");
  EXPECT_EQ(call(client, "Lease", std::string(256, 'a'), std::string("#")).error_text(),
            "the name of a lease has at most 255 bytes");
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(call(client, "Lease", std::string(255, 'a'), fits).error(), "");
}

// Its text would go into a reply, several times copied.
TEST_F(BusTest, LimitsTheNameOfAGroup) {
  start_all();
  const uint32_t pid = 1;
  EXPECT_EQ(call(connect(stranger), "Assign", pid, std::string(512, 'a')).error_text(),
            "the name of a group has at most 511 bytes");
}

TEST_F(BusTest, LimitsTheRequestsThatWaitForPolkit) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  start_polkit();
  authorized_.reset();
  sd_bus* client = connect(stranger);
  std::vector<Reply> replies;
  for (int i = 0; i < 5; i++) send(client, new_call(client, bus_interface, "Reload"), replies);
  wait_for([&] { return replies.size() == 1 && asked_.size() == 4; });
  EXPECT_EQ(replies[0].error(), "Busy");
  EXPECT_EQ(replies[0].error_text(), "too many requests of this user wait for polkit");
  // Another user does not wait for this one, and a caller that leaves makes room.
  authorized_ = true;
  EXPECT_EQ(call(connect(neighbor), "Reload").error(), "");
  disconnect(client);
  wait_for([&] { return cancelled_.size() == 4; });
  EXPECT_EQ(call(connect(stranger), "Reload").error(), "");
  EXPECT_EQ(manager_.reloads, 2);
}

// The bus takes only users that have an entry.
std::vector<uid_t> users_of_the_system() {
  std::vector<uid_t> out;
  ::setpwent();
  while (const passwd* entry = ::getpwent())
    if (entry->pw_uid > 0 && !is_ordinary_user(entry->pw_uid)) out.push_back(entry->pw_uid);
  ::endpwent();
  return out;
}

// The guard's observer has a place whatever others ask.
TEST_F(BusTest, OrdinaryUsersLeavePlacesForThoseOfTheSystem) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as other users";
  const std::vector<uid_t> users = users_of_the_system();
  if (users.size() < 13) GTEST_SKIP() << "there are too few users of the system";
  start_all();
  start_polkit();
  authorized_.reset();
  std::vector<Reply> replies;
  for (size_t i = 0; i < 12; i++) {
    sd_bus* client = connect(users[i]);
    for (int j = 0; j < 4; j++) send(client, new_call(client, bus_interface, "Reload"), replies);
  }
  wait_for([&] { return asked_.size() == 48; });
  authorized_ = true;
  EXPECT_EQ(call(connect(stranger), "Reload").error_text(), "too many requests wait for polkit");
  EXPECT_EQ(call(connect(users[12]), "Reload").error(), "");
}

TEST_F(BusTest, LimitsTheSubscriptionsOfOneUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  for (int i = 0; i < 8; i++) EXPECT_EQ(call(connect(stranger), "Subscribe").error(), "");
  const Reply reply = call(connect(stranger), "Subscribe");
  EXPECT_EQ(reply.error(), "Busy");
  EXPECT_EQ(reply.error_text(), "this user has too many subscriptions");
  EXPECT_EQ(call(connect(0), "Subscribe").error(), "");
}

}  // namespace
}  // namespace rdtd
