// Owners of the objects of sd-bus.
#pragma once

#include <systemd/sd-bus.h>

#include <memory>

namespace rdtd {

template <auto unref>
struct Unref {
  template <class T>
  void operator()(T* object) const {
    unref(object);
  }
};

using Message = std::unique_ptr<sd_bus_message, Unref<sd_bus_message_unref>>;
// Releasing a slot ends the pending call or the match behind it.
using Slot = std::unique_ptr<sd_bus_slot, Unref<sd_bus_slot_unref>>;

}  // namespace rdtd
