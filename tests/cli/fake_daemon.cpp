// The daemon's side of D-Bus with values that are always the same, for tests/cli/daemon: a bus, the
// service and a polkit that permits everything. Prints the address of the bus; after a line of
// input, the service comes on the bus, which it prints too. It ends with its input. The first
// subscriber gets one signal of every kind; when the last has gone it prints "unwatched", and the
// next one is a first again.
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
       .rules = {"a.toml:3", "a.toml:7"}},
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
      if (manager_.watched && !told) send_signals();
      if (!manager_.watched && told) say("unwatched");
      told = manager_.watched;
    }
  }

  bool observes_ = false;

  void send_signals() {
    service_->emit_assigned(4711, "web", "a.toml:3");
    service_->emit_assigned(4712, "default", "");
    service_->emit_reloaded(true);
    service_->emit_reloaded(false);
    service_->emit_drift("group 'web': L3:0=3, granted L3:0=f; restored");
    service_->emit_lease_ended("bench", "the policy has its group");
  }
};

}  // namespace
}  // namespace rdtd

int main() { rdtd::FakeDaemon().run(); }
