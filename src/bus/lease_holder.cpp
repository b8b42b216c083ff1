#include "rdtd/bus/lease_holder.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "handles.hpp"
#include "names.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

// Of the daemon, which may wait for others.
constexpr uint64_t answer_timeout = 180'000'000;  // microseconds
// Changes that fail one after the other before the lease is let go.
constexpr int max_failures = 3;

}  // namespace

struct LeaseHolder::Call {
  Slot slot;
};

LeaseHolder::LeaseHolder(sd_event* event, std::string name, Handlers handlers)
    : event_(sd_event_ref(event)), name_(std::move(name)), handlers_(std::move(handlers)) {}

LeaseHolder::~LeaseHolder() {
  release();
  sd_event_unref(event_);
}

bool LeaseHolder::want(sd_bus* bus, const std::string& policy) {
  // The answer that is still missing says what is in force.
  if (call_ != nullptr || (known_ && policy == in_force_)) return false;
  if (policy.empty()) {
    close();
    return false;
  }
  asked_ = policy;
  if (bus == nullptr) {
    handlers_.on_refused("there is no connection to the system bus");
    return false;
  }
  const int r = ask(bus);
  if (r >= 0) return true;
  call_.reset();
  handlers_.on_refused(std::string("cannot ask for a lease: ") + std::strerror(-r));
  return false;
}

int LeaseHolder::ask(sd_bus* bus) {
  sd_bus_message* made = nullptr;
  int r = sd_bus_message_new_method_call(bus, &made, bus_name, bus_path, bus_interface,
                                         lease_ ? "UpdateLease" : "Lease");
  const Message request(made);
  if (r >= 0) r = wire::append_all(made, name_, asked_);
  if (r >= 0) r = sd_bus_message_set_auto_start(made, 0);
  sd_bus_slot* slot = nullptr;
  const auto handler = [](sd_bus_message* answer, void* self, sd_bus_error*) {
    static_cast<LeaseHolder*>(self)->answered(answer);
    return 1;
  };
  if (r >= 0) r = sd_bus_call_async(bus, &slot, made, handler, this, answer_timeout);
  if (r >= 0) call_ = std::make_unique<Call>(Slot(slot));
  return r;
}

void LeaseHolder::answered(sd_bus_message* answer) {
  const std::unique_ptr<Call> call = std::exchange(call_, nullptr);
  if (const sd_bus_error* error = sd_bus_message_get_error(answer)) {
    // A lease of that name is there for as long as the daemon has not seen that it was closed. What
    // it holds after a change that failed, nobody knows, and it may be stricter than is wanted now.
    known_ = false;
    const bool lets_go = ++failures_ == max_failures;
    const bool ends = lets_go && lease_;
    if (lets_go) close();
    handlers_.on_refused(error->message != nullptr ? error->message : error->name);
    if (ends) handlers_.on_ended();
    return;
  }
  int of_message = -1;  // which closes it
  if (!lease_ && sd_bus_message_read_basic(answer, 'h', &of_message) > 0) take(of_message);
  if (!lease_) return handlers_.on_refused("the daemon's answer is malformed");
  in_force_ = asked_;
  known_ = true;
  failures_ = 0;
  handlers_.on_granted();
}

void LeaseHolder::take(int descriptor) {
  lease_ = UniqueFd(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
  if (lease_ && sd_event_add_io(
                    event_, &hangup_, lease_.get(), 0,
                    [](sd_event_source*, int, uint32_t, void* self) {
                      auto& holder = *static_cast<LeaseHolder*>(self);
                      holder.close();
                      holder.handlers_.on_ended();
                      return 0;
                    },
                    this) < 0)
    lease_ = {};
}

void LeaseHolder::close() {
  hangup_ = sd_event_source_disable_unref(hangup_);
  lease_ = {};
  in_force_.clear();
  known_ = true;
  failures_ = 0;
}

void LeaseHolder::release() {
  call_.reset();
  close();
}

}  // namespace rdtd
