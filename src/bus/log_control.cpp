// org.freedesktop.LogControl1(5), which `systemctl service-log-level` uses.
#include <array>
#include <cerrno>
#include <string_view>

#include "objects.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

int get_log_property(sd_bus*, const char*, const char*, const char* property, sd_bus_message* reply,
                     void* userdata, sd_bus_error*) {
  const std::string_view name = property;
  const LogControl& log = objects_of(userdata).log;
  if (name == "LogLevel") return wire::append(reply, log.level());
  if (name == "LogTarget") return wire::append(reply, log.target());
  return wire::append(reply, std::string("rdtd"));
}

int set_level(sd_bus*, const char*, const char*, const char*, sd_bus_message* value, void* userdata,
              sd_bus_error* error) {
  const auto caller = objects_of(userdata).callers.find(value);
  if (!caller || !caller->root())
    return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED,
                            "only root may set the level of the log");
  std::string level;
  if (const int r = wire::read(value, level); r < 0) return r;
  if (objects_of(userdata).log.set_level(level)) return 0;
  return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                           "there is no log level '%s'; the levels are debug, info, notice, "
                           "warning, err, crit, alert and emerg",
                           wire::clean(level).c_str());
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wpedantic"
// Without SD_BUS_VTABLE_UNPRIVILEGED, sd-bus would ask the bus who sets a property, and wait.
const std::array log_vtable = {
    sd_bus_vtable SD_BUS_VTABLE_START(0),
    sd_bus_vtable SD_BUS_WRITABLE_PROPERTY("LogLevel", "s", get_log_property, set_level, 0,
                                           SD_BUS_VTABLE_UNPRIVILEGED),
    sd_bus_vtable SD_BUS_PROPERTY("LogTarget", "s", get_log_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("SyslogIdentifier", "s", get_log_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_CONST),
    sd_bus_vtable SD_BUS_VTABLE_END,
};
#pragma GCC diagnostic pop

}  // namespace

int add_log_control(sd_bus* bus, Objects& objects) {
  return sd_bus_add_object_vtable(bus, nullptr, "/org/freedesktop/LogControl1",
                                  "org.freedesktop.LogControl1", log_vtable.data(), &objects);
}

}  // namespace rdtd
