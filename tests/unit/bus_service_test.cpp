// The service and the client over a private bus: dbus-daemon in a temporary directory. Everything
// but the daemon and the blocking client runs on one event loop.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>

#include "fields.hpp"
#include "names.hpp"
#include "rdtd/bus/client.hpp"
#include "rdtd/bus/service.hpp"
#include "task_counts.hpp"
#include "wire.hpp"

namespace rdtd {
namespace {

// Users that every machine knows: nobody and daemon. The bus refuses others.
constexpr uid_t stranger = 65534, neighbor = 1;

class FakeManager final : public ManagerInterface {
 public:
  void reload(Done done) override {
    reloads++;
    done({});
  }
  std::expected<CheckResult, Refusal> check() override {
    checks++;
    return CheckResult{"full", "public"};
  }
  std::expected<PlanSummary, Refusal> plan() override {
    plans++;
    return PlanSummary{{{"create", "web", "create  web"}}, "1 step"};
  }
  void reset(Done done) override {
    done(std::unexpected(
        Refusal{.kind = Refusal::Kind::busy, .text = "full", .public_text = "public"}));
  }
  std::expected<std::shared_ptr<PreparedAssign>, Refusal> prepare_assign(pid_t pid,
                                                                         const std::string& group,
                                                                         const Caller&) override {
    struct Assign final : PreparedAssign {
      Assign(Details details, int& runs_) : PreparedAssign(std::move(details)), runs(runs_) {}
      std::expected<void, Refusal> run() override {
        runs++;
        return {};
      }
      int& runs;
    };
    if (group == "nowhere")
      return std::unexpected(
          Refusal{.kind = Refusal::Kind::no_such_group, .text = "there is no group 'nowhere'"});
    return std::make_shared<Assign>(
        PreparedAssign::Details{{"pid", std::to_string(pid)}, {"uid", "7"}, {"group", group}},
        assigns);
  }
  std::expected<Explanation, Refusal> explain(pid_t, std::optional<uid_t> owner) override {
    if (owner && *owner != process_owner)
      return std::unexpected(Refusal{.kind = Refusal::Kind::not_permitted, .text = "not yours"});
    return Explanation{"redis", {{"a.toml:1", "web", true, ""}}, {{1, "web"}}};
  }
  std::expected<std::vector<DomainCounters>, Refusal> counters() override {
    return std::vector{DomainCounters{.llc_occupancy = 1, .mbm_local_bytes = 2}};
  }
  std::shared_ptr<const GroupList> list_groups() override { return groups; }
  size_t tasks_in(const std::string&) override {
    counted++;
    return 3;
  }
  ManagerProperties properties() override {
    return {.state = "running",
            .config_files = {"/etc/rdtd/\xff.toml"},
            .last_reload_error = "full",
            .last_reload_error_public = "public"};
  }
  std::optional<uid_t> owner_of(pid_t) override { return process_owner; }
  void watch_assignments(bool on) override { watched = on; }
  std::string log_level() override { return "info"; }
  bool set_log_level(const std::string&) override { return false; }
  std::string log_target() override { return "journal"; }

  std::shared_ptr<const GroupList> groups = std::make_shared<const GroupList>();
  uid_t process_owner = 7;
  int reloads = 0, checks = 0, plans = 0, assigns = 0, counted = 0;
  bool watched = false;
};

TEST(TaskCounts, RequestsInARowShareThem) {
  FakeManager manager;
  TaskCounts counts(manager);
  uint64_t now = 5'000'000;
  EXPECT_EQ(counts.in("web", now), 3U);
  EXPECT_EQ(counts.in("web", now + TaskCounts::max_age), 3U);
  EXPECT_EQ(manager.counted, 1);
  (void)counts.in("batch", now);
  EXPECT_EQ(manager.counted, 2);
  (void)counts.in("web", now + TaskCounts::max_age + 1);
  EXPECT_EQ(manager.counted, 3);
}

// The answer to one call.
struct Reply {
  Message message;
  // The last word of the error's name; empty for a success.
  [[nodiscard]] std::string error() const {
    const sd_bus_error* error = sd_bus_message_get_error(message.get());
    return error == nullptr ? ""
                            : std::filesystem::path(error->name).extension().string().substr(1);
  }
  [[nodiscard]] std::string error_text() const {
    const sd_bus_error* error = sd_bus_message_get_error(message.get());
    return error == nullptr ? "" : error->message;
  }
  template <class T>
  [[nodiscard]] T read() const {
    T out{};
    EXPECT_GE(wire::read(message.get(), out), 0) << error() << ": " << error_text();
    return out;
  }
};

class BusTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v dbus-daemon >/dev/null") != 0)
      GTEST_SKIP() << "dbus-daemon is not installed";
    std::string name = "/tmp/rdtd-bus-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    std::filesystem::permissions(directory_, std::filesystem::perms(0755));
    std::ofstream(directory_ / "conf")
        << "<busconfig><type>system</type><listen>unix:path=" << (directory_ / "bus").string()
        << "</listen><policy context='default'><allow user='*'/><allow own='*'/>"
           "<allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/></policy>"
           "<limit name='max_replies_per_connection'>50000</limit>"
           "</busconfig>";
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + (directory_ / "bus").string()).c_str(), 1);
    ASSERT_GE(sd_event_new(&event_), 0);
  }

  void TearDown() override {
    service_.reset();
    for (sd_bus* client : clients_) sd_bus_close_unref(client);
    stop_bus();
    sd_event_unref(event_);
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  void start_bus() {
    bus_pid_ = ::fork();
    if (bus_pid_ == 0) {
      const std::string configuration = "--config-file=" + (directory_ / "conf").string();
      ::execlp("dbus-daemon", "dbus-daemon", configuration.c_str(), "--nofork", "--nopidfile",
               "--nosyslog", nullptr);
      ::_exit(127);
    }
    wait_for([&] { return std::filesystem::exists(directory_ / "bus"); });
  }

  void stop_bus() {
    if (bus_pid_ <= 0) return;
    ::kill(bus_pid_, SIGKILL);
    ::waitpid(bus_pid_, nullptr, 0);
    bus_pid_ = 0;
    std::filesystem::remove(directory_ / "bus");
  }

  void open_service() {
    auto service = Service::open(event_, manager_, [&](const Result<void>& connection) {
      reports_.push_back(connection ? "on" : connection.error().text());
    });
    ASSERT_TRUE(service);
    service_ = std::move(*service);
  }

  void start_all() {
    start_bus();
    open_service();
    // The daemon makes its socket before it listens: the first attempt may come between.
    wait_for([&] { return !reports_.empty() && reports_.back() == "on"; });
    reports_ = {"on"};
  }

  // Runs the loop until something holds, for 20 s at most.
  template <class Condition>
  void wait_for(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      (void)sd_event_run(event_, 10'000);
    }
  }

  // A connection of another user, if the test may have one: the bus takes the effective user at
  // connect(2).
  sd_bus* connect(uid_t uid) {
    sd_bus* bus = nullptr;
    const bool change = ::geteuid() == 0 && uid != 0;
    EXPECT_TRUE(!change || ::seteuid(uid) == 0);
    EXPECT_GE(sd_bus_open_system(&bus), 0);
    EXPECT_TRUE(!change || ::seteuid(0) == 0);
    EXPECT_GE(sd_bus_attach_event(bus, event_, 0), 0);
    clients_.push_back(bus);
    return bus;
  }

  void disconnect(sd_bus* client) {
    std::erase(clients_, client);
    sd_bus_flush_close_unref(client);
  }

  template <class... Args>
  Message new_call(sd_bus* client, const char* interface, const char* method, const Args&... args) {
    sd_bus_message* made = nullptr;
    EXPECT_GE(sd_bus_message_new_method_call(client, &made, bus_name, bus_path, interface, method),
              0);
    EXPECT_GE(wire::append_all(made, args...), 0);
    return Message(made);
  }

  // Sends a call whose reply will be put in `replies`.
  void send(sd_bus* client, const Message& request, std::vector<Reply>& replies) {
    const auto on_reply = [](sd_bus_message* reply, void* to, sd_bus_error*) {
      static_cast<std::vector<Reply>*>(to)->push_back({Message(sd_bus_message_ref(reply))});
      return 0;
    };
    EXPECT_GE(sd_bus_call_async(client, nullptr, request.get(), on_reply, &replies, 0), 0);
  }

  template <class... Args>
  Reply call(sd_bus* client, const char* method, const Args&... args) {
    return call_of(client, bus_interface, method, args...);
  }

  template <class... Args>
  Reply call_of(sd_bus* client, const char* interface, const char* method, const Args&... args) {
    std::vector<Reply> replies;
    send(client, new_call(client, interface, method, args...), replies);
    wait_for([&] { return !replies.empty(); });
    return replies.empty() ? Reply{} : std::move(replies.front());
  }

  std::string property(sd_bus* client, const char* name) {
    const Reply reply =
        call_of(client, properties_interface, "Get", std::string(bus_interface), std::string(name));
    std::string value;
    EXPECT_GE(wire::read_variant(reply.message.get(), value), 0) << reply.error_text();
    return value;
  }

  // polkit, which answers `authorized_` or, without a value, never.
  void start_polkit() {
    sd_bus* polkit = connect(::geteuid());
    const auto on_call = [](sd_bus_message* call, void* self, sd_bus_error*) {
      return static_cast<BusTest*>(self)->on_polkit_call(call);
    };
    ASSERT_GE(sd_bus_add_filter(polkit, nullptr, on_call, this), 0);
    ASSERT_GE(sd_bus_request_name(polkit, "org.freedesktop.PolicyKit1", 0), 0);
  }

  int on_polkit_call(sd_bus_message* call) {
    if (sd_bus_message_is_method_call(call, nullptr, "CancelCheckAuthorization") > 0) {
      std::string id;
      (void)wire::read(call, id);
      cancelled_.push_back(id);
      return wire::reply(call);
    }
    if (sd_bus_message_is_method_call(call, nullptr, "CheckAuthorization") <= 0) return 0;
    const char* action = nullptr;
    EXPECT_GE(sd_bus_message_skip(call, "(sa{sv})"), 0);
    EXPECT_GE(sd_bus_message_read(call, "s", &action), 0);
    Authorization asked{.action = action, .details = {}};
    EXPECT_GE(wire::read(call, asked.details), 0);
    asked_.push_back(std::move(asked));
    if (!authorized_) return 1;
    return wire::reply(call, std::tuple(*authorized_, false, std::map<std::string, std::string>()));
  }

  struct Authorization {
    std::string action;
    std::map<std::string, std::string> details;
    bool operator==(const Authorization&) const = default;
  };

  FakeManager manager_;
  std::filesystem::path directory_;
  pid_t bus_pid_ = 0;
  sd_event* event_ = nullptr;
  std::unique_ptr<Service> service_;
  std::vector<std::string> reports_;
  std::vector<sd_bus*> clients_;
  std::optional<bool> authorized_ = true;
  std::vector<Authorization> asked_;
  std::vector<std::string> cancelled_;
};

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

TEST_F(BusTest, ClientReadsEveryAnswer) {
  manager_.groups = std::make_shared<const GroupList>(
      std::vector<GroupStatus>{{.name = "web", .asked = {{"L3", 0, "4 ways"}}, .rules = {"a:1"}}});
  start_all();
  start_polkit();
  auto done = std::async(std::launch::async, [] {
    auto client = Client::connect();
    const auto plan = client->plan();
    const auto explanation = client->explain(1);
    const auto groups = client->list_groups();
    const auto properties = client->properties();
    ASSERT_TRUE(plan && explanation && groups && properties);
    EXPECT_EQ(plan->summary, "1 step");
    EXPECT_EQ(plan->steps.at(0).text, "create  web");
    EXPECT_EQ(explanation->trials.at(0).place, "a.toml:1");
    EXPECT_EQ(explanation->threads.at(0).second, "web");
    EXPECT_EQ(groups->at(0).asked, (std::vector<Share>{{"L3", 0, "4 ways"}}));
    EXPECT_EQ(groups->at(0).tasks, 3U);
    EXPECT_EQ(properties->config_files, std::vector<std::string>{"/etc/rdtd/?.toml"});
    EXPECT_TRUE(client->reload());
    EXPECT_EQ(client->assign(1, "nowhere").error().text, "there is no group 'nowhere'");
  });
  wait_for([&] { return done.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  EXPECT_EQ(manager_.reloads, 1);
}

// Linear in groups and rules, and each group counted once.
TEST_F(BusTest, ManagedObjectsOfALargePolicy) {
  std::vector<GroupStatus> groups;
  for (int i = 0; i < 64; i++) {
    GroupStatus& group = groups.emplace_back(GroupStatus{.name = "g" + std::to_string(i)});
    for (int rule = 0; rule < 160; rule++)
      group.rules.push_back("/etc/rdtd/10-policy.toml:" + std::to_string(rule));
  }
  groups.push_back({.name = "\xff\n"});
  manager_.groups = std::make_shared<const GroupList>(std::move(groups));
  start_all();
  const auto begin = std::chrono::steady_clock::now();
  const Reply reply =
      call_of(connect(stranger), "org.freedesktop.DBus.ObjectManager", "GetManagedObjects");
  EXPECT_EQ(reply.error(), "") << reply.error_text();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_EQ(manager_.counted, 65);
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

TEST_F(BusTest, LimitsTheRequestsOfOneUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  sd_bus* client = connect(stranger);
  std::vector<Reply> replies;
  const int requests = 2000;
  for (int i = 0; i < requests; i++)
    send(client, new_call(client, bus_interface, "ListGroups"), replies);
  EXPECT_EQ(property(connect(0), "State"), "running");
  EXPECT_EQ(call(connect(neighbor), "ListGroups").error(), "");
  wait_for([&] { return replies.size() == requests; });
  const auto served =
      std::ranges::count_if(replies, [](const Reply& r) { return r.error() == ""; });
  EXPECT_GE(served, 50);
  EXPECT_LT(served, 300);
  EXPECT_EQ(replies.back().error(), "Busy");
  EXPECT_EQ(replies.back().error_text(),
            "this user sends too many requests; try again in a second");
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
  const std::vector<Authorization> expected = {
      {action_assign, {{"pid", "12"}, {"uid", "7"}, {"group", "web"}}},
      {action_inspect, {{"pid", "12"}}},
      {action_inspect, {}},
      {action_inspect, {}}};
  EXPECT_EQ(asked_, expected);
  // Neither a request that cannot succeed nor one about an own process needs an authorization.
  EXPECT_EQ(call(client, "Assign", uint32_t{12}, std::string("nowhere")).error(), "NoSuchGroup");
  manager_.process_owner = stranger;
  EXPECT_EQ(call(client, "Explain", uint32_t{12}).read<std::string>(), "redis");
  EXPECT_EQ(asked_.size(), 4U);
  authorized_ = false;
  for (const char* method : {"Check", "Plan", "Reload", "Reset"}) {
    const Reply reply = call(client, method);
    EXPECT_EQ(reply.error(), "NotPermitted") << method;
    EXPECT_EQ(reply.error_text(), "polkit does not authorize it") << method;
  }
  sd_bus* root = connect(0);
  EXPECT_EQ(call(root, "Check").read<std::string>(), "full");
  EXPECT_EQ(asked_.size(), 8U);
}

TEST_F(BusTest, WithoutPolkitOnlyRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  EXPECT_EQ(call(connect(0), "Reload").error(), "");
  const Reply reply = call(connect(stranger), "Reload");
  EXPECT_EQ(reply.error(), "NotPermitted");
  EXPECT_EQ(reply.error_text(), "polkit does not answer; only root may do this");
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

TEST_F(BusTest, TextForOthersThanRootIsPublic) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  start_polkit();
  sd_bus *root = connect(0), *other = connect(stranger);
  EXPECT_EQ(property(root, "LastReloadError"), "full");
  EXPECT_EQ(property(other, "LastReloadError"), "public");
  EXPECT_EQ(call(root, "Reset").error_text(), "full");
  EXPECT_EQ(call(other, "Reset").error_text(), "public");
  // A signal goes to all subscribers, not only to the user who caused it.
  std::string signalled;
  const auto on_changed = [](sd_bus_message* signal, void* to, sd_bus_error*) {
    (void)sd_bus_message_skip(signal, "s");
    (void)sd_bus_message_enter_container(signal, 'a', "{sv}");
    while (sd_bus_message_enter_container(signal, 'e', "sv") > 0) {
      std::string name;
      (void)wire::read(signal, name);
      if (name == "LastReloadError")
        (void)wire::read_variant(signal, *static_cast<std::string*>(to));
      else
        (void)sd_bus_message_skip(signal, "v");
      (void)sd_bus_message_exit_container(signal);
    }
    return 0;
  };
  ASSERT_GE(sd_bus_match_signal(other, nullptr, nullptr, bus_path, properties_interface,
                                "PropertiesChanged", on_changed, &signalled),
            0);
  service_->emit_reloaded(false);
  wait_for([&] { return !signalled.empty(); });
  EXPECT_EQ(signalled, "public");
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
