#include "rdtd/bus/service.hpp"

#include <systemd/sd-event.h>

#include <optional>
#include <utility>
#include <vector>

#include "fields.hpp"
#include "names.hpp"
#include "session.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

constexpr uint64_t retry_interval = 1'000'000;  // microseconds

// The properties of a group whose values differ.
std::vector<std::string> changed_properties(const GroupStatus& before, const GroupStatus& after) {
  std::vector<std::string> out;
  const auto compare = [&](const char* property, const auto& old_value, const auto& new_value) {
    if (old_value != new_value) out.emplace_back(property);
  };
  compare("Description", before.description, after.description);
  compare("Asked", before.asked, after.asked);
  compare("Granted", before.granted, after.granted);
  compare("Mode", before.mode, after.mode);
  compare("CPUs", before.cpus, after.cpus);
  compare("Rules", before.rules, after.rules);
  return out;
}

class BusService final : public Service {
 public:
  BusService(sd_event* event, Handlers handlers, Report report)
      : event_(event),
        handlers_(handlers),
        report_(std::move(report)),
        announced_(handlers.reads.list_groups()) {}
  BusService(const BusService&) = delete;
  BusService& operator=(const BusService&) = delete;
  ~BusService() override {
    session_.reset();
    sd_event_source_disable_unref(retry_);
  }

  [[nodiscard]] int start() {
    const int r =
        sd_event_add_time_relative(event_, &retry_, CLOCK_MONOTONIC, 0, 0, on_retry, this);
    if (r >= 0) connect();
    return r;
  }

  void emit_reloaded(bool success) override {
    emit_groups();
    emit_changed(bus_path, bus_interface,
                 {"State", "Problems", "ConfigFiles", "LastReloadError", "LastReloadTimestamp"});
    emit("Reloaded", success);
  }

  void emit_state(const std::string& state) override {
    auto problems = handlers_.reads.properties().problems;
    const bool same = state == announced_state_ && problems == announced_problems_;
    announced_state_ = state;
    announced_problems_ = std::move(problems);
    if (same) return;
    emit_changed(bus_path, bus_interface, {"State", "Problems"});
  }

  void emit_drift(std::string_view what) override { emit("DriftDetected", std::string(what)); }

  void emit_lease_ended(const std::string& name, const std::string& reason) override {
    emit("LeaseEnded", name, reason);
  }

  void emit_assigned(pid_t pid, const std::string& group, const std::string& rule) override {
    if (has_name_) session_->objects().subscribers.emit_assigned(pid, group, rule);
  }

  void emit_groups() override {
    const auto now = handlers_.reads.list_groups();
    const auto before = std::exchange(announced_, now);
    if (!has_name_ || now == before) return;
    for (const GroupStatus& group : before->all())
      if (now->find(group.name) == nullptr)
        (void)sd_bus_emit_interfaces_removed(session_->bus(), path_of_group(group.name).c_str(),
                                             group_interface, nullptr);
    for (const GroupStatus& group : now->all()) {
      const std::string path = path_of_group(group.name);
      if (const GroupStatus* old = before->find(group.name))
        emit_changed(path.c_str(), group_interface, changed_properties(*old, group));
      else
        (void)sd_bus_emit_interfaces_added(session_->bus(), path.c_str(), group_interface, nullptr);
    }
  }

 private:
  void connect() {
    has_name_ = false;
    session_.reset();
    auto session = Session::open(
        event_, handlers_,
        {.on_name = [this] { on_name(); }, .on_end = [this](const Error& cause) { fail(cause); }});
    if (session)
      session_ = std::move(*session);
    else
      fail(session.error());
  }

  void on_name() {
    has_name_ = true;
    if (!std::exchange(reported_, true).value_or(false)) report_({});
  }

  void fail(const Error& cause) {
    has_name_ = false;
    if (std::exchange(reported_, false).value_or(true)) report_(std::unexpected(cause));
    (void)sd_event_source_set_time_relative(retry_, retry_interval);
    (void)sd_event_source_set_enabled(retry_, SD_EVENT_ONESHOT);
  }

  static int on_retry(sd_event_source*, uint64_t, void* self) {
    static_cast<BusService*>(self)->connect();
    return 0;
  }

  template <class... Ts>
  void emit(const char* signal, const Ts&... values) {
    if (!has_name_) return;
    sd_bus_message* made = nullptr;
    int r = sd_bus_message_new_signal(session_->bus(), &made, bus_path, bus_interface, signal);
    const Message message(made);
    if (r >= 0) r = wire::append_all(made, values...);
    if (r >= 0) (void)sd_bus_message_send(made);
  }

  void emit_changed(const char* path, const char* interface, std::vector<std::string> properties) {
    if (!has_name_ || properties.empty()) return;
    std::vector<char*> names;
    for (std::string& property : properties) names.push_back(property.data());
    names.push_back(nullptr);
    (void)sd_bus_emit_properties_changed_strv(session_->bus(), path, interface, names.data());
  }

  sd_event* event_;
  Handlers handlers_;
  Report report_;
  std::shared_ptr<const GroupList> announced_;  // the listeners on the bus know of these
  std::string announced_state_;
  std::vector<std::string> announced_problems_;
  std::unique_ptr<Session> session_;
  sd_event_source* retry_ = nullptr;
  bool has_name_ = false;
  std::optional<bool> reported_;  // whether the last report was of a connection
};

}  // namespace

Result<std::unique_ptr<Service>> Service::open(sd_event* event, Handlers handlers, Report report) {
  auto service = std::make_unique<BusService>(event, handlers, std::move(report));
  if (const int r = service->start(); r < 0)
    return std::unexpected(Error{"set a timer for", "the system bus", -r, {}});
  return service;
}

}  // namespace rdtd
