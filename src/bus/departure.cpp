#include "departure.hpp"

#include <string>
#include <utility>

#include "names.hpp"

namespace rdtd {

namespace {

// Without this function, sd-bus closes the connection if the match is refused.
int on_match_added(sd_bus_message*, void*, sd_bus_error*) { return 0; }

}  // namespace

// The question follows the match, so that no departure falls between them. The bus never reuses
// the name of a sender: any change of its owner is its end.
std::unique_ptr<Departure> Departure::watch(sd_bus* bus, const std::string& sender,
                                            std::function<void()> left) {
  std::unique_ptr<Departure> out(new Departure(std::move(left)));
  const std::string match = std::string("type='signal',sender='") + bus_driver +
                            "',member='NameOwnerChanged',arg0='" + sender + "'";
  sd_bus_slot* slot = nullptr;
  int r = sd_bus_add_match_async(bus, &slot, match.c_str(), on_change, on_match_added, out.get());
  out->change_.reset(slot);
  slot = nullptr;
  if (r >= 0)
    r = sd_bus_call_method_async(bus, &slot, bus_driver, "/org/freedesktop/DBus", bus_driver,
                                 "GetNameOwner", on_answer, out.get(), "s", sender.c_str());
  out->question_.reset(slot);
  return r < 0 ? nullptr : std::move(out);
}

int Departure::on_change(sd_bus_message*, void* self, sd_bus_error*) {
  if (const auto left = std::exchange(static_cast<Departure*>(self)->left_, nullptr)) left();
  return 0;
}

int Departure::on_answer(sd_bus_message* answer, void* self, sd_bus_error* error) {
  if (sd_bus_message_is_method_error(answer, SD_BUS_ERROR_NAME_HAS_NO_OWNER) > 0)
    (void)on_change(answer, self, error);
  return 0;
}

}  // namespace rdtd
