// A world in which single processes are placed while they change.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "rdtd/daemon/assigner.hpp"
#include "rdtd/daemon/visit.hpp"
#include "world.hpp"

namespace rdtd::test {

// A rule leads to the groups redis and b, and none to the group c.
inline const std::string three_groups =
    redis_policy + "[group.b]\n[[rule]]\ngroup = \"b\"\nname = \"batch\"\n[group.c]\n";

class PlacingWorld : public World {
 protected:
  void SetUp() override {
    World::SetUp();
    ASSERT_EQ(reload(three_groups), "");
  }
  [[nodiscard]] Placement placement() const {
    return {*manager->in_force().table, processes, manager->core().manual};
  }
  // Places a process as the classifier does, or as the loop thread does.
  Assignment place(pid_t pid, bool classifier) {
    if (classifier) return place_leader(placement(), pid);
    Visit visit(placement(), pid, {});
    for (int turn = 0; turn < 1000 && !visit.step(64); turn++) {}
    return visit.result();
  }
  // Runs once, before the next thread is written to `tasks`.
  void before_add(std::function<void()> change) {
    kernel.calls.hook = [this, change = std::move(change)](const fake::Call& call) {
      if (call.operation != "add") return;
      const auto once = std::exchange(kernel.calls.hook, nullptr);
      change();
    };
  }
  void fail_in_proc(const char* operation, int code) {
    processes.calls.fail_if(
        [operation](const fake::Call& call) { return call.operation == operation; }, code);
  }
};

}  // namespace rdtd::test
