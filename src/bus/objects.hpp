// The objects on the bus, each put there by one function. `userdata` of all is the
// ManagerInterface.
#pragma once

#include <systemd/sd-bus.h>

#include <string>

#include "rdtd/bus/manager_interface.hpp"

namespace rdtd {

// Who wants TaskAssigned: callers of Subscribe that are still on the bus. Tells the manager when
// the first comes and the last goes.
struct ManagerObject {
  explicit ManagerObject(ManagerInterface& manager_) : manager(manager_) {}
  ManagerObject(const ManagerObject&) = delete;
  ManagerObject& operator=(const ManagerObject&) = delete;
  ~ManagerObject() { sd_bus_track_unref(subscribers); }
  ManagerInterface& manager;
  sd_bus_track* subscribers = nullptr;
};

[[nodiscard]] int add_manager_object(sd_bus* bus, ManagerObject& object);
[[nodiscard]] int add_group_objects(sd_bus* bus, ManagerInterface& manager);
[[nodiscard]] int add_log_control(sd_bus* bus, ManagerInterface& manager);

[[nodiscard]] std::string path_of_group(const std::string& name);

}  // namespace rdtd
