// Gate: what a connection has in front of its objects. It ignores calls without effect that expect
// no reply, and signals that somebody addresses to this program; it refuses calls of users who
// exceed their budget, large calls, and paths that no object here has.
#pragma once

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "accounts.hpp"
#include "callers.hpp"

namespace rdtd {

struct Gate {
  explicit Gate(sd_bus* bus) : callers(bus, accounts) {}

  // Sees every message before the objects do; to be called before they are added. 0, or -errno.
  [[nodiscard]] int attach(sd_bus* bus, sd_event* event);
  // Whether a property is appended to a reply to root. A signal goes to everybody.
  [[nodiscard]] bool is_for_root(sd_bus* bus, sd_bus_message* message) const;

  Accounts accounts;
  Callers callers;
};

}  // namespace rdtd
