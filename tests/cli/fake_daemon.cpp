// The daemon's side of D-Bus with values that are always the same, for tests/cli/daemon: a bus, the
// service and a polkit that permits everything. Prints the address of the bus; after a line of
// input, the service comes on the bus, which it prints too. It ends with its input. The first
// subscriber gets one signal of every kind; when the last has gone it prints "unwatched", and the
// next one is a first again.
#include <fmt/format.h>
#include <sys/prctl.h>

#include <filesystem>

#include "../unit/bus_world.hpp"
#include "rdtd/bus/observer_service.hpp"

namespace rdtd {
namespace {

using test::FakeManager;

void fill(FakeManager& manager) {
  manager.groups = std::make_shared<const GroupList>(std::vector<GroupStatus>{
      {.name = "web",
       .asked = {{"L3", 0, "4 ways"}, {"L3", 1, "2 ways"}, {"MB", 0, "20%"}, {"MB", 1, "20%"}},
       .granted = {{"L3", 0, "f"}, {"L3", 1, "3"}, {"MB", 0, "20"}, {"MB", 1, "20"}},
       .mode = "exclusive",
       .cpus = "2-3",
       .rules = {{.file = "a.toml", .line = 3}, {.file = "a.toml", .line = 7}}},
      {.name = "default", .granted = {{"L3", 0, "ff0"}, {"L3", 1, "ffc"}}, .mode = "shareable"}});
  LockStatus buffer{.name = "buffer",
                    .resource = "L2",
                    .domain = 1,
                    .asked = "2 ways",
                    .mask = "3",
                    .bytes = 262144,
                    .device = "/dev/pseudo_lock/buffer",
                    .owner = "alice",
                    .user_group = "audio",
                    .mode = "0660",
                    .state = "waiting",
                    .reason = "process 812 (jackd) has it open"};
  LockStatus locked = buffer;
  locked.name = "locked";
  locked.device = "/nowhere/locked";
  locked.state = "locked";
  locked.reason = "";
  manager.locks = std::vector{buffer, locked};
}

// A guard that has cut once.
GuardStatus guard() {
  return {.mode = "on",
          .problem = "no step now: drift: group 'batch'",
          .amounts = {{"batch", "L3", 0, "percent", 50, 10, 100, "", {{50, 1 << 30}, {100, 3e9}}},
                      {"batch", "L3", 1, "percent", 100, 10, 100, "left alone for 9 s more", {}}},
          .steps = {{1'700'000'000'000'000, "shadow", "L3 0: mb of batch from 100% to 50%: why"},
                    {1'700'000'005'000'000, "on", "L3 0: mb of batch from 100% to 50%: why"}},
          .counts = {{"batch", "L3", 0, "cut", "on", 1}, {"batch", "L3", 0, "cut", "shadow", 1}}};
}

// A policy file of a certain name makes a reload fail.
std::expected<void, Refusal> answer_to_reload() {
  if (std::filesystem::exists("/etc/rdtd/incomplete.toml"))
    return std::unexpected(Refusal{.kind = Refusal::Kind::incomplete,
                                   .text = "the policy is in force, but 1 process is not placed"});
  if (std::filesystem::exists("/etc/rdtd/refused.toml"))
    return std::unexpected(
        Refusal{.kind = Refusal::Kind::kernel_rejected, .text = "the kernel says no"});
  return {};
}

// While a policy file of a certain name is there, more is planned.
std::vector<PlannedStep> steps_to_plan() {
  std::vector<PlannedStep> out = {{"create", "web", "create  web"}};
  if (std::filesystem::exists("/run/many-steps"))
    for (const auto& [kind, group] : {std::pair("schemata", "web"),
                                      {"schemata", "default"},
                                      {"cpus", "default"},
                                      {"create", "web/front"},
                                      {"create", "web/back"},
                                      {"remove", "old/front"},
                                      {"remove", "old"},
                                      {"remove", "older"},
                                      {"schemata", "I/O"}})
      out.push_back({kind, group, fmt::format("{:<8}  {}", kind, group)});
  return out;
}

class FakeDaemon final : public test::BusTest {
 public:
  void run() {
    SetUp();
    start_bus();
    say(std::getenv("DBUS_SYSTEM_BUS_ADDRESS"));
    if (read_input()) serve();
    TearDown();
  }

 private:
  void TestBody() override {}

  static void say(const char* line) {
    std::puts(line);
    (void)std::fflush(stdout);
  }

  static bool read_input() {
    char byte = 0;
    return ::read(STDIN_FILENO, &byte, 1) == 1;
  }

  void serve() {
    fill(manager_);
    manager_.on_reload = answer_to_reload;
    start_polkit();
    open_service();
    wait_for([&] { return !reports_.empty(); });
    auto observer = ObserverService::open(
        event_, {.episodes = [](uint64_t) { return std::vector<EpisodeRow>{}; },
                 .counts = [] { return std::vector<ContentionCount>{}; },
                 .guard = guard,
                 .on_mark = [](const std::string&) {},
                 .on_reloaded = [] {},
                 .on_name = [this] { observes_ = true; },
                 .on_end = [](const Error&) {}});
    wait_for([&] { return observes_; });
    say(reports_.back().c_str());
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    bool told = false;
    while (::poll(&input, 1, 0) == 0) {
      (void)sd_event_run(event_, 20'000);
      manager_.planned_steps = steps_to_plan();
      if (manager_.watched && !told) send_signals();
      if (!manager_.watched && told) say("unwatched");
      told = manager_.watched;
    }
  }

  bool observes_ = false;

  // As any user can, with a connection of their own.
  static void forge_signals() {
    sd_bus* opened = nullptr;
    ASSERT_GE(sd_bus_open_system(&opened), 0);
    const std::unique_ptr<sd_bus, decltype(&sd_bus_flush_close_unref)> bus(
        opened, sd_bus_flush_close_unref);
    char** names = nullptr;
    ASSERT_GE(sd_bus_list_names(opened, &names, nullptr), 0);
    for (char** name = names; *name != nullptr; ++name) {
      if (**name == ':') forge_signals_to(opened, *name);
      std::free(*name);
    }
    std::free(names);
  }
  static void forge_signals_to(sd_bus* bus, const char* name) {
    const auto send = [&](const char* interface, const char* member, const auto&... values) {
      sd_bus_message* made = nullptr;
      ASSERT_GE(sd_bus_message_new_signal(bus, &made, bus_path, interface, member), 0);
      const Message signal(made);
      ASSERT_GE(wire::append_all(made, values...), 0);
      ASSERT_GE(sd_bus_send_to(bus, made, name, nullptr), 0);
    };
    send(bus_interface, "DriftDetected", std::string("forged"));
    send("org.freedesktop.DBus", "NameOwnerChanged", std::string(bus_name), std::string(":1.0"),
         std::string());
  }

  void send_signals() {
    forge_signals();
    constexpr pid_t nobody = 4'194'305;  // the kernel has no higher number than the one before
    (void)::prctl(PR_SET_NAME, "fake\ndaemon");
    service_->emit_assigned(::getpid(), "web", "a.toml:3");
    service_->emit_assigned(nobody, "default", "");
    service_->emit_reloaded(true);
    service_->emit_reloaded(false);
    service_->emit_drift("group 'web': L3:0=3, granted L3:0=f; restored");
    service_->emit_lease_ended("bench", "the policy has its group");
  }
};

}  // namespace
}  // namespace rdtd

int main() { rdtd::FakeDaemon().run(); }
