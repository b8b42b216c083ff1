// Service: the daemon on D-Bus. Object /org/rdtd1 with interface org.rdtd1.Manager and, under its
// ObjectManager, /org/rdtd1/group/NAME with org.rdtd1.Group; /org/freedesktop/LogControl1 for
// systemctl. Reading is open to all; what changes something is for root and for whom polkit permits
// it.
#pragma once

#include <memory>
#include <string_view>

#include "rdtd/base/error.hpp"
#include "rdtd/bus/manager_interface.hpp"

using sd_event = struct sd_event;

namespace rdtd {

class Service {
 public:
  // Connects to the system bus and takes the name; EEXIST where another has it. Calls are answered
  // once the loop runs. A bus that goes away ends the loop with status 1.
  [[nodiscard]] static Result<std::unique_ptr<Service>> open(sd_event* event,
                                                             ManagerInterface& manager);
  virtual ~Service() = default;

  // Each tells those who listen: of a reload, with what came and went by it; of groups that came,
  // went or changed; of a changed state; of drift; of an assignment.
  virtual void emit_reloaded(bool success) = 0;
  virtual void emit_groups() = 0;
  virtual void emit_state() = 0;
  virtual void emit_drift(std::string_view what) = 0;
  virtual void emit_assigned(pid_t pid, const std::string& group, const std::string& rule) = 0;
};

}  // namespace rdtd
