// authorize: who may change something. Root may; of others polkit is asked, by the caller's name on
// the bus, which cannot be taken over by another process as a pid can, and without waiting for the
// answer.
#pragma once

#include <systemd/sd-bus.h>

namespace rdtd {

// Carries out a call and replies to it.
using Carry = int (*)(sd_bus_message* call, void* userdata);

// Runs `carry` at once for root, later for whom polkit permits `action`, and else replies
// NotPermitted. Returns what a method handler returns.
int authorize(sd_bus_message* call, const char* action, Carry carry, void* userdata);

}  // namespace rdtd
