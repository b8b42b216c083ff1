// ProcessChanges: renames and changes of user, which the kernel reports by a socket of their own.
#pragma once

#include <optional>

#include "rdtd/daemon/event_source.hpp"
#include "rdtd/daemon/losses.hpp"
#include "rdtd/daemon/manager.hpp"
#include "rdtd/proc/connector.hpp"

namespace rdtd {

class ProcessChanges {
 public:
  ProcessChanges(Manager& manager, Losses& losses) : manager_(manager), losses_(losses) {}

  // 0, or -errno.
  [[nodiscard]] int attach(sd_event* event, std::optional<Connector> connector);

 private:
  void read();
  void take(const ProcEvent& event);

  Manager& manager_;
  Losses& losses_;
  std::optional<Connector> connector_;
  Readable readable_;
  Timer pause_;  // until it is read again
};

}  // namespace rdtd
