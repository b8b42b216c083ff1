#include "rdtd/bus/service.hpp"

#include <systemd/sd-bus.h>

#include <map>

#include "names.hpp"
#include "objects.hpp"

namespace rdtd {

namespace {

class BusService final : public Service {
 public:
  BusService(sd_bus* bus, ManagerInterface& manager)
      : bus_(bus), manager_(manager), object_(manager) {}
  BusService(const BusService&) = delete;
  BusService& operator=(const BusService&) = delete;
  ~BusService() override { sd_bus_flush_close_unref(bus_); }

  [[nodiscard]] int serve(sd_event* event) {
    int r = add_manager_object(bus_, object_);
    if (r >= 0) r = add_group_objects(bus_, manager_);
    if (r >= 0) r = add_log_control(bus_, manager_);
    if (r >= 0) r = sd_bus_attach_event(bus_, event, SD_EVENT_PRIORITY_NORMAL);
    if (r >= 0) r = sd_bus_set_exit_on_disconnect(bus_, 1);
    return r < 0 ? r : sd_bus_request_name(bus_, bus_name, 0);
  }

  void emit_reloaded(bool success) override {
    emit_groups();
    (void)sd_bus_emit_properties_changed(bus_, bus_path, bus_interface, "State", "Problems",
                                         "ConfigFiles", "LastReloadError", "LastReloadTimestamp",
                                         nullptr);
    (void)sd_bus_emit_signal(bus_, bus_path, bus_interface, "Reloaded", "b",
                             static_cast<int>(success));
  }

  void emit_state() override {
    (void)sd_bus_emit_properties_changed(bus_, bus_path, bus_interface, "State", "Problems",
                                         nullptr);
  }

  void emit_drift(std::string_view what) override {
    (void)sd_bus_emit_signal(bus_, bus_path, bus_interface, "DriftDetected", "s",
                             std::string(what).c_str());
  }

  void emit_assigned(pid_t pid, const std::string& group, const std::string& rule) override {
    if (sd_bus_track_count(object_.subscribers) == 0) return;
    (void)sd_bus_emit_signal(bus_, bus_path, bus_interface, "TaskAssigned", "uss",
                             static_cast<uint32_t>(pid), group.c_str(), rule.c_str());
  }

  // What came, went and changed since the last time.
  void emit_groups() override {
    std::map<std::string, GroupStatus> now;
    for (GroupStatus& group : manager_.list_groups()) now.emplace(group.name, std::move(group));
    for (const auto& [name, group] : told_)
      if (!now.contains(name))
        (void)sd_bus_emit_interfaces_removed(bus_, path_of_group(name).c_str(), group_interface,
                                             nullptr);
    for (const auto& [name, group] : now) {
      const auto before = told_.find(name);
      const std::string path = path_of_group(name);
      if (before == told_.end()) {
        (void)sd_bus_emit_interfaces_added(bus_, path.c_str(), group_interface, nullptr);
        continue;
      }
      const GroupStatus& old = before->second;
      const auto changed = [&](bool differs, const char* property) {
        if (differs)
          (void)sd_bus_emit_properties_changed(bus_, path.c_str(), group_interface, property,
                                               nullptr);
      };
      changed(group.description != old.description, "Description");
      changed(group.asked != old.asked, "Asked");
      changed(group.granted != old.granted, "Granted");
      changed(group.mode != old.mode, "Mode");
      changed(group.cpus != old.cpus, "CPUs");
      changed(group.rules != old.rules, "Rules");
    }
    told_ = std::move(now);
  }

 private:
  sd_bus* bus_;
  ManagerInterface& manager_;
  ManagerObject object_;
  std::map<std::string, GroupStatus> told_;
};

Error bus_error(const char* operation, int r) { return {operation, "the system bus", -r, {}}; }

}  // namespace

Result<std::unique_ptr<Service>> Service::open(sd_event* event, ManagerInterface& manager) {
  sd_bus* bus = nullptr;
  if (const int r = sd_bus_open_system(&bus); r < 0)
    return std::unexpected(bus_error("connect to", r));
  auto service = std::make_unique<BusService>(bus, manager);
  if (const int r = service->serve(event); r < 0) return std::unexpected(bus_error("serve on", r));
  return service;
}

}  // namespace rdtd
