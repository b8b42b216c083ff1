// Service: the daemon on D-Bus. Object /org/rdtd1 with interface org.rdtd1.Manager and, under its
// ObjectManager, /org/rdtd1/group/NAME with org.rdtd1.Group; /org/freedesktop/LogControl1 for
// systemctl. Everybody may read the groups; changes, and reads that inspect policy files or other
// users' processes, require root or authorization from polkit.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "rdtd/base/error.hpp"
#include "rdtd/bus/changes.hpp"
#include "rdtd/bus/log_control.hpp"
#include "rdtd/bus/reads.hpp"

using sd_event = struct sd_event;

namespace rdtd {

// The objects that carry out the requests.
struct Handlers {
  Changes& changes;
  Reads& reads;
  LogControl& log;
};

class Service {
 public:
  // Called when the service comes on the bus, and when it leaves the bus or cannot get there: once
  // per change, not per attempt.
  using Report = std::function<void(const Result<void>& connection)>;

  // Connects to the system bus and takes the name, without waiting. While there is no bus, or
  // another process has the name, it tries again every second.
  [[nodiscard]] static Result<std::unique_ptr<Service>> open(sd_event* event, Handlers handlers,
                                                             Report report);
  virtual ~Service() = default;

  // These send signals, and do nothing while the service is not on the bus. Reloaded, with the
  // groups that the reload added and removed:
  virtual void emit_reloaded(bool success) = 0;
  // Groups that were added, removed or changed since the last time:
  virtual void emit_groups() = 0;
  // If it is another than the last time:
  virtual void emit_state(const std::string& state) = 0;
  virtual void emit_drift(std::string_view what) = 0;
  virtual void emit_lease_ended(const std::string& name, const std::string& reason) = 0;
  // Goes to the subscribers that are root or own the process.
  virtual void emit_assigned(pid_t pid, const std::string& group, const std::string& rule) = 0;
};

}  // namespace rdtd
