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
constexpr const char* mount_interface = "org.freedesktop.systemd1.Mount";

std::optional<std::string> property(sd_bus* bus, const std::string& path, const char* name,
                                    const char* interface = unit_interface) {
  char* text = nullptr;
  const int r =
      sd_bus_get_property_string(bus, service, path.c_str(), interface, name, nullptr, &text);
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

// org.freedesktop.systemd1(5): LoadUnit reads the unit's file if the unit is not in memory. Returns
// a negative errno if it fails.
int Units::load(const std::string& name, std::string& path) {
  sd_bus_message* answer = nullptr;
  const int r = sd_bus_call_method(bus_.get(), service, "/org/freedesktop/systemd1",
                                   "org.freedesktop.systemd1.Manager", "LoadUnit", nullptr, &answer,
                                   "s", name.c_str());
  const Message reply(answer);
  if (r < 0) return r;
  const char* text = nullptr;
  const int read = sd_bus_message_read(answer, "o", &text);
  if (read >= 0) path = text;
  return read;
}

std::optional<Units::Unit> Units::find(const std::string& name) {
  std::string path;
  const int r = load(name, path);
  if (r == -EINVAL) return Unit{};  // no unit can have this name: a template without an instance
  if (r < 0) return std::nullopt;
  const auto loaded = property(bus_.get(), path, "LoadState");
  auto id = property(bus_.get(), path, "Id");
  auto state = property(bus_.get(), path, "ActiveState");
  if (!loaded || !id || !state) return std::nullopt;
  return Unit{*loaded != "not-found", wire::clean(*id), wire::clean(*state)};
}

std::optional<std::string> Units::mount_options(const std::string& name) {
  std::string path;
  if (load(name, path) < 0) return std::nullopt;
  const auto options = property(bus_.get(), path, "Options", mount_interface);
  return options ? std::optional(wire::clean(*options)) : std::nullopt;
}

}  // namespace rdtd
