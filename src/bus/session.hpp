// Session: one connection to the system bus, from the attempt to connect until it is lost. Never
// waits for the bus to come.
#pragma once

#include <expected>
#include <functional>
#include <memory>

#include "handles.hpp"
#include "objects.hpp"
#include "rdtd/base/error.hpp"

namespace rdtd {

class Session {
 public:
  // Called from the loop: once when the name is ours, and once with the cause when the session is
  // of no more use. The session may be destroyed later, but not in the call.
  struct Observer {
    std::function<void()> on_name;
    std::function<void(const Error& cause)> on_end;
  };

  [[nodiscard]] static Result<std::unique_ptr<Session>> open(sd_event* event, Handlers handlers,
                                                             Observer observer);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  [[nodiscard]] sd_bus* bus() const { return bus_; }
  [[nodiscard]] Objects& objects() { return *objects_; }

 private:
  Session(sd_bus* bus, Observer observer) : bus_(bus), observer_(std::move(observer)) {}
  [[nodiscard]] int serve(sd_event* event, Handlers handlers);
  static int on_disconnected(sd_bus_message*, void* self, sd_bus_error*);
  static int on_name(sd_bus_message* answer, void* self, sd_bus_error*);

  sd_bus* bus_;
  Observer observer_;
  std::unique_ptr<Objects> objects_;
};

}  // namespace rdtd
