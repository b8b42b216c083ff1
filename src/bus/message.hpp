// What the objects on the bus share: owned messages, replies of lists, errors by name.
#pragma once

#include <systemd/sd-bus.h>

#include <memory>
#include <vector>

#include "rdtd/bus/manager_interface.hpp"

namespace rdtd {

struct UnrefMessage {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Message = std::unique_ptr<sd_bus_message, UnrefMessage>;

[[nodiscard]] Message new_reply(sd_bus_message* call);

// An array: `append` adds one item and returns a negative errno where it fails.
template <class Range, class Append>
int append_array(sd_bus_message* message, const char* type, const Range& items, Append append) {
  int r = sd_bus_message_open_container(message, 'a', type);
  for (const auto& item : items)
    if (r >= 0) r = append(item);
  return r < 0 ? r : sd_bus_message_close_container(message);
}

int append_shares(sd_bus_message* message, const std::vector<Share>& shares);

int reply_error(sd_bus_message* call, const CallError& error);

// The effective user and the process behind a message, asked of the bus.
[[nodiscard]] Caller caller_of(sd_bus_message* call);

inline ManagerInterface& manager_of(void* userdata) {
  return *static_cast<ManagerInterface*>(userdata);
}

}  // namespace rdtd
