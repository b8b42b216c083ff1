// org.freedesktop.LogControl1(5), which `systemctl service-log-level` speaks.
#include <array>
#include <cerrno>
#include <string_view>

#include "message.hpp"
#include "objects.hpp"

namespace rdtd {

namespace {

int get_property(sd_bus*, const char*, const char*, const char* property, sd_bus_message* reply,
                 void* userdata, sd_bus_error*) {
  const std::string_view name = property;
  if (name == "LogLevel")
    return sd_bus_message_append(reply, "s", manager_of(userdata).log_level().c_str());
  if (name == "LogTarget")
    return sd_bus_message_append(reply, "s", manager_of(userdata).log_target().c_str());
  return sd_bus_message_append(reply, "s", "rdtd");
}

int set_level(sd_bus*, const char*, const char*, const char*, sd_bus_message* value, void* userdata,
              sd_bus_error* error) {
  const char* level = nullptr;
  if (const int r = sd_bus_message_read(value, "s", &level); r < 0) return r;
  if (manager_of(userdata).set_log_level(level)) return 0;
  return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                           "there is no log level '%s'; there are debug, info, notice, warning, "
                           "err, crit, alert and emerg",
                           level);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wpedantic"
// Without SD_BUS_VTABLE_UNPRIVILEGED only root may set.
const std::array vtable = {
    sd_bus_vtable SD_BUS_VTABLE_START(0),
    sd_bus_vtable SD_BUS_WRITABLE_PROPERTY("LogLevel", "s", get_property, set_level, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("LogTarget", "s", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("SyslogIdentifier", "s", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_CONST),
    sd_bus_vtable SD_BUS_VTABLE_END,
};
#pragma GCC diagnostic pop

}  // namespace

int add_log_control(sd_bus* bus, ManagerInterface& manager) {
  return sd_bus_add_object_vtable(bus, nullptr, "/org/freedesktop/LogControl1",
                                  "org.freedesktop.LogControl1", vtable.data(), &manager);
}

}  // namespace rdtd
