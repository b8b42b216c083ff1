#include <ctime>

#include "names.hpp"
#include "objects.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

constexpr int handled = 1, pass_on = 0;

int on_message(sd_bus_message* message, void* userdata, sd_bus_error*) {
  if (sd_bus_message_is_method_call(message, nullptr, nullptr) <= 0) return pass_on;
  const std::string_view member = sd_bus_message_get_member(message);
  const bool expects_reply = sd_bus_message_get_expect_reply(message) > 0;
  if (!expects_reply && !has_effect(member)) return handled;
  Objects& objects = objects_of(userdata);
  const auto caller = objects.callers.find(message);
  if (!caller) return handled;
  if (caller->root() || objects.budget.spend(caller->uid, cost_of(member), monotonic_now()))
    return pass_on;
  if (expects_reply)
    (void)wire::reply_error(message, error_name(Refusal::Kind::busy),
                            "this user sends too many requests; try again in a second");
  return handled;
}

}  // namespace

uint64_t monotonic_now() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

int add_filter(sd_bus* bus, Objects& objects) {
  return sd_bus_add_filter(bus, nullptr, on_message, &objects);
}

}  // namespace rdtd
