// ContainerChanges: names of containers and pods that become known after their processes have been
// looked at. Then all processes are looked at again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "rdtd/daemon/event_source.hpp"
#include "rdtd/daemon/losses.hpp"
#include "rdtd/daemon/manager.hpp"
#include "rdtd/proc/containers.hpp"
#include "rdtd/proc/helper.hpp"

namespace rdtd {

class ContainerChanges {
 public:
  ContainerChanges(Manager& manager, Losses& losses);

  // `containers`: null: no rule matches a container. 0, or -errno.
  [[nodiscard]] int attach(sd_event* event, std::shared_ptr<proc::Containers> containers);
  // Reads the names again, if a rule is about them: containers may have been renamed.
  void refresh();

 private:
  [[nodiscard]] bool wanted() const;
  void read();
  void wait();
  void report(const proc::Containers::Refreshed& refreshed);

  Manager& manager_;
  Losses& losses_;
  std::shared_ptr<proc::Containers> containers_;
  proc::Helper reader_;
  std::shared_ptr<proc::Containers::Refreshed> late_;  // by a reader that takes long
  Readable wanted_;
  Timer due_;
  std::optional<std::chrono::steady_clock::time_point> waiting_since_;
  uint64_t seen_ = 0;  // changes of names
};

}  // namespace rdtd
