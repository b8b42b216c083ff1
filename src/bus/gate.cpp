#include "gate.hpp"

#include <string>
#include <string_view>

#include "names.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

constexpr int handled = 1, pass_on = 0;

int refuse(sd_bus_message* call, const std::string& error, const char* why) {
  if (sd_bus_message_get_expect_reply(call) > 0) (void)wire::reply_error(call, error, why);
  return handled;
}

// The bus alone addresses signals to this connection. Those that others broadcast have matches.
bool is_addressed_signal(sd_bus_message* message) {
  const char* sender = sd_bus_message_get_sender(message);
  return sd_bus_message_is_signal(message, nullptr, nullptr) > 0 &&
         sd_bus_message_get_destination(message) != nullptr && sender != nullptr &&
         sender != std::string_view(bus_driver);
}

int on_message(sd_bus_message* message, void* userdata, sd_bus_error*) {
  if (sd_bus_message_is_method_call(message, nullptr, nullptr) <= 0)
    return is_addressed_signal(message) ? handled : pass_on;
  const bool expects_reply = sd_bus_message_get_expect_reply(message) > 0;
  if (!expects_reply && !has_effect(sd_bus_message_get_member(message))) return handled;
  Gate& gate = *static_cast<Gate*>(userdata);
  const auto refuse_path = [&] {
    return refuse(message, SD_BUS_ERROR_UNKNOWN_OBJECT, "there is no object with such a path");
  };
  const bool possible = is_possible_path(sd_bus_message_get_path(message));
  const auto caller = gate.callers.find(message);
  // Before anything is kept: a path may be long.
  if (!caller && !possible) return refuse_path();
  if (!caller && gate.callers.ask(message)) return handled;
  if (caller && !gate.accounts.allows(caller->uid))
    return refuse(message, error_name(Refusal::Kind::busy), no_time_left);
  if (caller) gate.accounts.begin(caller->uid);
  if (!possible) return refuse_path();
  if (!wire::fits(message, max_call_size))
    return refuse(message, SD_BUS_ERROR_LIMITS_EXCEEDED, "a request has at most 80 KiB");
  if (!caller)
    return refuse(message, error_name(Refusal::Kind::busy),
                  "too many requests wait until the bus says who sent them; try again");
  return pass_on;
}

}  // namespace

int Gate::attach(sd_bus* bus, sd_event* event) {
  const int r = accounts.attach(event);
  return r < 0 ? r : sd_bus_add_filter(bus, nullptr, on_message, this);
}

bool Gate::is_for_root(sd_bus* bus, sd_bus_message* message) const {
  uint8_t type = 0;
  sd_bus_message* call = sd_bus_get_current_message(bus);
  if (sd_bus_message_get_type(message, &type) < 0 || type != SD_BUS_MESSAGE_METHOD_RETURN ||
      call == nullptr)
    return false;
  const auto caller = callers.find(call);
  return caller && caller->root();
}

}  // namespace rdtd
