// Service: the daemon on D-Bus, object /org/rdtd1, interface org.rdtd1.Manager. Reading is open to all; what changes
// something is for root.
#pragma once

#include <memory>
#include <string_view>

#include "rdtd/base/error.hpp"
#include "rdtd/bus/manager_interface.hpp"

using sd_event = struct sd_event;

namespace rdtd {

class Service {
 public:
  // Connects to the system bus and asks for the name, without waiting for either.
  [[nodiscard]] static Result<std::unique_ptr<Service>> open(sd_event* event, ManagerInterface& manager);
  virtual ~Service() = default;

  // Tells subscribers that the properties of the daemon changed.
  virtual void emit_reloaded(bool success) = 0;
  virtual void emit_drift(std::string_view what) = 0;
};

}  // namespace rdtd
