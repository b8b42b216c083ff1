// The objects on the bus, each added by one function, and the state that they share on one
// connection. `userdata` of all callbacks is Objects.
#pragma once

#include <systemd/sd-bus.h>

#include <string>

#include "authorize.hpp"
#include "gate.hpp"
#include "rdtd/bus/service.hpp"
#include "subscribers.hpp"
#include "task_counts.hpp"

namespace rdtd {

struct Objects : Gate {
  Objects(sd_bus* bus, Handlers handlers)
      : Gate(bus),
        changes(handlers.changes),
        reads(handlers.reads),
        log(handlers.log),
        authority(bus, accounts),
        subscribers(bus, handlers.reads, accounts),
        tasks(handlers.reads) {}

  Changes& changes;
  Reads& reads;
  LogControl& log;
  Authority authority;
  Subscribers subscribers;
  TaskCounts tasks;
};

[[nodiscard]] int add_manager_object(sd_bus* bus, Objects& objects);
[[nodiscard]] int add_group_objects(sd_bus* bus, Objects& objects);
[[nodiscard]] int add_log_control(sd_bus* bus, Objects& objects);
[[nodiscard]] int add_sleep_match(sd_bus* bus, Objects& objects);

[[nodiscard]] std::string path_of_group(const std::string& name);

[[nodiscard]] inline Objects& objects_of(void* userdata) {
  return *static_cast<Objects*>(userdata);
}

}  // namespace rdtd
