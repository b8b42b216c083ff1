#include "rdtd/bus/service.hpp"

#include <systemd/sd-bus.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "names.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr std::array<const char*, 5> error_names = {"InvalidPolicy", "NoSuchProcess", "OutOfClosids", "Busy", "KernelRejected"};

int reply_error(sd_bus_message* message, const CallError& error) {
  const std::string name = std::string(bus_error_prefix) + error_names.at(static_cast<size_t>(error.kind));
  return sd_bus_reply_method_errorf(message, name.c_str(), "%s", error.text.c_str());
}

struct UnrefMessage {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Message = std::unique_ptr<sd_bus_message, UnrefMessage>;

Message new_reply(sd_bus_message* call) {
  sd_bus_message* reply = nullptr;
  (void)sd_bus_message_new_method_return(call, &reply);
  return Message(reply);
}

ManagerInterface& manager_of(void* userdata) { return *static_cast<ManagerInterface*>(userdata); }

int on_reload(sd_bus_message* message, void* userdata, sd_bus_error*) {
  const auto result = manager_of(userdata).reload();
  return result ? sd_bus_reply_method_return(message, "") : reply_error(message, result.error());
}

int on_check(sd_bus_message* message, void* userdata, sd_bus_error*) {
  const auto result = manager_of(userdata).check();
  return result ? sd_bus_reply_method_return(message, "s", result->c_str()) : reply_error(message, result.error());
}

int on_plan(sd_bus_message* message, void* userdata, sd_bus_error*) {
  const auto result = manager_of(userdata).plan();
  if (!result) return reply_error(message, result.error());
  const Message reply = new_reply(message);
  int r = sd_bus_message_open_container(reply.get(), 'a', "(sss)");
  for (const PlannedStep& step : result->steps)
    if (r >= 0) r = sd_bus_message_append(reply.get(), "(sss)", step.kind.c_str(), step.group.c_str(), step.text.c_str());
  if (r >= 0) r = sd_bus_message_close_container(reply.get());
  if (r >= 0) r = sd_bus_message_append(reply.get(), "s", result->summary.c_str());
  return r < 0 ? r : sd_bus_send(nullptr, reply.get(), nullptr);
}

int on_explain(sd_bus_message* message, void* userdata, sd_bus_error*) {
  uint32_t pid = 0;
  if (const int r = sd_bus_message_read(message, "u", &pid); r < 0) return r;
  sd_bus_creds* creds = nullptr;
  uid_t caller = UINT32_MAX;
  if (sd_bus_query_sender_creds(message, SD_BUS_CREDS_EUID, &creds) >= 0 && sd_bus_creds_get_euid(creds, &caller) < 0) caller = UINT32_MAX;
  sd_bus_creds_unref(creds);
  const auto result = manager_of(userdata).explain(static_cast<pid_t>(pid), caller);
  if (!result) return reply_error(message, result.error());
  const Message reply = new_reply(message);
  int r = sd_bus_message_append(reply.get(), "s", printable(result->name).c_str());
  if (r >= 0) r = sd_bus_message_open_container(reply.get(), 'a', "(ssbs)");
  for (const Explanation::Trial& trial : result->trials)
    if (r >= 0)
      r = sd_bus_message_append(reply.get(), "(ssbs)", trial.place.c_str(), trial.group.c_str(), static_cast<int>(trial.matched),
                                printable(trial.reason).c_str());
  if (r >= 0) r = sd_bus_message_close_container(reply.get());
  if (r >= 0) r = sd_bus_message_open_container(reply.get(), 'a', "(us)");
  for (const auto& [tid, group] : result->threads)
    if (r >= 0) r = sd_bus_message_append(reply.get(), "(us)", tid, group.c_str());
  if (r >= 0) r = sd_bus_message_close_container(reply.get());
  return r < 0 ? r : sd_bus_send(nullptr, reply.get(), nullptr);
}

int on_list_groups(sd_bus_message* message, void* userdata, sd_bus_error*) {
  const Message reply = new_reply(message);
  int r = sd_bus_message_open_container(reply.get(), 'a', "(sssssuu)");
  for (const GroupStatus& group : manager_of(userdata).list_groups())
    if (r >= 0)
      r = sd_bus_message_append(reply.get(), "(sssssuu)", group.name.c_str(), group.asked.c_str(), group.granted.c_str(), group.mode.c_str(),
                                group.cpus.c_str(), group.rules, group.tasks);
  if (r >= 0) r = sd_bus_message_close_container(reply.get());
  return r < 0 ? r : sd_bus_send(nullptr, reply.get(), nullptr);
}

int get_property(sd_bus*, const char*, const char*, const char* property, sd_bus_message* reply, void* userdata, sd_bus_error*) {
  const std::string_view name = property;
  if (name == "Version") return sd_bus_message_append(reply, "s", RDTD_VERSION);
  const ManagerProperties now = manager_of(userdata).properties();
  if (name == "State") return sd_bus_message_append(reply, "s", now.state.c_str());
  if (name == "LastReloadError") return sd_bus_message_append(reply, "s", now.last_reload_error.c_str());
  if (name == "LastReloadTimestamp") return sd_bus_message_append(reply, "t", now.last_reload_timestamp);
  if (name == "EventsSeen") return sd_bus_message_append(reply, "t", now.events_seen);
  if (name == "EventOverruns") return sd_bus_message_append(reply, "t", now.event_overruns);
  if (name == "Assigned") return sd_bus_message_append(reply, "t", now.assigned);
  if (name == "Drift") return sd_bus_message_append(reply, "t", now.drift);
  int r = sd_bus_message_open_container(reply, 'a', "s");  // ConfigFiles
  for (const std::string& file : now.config_files)
    if (r >= 0) r = sd_bus_message_append(reply, "s", file.c_str());
  return r < 0 ? r : sd_bus_message_close_container(reply);
}

// The macros of sd-bus.h are C: their casts and initialisers are not ours to mend.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wpedantic"
const std::array vtable = {
    sd_bus_vtable SD_BUS_VTABLE_START(0),
    // Without SD_BUS_VTABLE_UNPRIVILEGED a method is for root.
    sd_bus_vtable SD_BUS_METHOD("Reload", "", "", on_reload, 0),
    sd_bus_vtable SD_BUS_METHOD("Check", "", "s", on_check, SD_BUS_VTABLE_UNPRIVILEGED),
    sd_bus_vtable SD_BUS_METHOD("Plan", "", "a(sss)s", on_plan, SD_BUS_VTABLE_UNPRIVILEGED),
    sd_bus_vtable SD_BUS_METHOD("Explain", "u", "sa(ssbs)a(us)", on_explain, SD_BUS_VTABLE_UNPRIVILEGED),
    sd_bus_vtable SD_BUS_METHOD("ListGroups", "", "a(sssssuu)", on_list_groups, SD_BUS_VTABLE_UNPRIVILEGED),
    sd_bus_vtable SD_BUS_PROPERTY("Version", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    sd_bus_vtable SD_BUS_PROPERTY("State", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("ConfigFiles", "as", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("LastReloadError", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("LastReloadTimestamp", "t", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("EventsSeen", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("EventOverruns", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("Assigned", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("Drift", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_SIGNAL("Reloaded", "b", 0),
    sd_bus_vtable SD_BUS_SIGNAL("DriftDetected", "s", 0),
    sd_bus_vtable SD_BUS_VTABLE_END,
};
#pragma GCC diagnostic pop

class BusService final : public Service {
 public:
  BusService(sd_bus* bus, sd_bus_slot* slot) : bus_(bus), slot_(slot) {}
  BusService(const BusService&) = delete;
  BusService& operator=(const BusService&) = delete;
  ~BusService() override {
    sd_bus_slot_unref(slot_);
    sd_bus_flush_close_unref(bus_);
  }

  void emit_reloaded(bool success) override {
    (void)sd_bus_emit_properties_changed(bus_, bus_path, bus_interface, "State", "ConfigFiles", "LastReloadError", "LastReloadTimestamp", nullptr);
    (void)sd_bus_emit_signal(bus_, bus_path, bus_interface, "Reloaded", "b", static_cast<int>(success));
  }
  void emit_drift(std::string_view what) override { (void)sd_bus_emit_signal(bus_, bus_path, bus_interface, "DriftDetected", "s", std::string(what).c_str()); }

 private:
  sd_bus* bus_;
  sd_bus_slot* slot_;
};

Error bus_error(const char* operation, int r) { return {operation, "the system bus", -r, {}}; }

}  // namespace

Result<std::unique_ptr<Service>> Service::open(sd_event* event, ManagerInterface& manager) {
  sd_bus* bus = nullptr;
  int r = sd_bus_open_system(&bus);
  if (r < 0) return std::unexpected(bus_error("connect to", r));
  sd_bus_slot* slot = nullptr;
  if (r = sd_bus_add_object_vtable(bus, &slot, bus_path, bus_interface, vtable.data(), &manager); r >= 0)
    r = sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL);
  if (r >= 0) r = sd_bus_request_name_async(bus, nullptr, bus_name, 0, nullptr, nullptr);
  auto service = std::make_unique<BusService>(bus, slot);
  if (r < 0) return std::unexpected(bus_error("serve on", r));
  return service;
}

}  // namespace rdtd
