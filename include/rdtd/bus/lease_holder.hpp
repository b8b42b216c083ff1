// LeaseHolder: a lease that a program with an event loop holds, and changes as it goes. It never
// waits. The lease ends with the program, however that ends.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rdtd/base/unique_fd.hpp"

using sd_bus = struct sd_bus;
using sd_bus_message = struct sd_bus_message;
using sd_event = struct sd_event;
using sd_event_source = struct sd_event_source;

namespace rdtd {

class LeaseHolder {
 public:
  // Called from the loop.
  struct Handlers {
    std::function<void()> on_granted;
    std::function<void(const std::string& why)> on_refused;  // see want()
    // By the daemon, which stopped or has no more room; or since it was let go: see want().
    std::function<void()> on_ended;
  };

  LeaseHolder(sd_event* event, std::string name, Handlers handlers);
  LeaseHolder(const LeaseHolder&) = delete;
  LeaseHolder& operator=(const LeaseHolder&) = delete;
  ~LeaseHolder();

  // Sets the policy that is to be in force from now on; "" for none. A policy that was refused is
  // requested again by the next call; until then, the previous one stays in force. After three
  // failed changes in a row, the lease is released, which limits nobody. `bus`: null while there is
  // none. Returns whether the daemon was asked.
  bool want(sd_bus* bus, const std::string& policy);
  // The lease ends at once, and what was asked for is forgotten.
  void release();

 private:
  [[nodiscard]] int ask(sd_bus* bus);
  void answered(sd_bus_message* answer);
  void take(int descriptor);
  void close();

  sd_event* event_;
  std::string name_;
  Handlers handlers_;
  std::string asked_, in_force_;
  bool known_ = true;  // whether in_force_ is what the daemon has
  int failures_ = 0;   // of the last changes
  struct Call;         // that is not answered
  std::unique_ptr<Call> call_;
  UniqueFd lease_;
  sd_event_source* hangup_ = nullptr;
};

}  // namespace rdtd
