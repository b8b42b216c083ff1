// LeaseWorld: a World whose test takes leases and gives them back.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <map>
#include <string>
#include <vector>

#include "rdtd/base/text.hpp"
#include "world.hpp"

namespace rdtd::test {

inline const std::string bench = "[group.bench]\nl3 = \"2 ways\"\n";

class LeaseWorld : public World {
 protected:
  void SetUp() override {
    World::SetUp();
    observe();
  }
  void observe() {
    manager->connect({.on_lease_ended = [this](const std::string& name, const std::string& reason) {
      ended.push_back(name + ": " + reason);
    }});
  }
  // What the loop does when the descriptor of the leases is readable.
  void poll_leases() {
    pollfd poll{manager->core().leases.fd(), POLLIN, 0};
    ASSERT_GE(::poll(&poll, 1, 0), 0);
    if (poll.revents != 0) manager->leases().end_abandoned();
    run(std::chrono::seconds(5));
  }
  void close(const std::string& name) {
    lease_fds.erase(name);
    poll_leases();
  }
  [[nodiscard]] bool hung_up(const std::string& name) const {
    pollfd poll{lease_fds.at(name).get(), 0, 0};
    return ::poll(&poll, 1, 0) == 1 && (poll.revents & POLLHUP) != 0;
  }
  [[nodiscard]] std::string names() const {
    std::vector<std::string> out;
    for (const LeaseStatus& lease : manager->answers().list_leases({.uid = 0}))
      out.push_back(lease.name);
    return join(out, " ");
  }
  void refuse_writes_of(const std::string& file) {
    kernel.calls.fail_if(
        [file](const fake::Call& call) { return call.operation == "write" && call.path == file; },
        EIO);
  }
  // All groups with their schemata, to be compared with an earlier state.
  [[nodiscard]] std::string tree() const {
    std::string out;
    const auto machine = resctrl::read_machine(kernel, {}, cpus, true);
    for (const auto& [name, state] : machine->snapshot.groups)
      out += group_label(name) + " " + schemata_line(state.schemata) + "\n";
    return out;
  }

  std::vector<std::string> ended;
};

}  // namespace rdtd::test
