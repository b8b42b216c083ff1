// BusTest: the service on a private bus, dbus-daemon in a temporary directory, with a manager made
// of plain values. Everything but the daemon and the blocking client runs on one event loop.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <optional>

#include "fields.hpp"
#include "names.hpp"
#include "private_bus.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/bus/client.hpp"
#include "rdtd/bus/service.hpp"
#include "task_counts.hpp"
#include "wire.hpp"

namespace rdtd::test {

// Users that every machine knows: nobody and daemon. The bus refuses others.
inline constexpr uid_t stranger = 65534, neighbor = 1;

class FakeManager final : public Changes, public Reads, public LogControl {
 public:
  std::function<std::expected<void, Refusal>()> on_reload = [] {
    return std::expected<void, Refusal>{};
  };
  std::vector<PlannedStep> planned_steps = {{"create", "web", "create  web"}};
  void reload(Done done) override {
    reloads++;
    done(on_reload());
  }
  void adopt(const std::vector<std::string>& names, Adopted done) override {
    adopts++;
    if (names == std::vector<std::string>{"nowhere"})
      return done(std::unexpected(
          Refusal{.kind = Refusal::Kind::no_such_group, .text = "the policy has no group"}));
    if (names == std::vector<std::string>{"refused"})
      return done(std::unexpected(Refusal{
          .kind = Refusal::Kind::invalid_policy,
          .text =
              "a.toml:1:1: error: no\n    1 | x = 1\n      | ^ one, two, three, four, five\n"}));
    done(names);
  }
  void lease(const std::string& name, const std::string& policy, const Caller&,
             Leased done) override {
    if (policy.empty())
      return done(std::unexpected(
          Refusal{.kind = Refusal::Kind::invalid_policy, .text = "full", .public_text = "public"}));
    if (name == "one too many")
      return done(std::unexpected(
          Refusal{.kind = Refusal::Kind::out_of_closids, .text = "there are no more CLOSIDs"}));
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    leases[name] = UniqueFd(ends[1]);
    done(UniqueFd(ends[0]));
  }
  void update_lease(const std::string& name, const std::string& policy, const Caller&,
                    Done done) override {
    if (!leases.contains(name))
      return done(std::unexpected(
          Refusal{.kind = Refusal::Kind::no_such_lease, .text = "there is no lease"}));
    updates.push_back(policy);
    done({});
  }
  std::vector<LeaseStatus> list_leases(const Caller& caller) override {
    return {{"bench", 7, 42, {"a", "b"}, caller.root() ? "text" : ""}};
  }
  std::expected<CheckResult, Refusal> check() override {
    checks++;
    return CheckResult{"full", "public"};
  }
  std::expected<PlanSummary, Refusal> plan() override {
    plans++;
    return PlanSummary{planned_steps, rdtd::counted(planned_steps.size(), "step")};
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
  std::expected<Explanation, Refusal> explain(pid_t pid, std::optional<uid_t> owner) override {
    const auto used = [] {
      return std::chrono::microseconds(std::clock() * 1'000'000 / CLOCKS_PER_SEC);
    };
    for (const auto begin = used(); used() < begin + explain_takes;) continue;
    if (pid == 404)
      return std::unexpected(
          Refusal{.kind = Refusal::Kind::no_such_process, .text = "there is no process 404"});
    if (pid == 409) return std::unexpected(Refusal{.kind = Refusal::Kind::busy, .text = "held up"});
    if (owner && *owner != process_owner)
      return std::unexpected(Refusal{.kind = Refusal::Kind::not_permitted, .text = "not yours"});
    return Explanation{"redis",
                       {{"a.toml:1", "web", false, owner ? "" : "pattern"},
                        {"a.toml:2", "default", true, "its own group cannot be had now"}},
                       {{1, "web"}}};
  }
  std::expected<std::vector<DomainCounters>, Refusal> counters() override {
    return std::vector{
        DomainCounters{"redis/mon_groups/web",
                       "L3",
                       DomainId{1},
                       {{"llc_occupancy", uint64_t{1}}, {"mbm_total_bytes", NoCount::unassigned}}}};
  }
  // With the groups of bench's leases, which are there for a while after these have ended.
  std::shared_ptr<const GroupList> list_groups() override {
    std::vector<GroupStatus> of_leases;
    for (auto& [name, end] : leases) {
      if (!name.starts_with("bench-") || name.ends_with("-monitor") || !end) continue;
      of_leases.push_back({.name = name});
      pollfd holders{.fd = end.get(), .events = 0, .revents = 0};
      if (::poll(&holders, 1, 0) > 0 && --lingers == 0) {
        end = {};
        lingers = lists_after_end;
      }
    }
    if (of_leases.empty()) return groups;
    std::ranges::copy(groups->all(), std::back_inserter(of_leases));
    return std::make_shared<const GroupList>(std::move(of_leases));
  }
  std::vector<RuleStatus> list_rules() override { return {{"a.toml:3", "a\x1b", 2}}; }
  std::expected<std::vector<LockStatus>, Refusal> list_locks() override { return locks; }
  size_t tasks_in(const std::string&) override {
    counted++;
    return 3;
  }
  ManagerProperties properties() override {
    return {.state = "running",
            .config_files = {"/etc/rdtd/\xff.toml"},
            .problems = {"full"},
            .problems_public = {"public"},
            .last_reload_error = "full",
            .last_reload_error_public = "public"};
  }
  std::optional<uid_t> effective_user_of(pid_t pid) override {
    return pid == 404 ? std::nullopt : std::optional(process_owner);
  }
  std::optional<uid_t> owner_of(pid_t pid) override {
    owners_asked++;
    for (const uint64_t begin = thread_time(); thread_time() - begin < owner_takes;) continue;
    return pid == 404 ? std::nullopt : std::optional(process_owner);
  }
  void watch_assignments(bool on) override { watched = on; }
  void resumed() override { resumes++; }
  std::string level() const override { return "info"; }
  bool set_level(const std::string&) override { return false; }
  std::string target() const override { return "journal"; }

  std::shared_ptr<const GroupList> groups = std::make_shared<const GroupList>();
  std::expected<std::vector<LockStatus>, Refusal> locks;
  std::map<std::string, UniqueFd> leases;  // the daemon's ends
  static constexpr int lists_after_end = 3;
  int lingers = lists_after_end;
  std::vector<std::string> updates;  // texts
  uid_t process_owner = 7;
  int owners_asked = 0;
  uint64_t owner_takes = 0;                   // microseconds
  std::chrono::microseconds explain_takes{};  // of processor time
  int reloads = 0, adopts = 0, checks = 0, plans = 0, assigns = 0, counted = 0, resumes = 0;
  bool watched = false;
};

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

class BusTest : public testing::Test, public PrivateBus {
 protected:
  void SetUp() override {
    if (std::system("command -v dbus-daemon >/dev/null") != 0)
      GTEST_SKIP() << "dbus-daemon is not installed";
    // libsystemd may look there for who a sender is. A chroot that builds a package may have none.
    if (!std::filesystem::exists("/proc/self")) GTEST_SKIP() << "/proc is not mounted";
    make_bus();
    ASSERT_GE(sd_event_new(&event_), 0);
  }

  void TearDown() override {
    service_.reset();
    for (sd_bus* client : clients_) sd_bus_close_unref(client);
    sd_event_unref(event_);
    remove_bus();
  }

  void open_service() {
    auto service =
        Service::open(event_, {manager_, manager_, manager_}, [&](const Result<void>& connection) {
          reports_.push_back(connection ? "on" : connection.error().text());
        });
    ASSERT_TRUE(service);
    service_ = std::move(*service);
  }

  void start_all() {
    start_bus();
    open_service();
    wait_for([&] { return !reports_.empty(); });
    ASSERT_EQ(reports_.back(), "on");
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
    if (malformed_) return wire::reply(call, std::string("yes"));
    return wire::reply(call,
                       std::tuple(*authorized_, challenge_, std::map<std::string, std::string>()));
  }

  struct Authorization {
    std::string action;
    std::map<std::string, std::string> details;
    bool operator==(const Authorization&) const = default;
  };

  FakeManager manager_;
  sd_event* event_ = nullptr;
  std::unique_ptr<Service> service_;
  std::vector<std::string> reports_;
  std::vector<sd_bus*> clients_;
  std::optional<bool> authorized_ = true;
  bool challenge_ = false;  // polkit needs a password
  bool malformed_ = false;  // another version's polkit
  std::vector<Authorization> asked_;
  std::vector<std::string> cancelled_;
};

}  // namespace rdtd::test
