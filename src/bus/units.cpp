#include "rdtd/bus/units.hpp"

#include <systemd/sd-bus.h>

#include <cerrno>
#include <cstdlib>

#include "handles.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

constexpr const char* service = "org.freedesktop.systemd1";
constexpr const char* unit_interface = "org.freedesktop.systemd1.Unit";

std::optional<std::string> property(sd_bus* bus, const char* path, const char* name) {
  char* text = nullptr;
  const int r =
      sd_bus_get_property_string(bus, service, path, unit_interface, name, nullptr, &text);
  const std::unique_ptr<char, decltype(&::free)> owned(text, &::free);
  return r < 0 ? std::nullopt : std::optional<std::string>(text);
}

}  // namespace

void Units::Unref::operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }

std::optional<Units> Units::connect() {
  sd_bus* bus = nullptr;
  if (sd_bus_open_system(&bus) < 0) return std::nullopt;
  return Units(bus);
}

// org.freedesktop.systemd1(5): LoadUnit reads the unit's file if the unit is not in memory.
std::optional<Units::Unit> Units::find(const std::string& name) {
  sd_bus_message* answer = nullptr;
  const int r = sd_bus_call_method(bus_.get(), service, "/org/freedesktop/systemd1",
                                   "org.freedesktop.systemd1.Manager", "LoadUnit", nullptr, &answer,
                                   "s", name.c_str());
  const Message reply(answer);
  if (r == -EINVAL) return Unit{};  // no unit can have this name: a template without an instance
  const char* path = nullptr;
  if (r < 0 || sd_bus_message_read(answer, "o", &path) < 0) return std::nullopt;
  const auto state = property(bus_.get(), path, "LoadState");
  auto id = property(bus_.get(), path, "Id");
  if (!state || !id) return std::nullopt;
  return Unit{*state != "not-found", wire::clean(*id)};
}

}  // namespace rdtd
