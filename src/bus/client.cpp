#include "rdtd/bus/client.hpp"

#include <systemd/sd-bus.h>

#include <cerrno>
#include <cstring>

#include "names.hpp"

namespace rdtd {

namespace {

// A reload looks at every process of the machine, after a person may have been asked for a password
// for 120 s.
constexpr uint64_t call_timeout = 180'000'000;  // microseconds

struct Call {
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    sd_bus_error_free(&error);
    sd_bus_message_unref(request);
    sd_bus_message_unref(reply);
  }

  // The reply to a method call whose arguments are appended already.
  [[nodiscard]] Client::Answer<sd_bus_message*> send(sd_bus* bus) {
    (void)sd_bus_message_set_auto_start(request, 0);
    const int r = sd_bus_call(bus, request, call_timeout, &error, &reply);
    if (r >= 0) return reply;
    return std::unexpected(failure(r));
  }

  [[nodiscard]] Client::Failure failure(int r) const {
    using enum Client::Failure::Kind;
    const std::string text = error.message != nullptr ? error.message : std::strerror(-r);
    if (sd_bus_error_has_name(&error, SD_BUS_ERROR_SERVICE_UNKNOWN) != 0 ||
        sd_bus_error_has_name(&error, SD_BUS_ERROR_NAME_HAS_NO_OWNER) != 0 ||
        sd_bus_error_has_name(&error, SD_BUS_ERROR_NO_REPLY) != 0)
      return {not_running, "rdtd is not running: systemctl start rdtd"};
    const std::string refusal = std::string(bus_error_prefix) + "NotPermitted";
    if (sd_bus_error_has_name(&error, refusal.c_str()) != 0)
      return {not_permitted, "not permitted: " + text};
    return {refused, text};
  }

  sd_bus_error error = SD_BUS_ERROR_NULL;
  sd_bus_message* request = nullptr;
  sd_bus_message* reply = nullptr;
};

Client::Failure malformed() {
  return {Client::Failure::Kind::refused,
          "the daemon's answer is malformed; is it of another version?"};
}

Client::Answer<sd_bus_message*> call_method(Call& call, sd_bus* bus, const char* interface,
                                            const char* method) {
  if (call.request == nullptr &&
      sd_bus_message_new_method_call(bus, &call.request, bus_name, bus_path, interface, method) < 0)
    return std::unexpected(malformed());
  return call.send(bus);
}

std::string text(const char* value) { return value == nullptr ? "" : value; }

// A method that changes something. A person at a desktop may be asked for a password.
template <class... Args>
Client::Answer<void> change(sd_bus* bus, const char* method, const char* types, Args... args) {
  Call call;
  if (sd_bus_message_new_method_call(bus, &call.request, bus_name, bus_path, bus_interface,
                                     method) < 0 ||
      sd_bus_message_append(call.request, types, args...) < 0 ||
      sd_bus_message_set_allow_interactive_authorization(call.request, 1) < 0)
    return std::unexpected(malformed());
  const auto reply = call.send(bus);
  if (!reply) return std::unexpected(reply.error());
  return {};
}

int read_shares(sd_bus_message* reply, std::vector<Share>& out) {
  int r = sd_bus_message_enter_container(reply, 'a', "(sus)");
  const char *resource = nullptr, *amount = nullptr;
  uint32_t domain = 0;
  while (r >= 0 && (r = sd_bus_message_read(reply, "(sus)", &resource, &domain, &amount)) > 0)
    out.push_back({text(resource), domain, text(amount)});
  return r < 0 ? r : sd_bus_message_exit_container(reply);
}

}  // namespace

void Client::Unref::operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }

Client::Answer<Client> Client::connect() {
  sd_bus* bus = nullptr;
  if (const int r = sd_bus_open_system(&bus); r < 0)
    return std::unexpected(
        Failure{Failure::Kind::not_running,
                std::string("cannot connect to the system bus: ") + std::strerror(-r)});
  return Client(std::unique_ptr<sd_bus, Unref>(bus));
}

Client::Answer<void> Client::reload() { return change(bus_.get(), "Reload", ""); }

Client::Answer<void> Client::reset() { return change(bus_.get(), "Reset", ""); }

Client::Answer<void> Client::assign(pid_t pid, const std::string& group) {
  return change(bus_.get(), "Assign", "us", static_cast<uint32_t>(pid), group.c_str());
}

Client::Answer<PlanSummary> Client::plan() {
  Call call;
  const auto reply = call_method(call, bus_.get(), bus_interface, "Plan");
  if (!reply) return std::unexpected(reply.error());
  PlanSummary out;
  const char *kind = nullptr, *group = nullptr, *line = nullptr;
  int r = sd_bus_message_enter_container(*reply, 'a', "(sss)");
  while (r >= 0 && (r = sd_bus_message_read(*reply, "(sss)", &kind, &group, &line)) > 0)
    out.steps.push_back({text(kind), text(group), text(line)});
  if (r >= 0) r = sd_bus_message_exit_container(*reply);
  if (r >= 0) r = sd_bus_message_read(*reply, "s", &line);
  if (r < 0) return std::unexpected(malformed());
  out.summary = text(line);
  return out;
}

Client::Answer<Explanation> Client::explain(pid_t pid) {
  Call call;
  if (sd_bus_message_new_method_call(bus_.get(), &call.request, bus_name, bus_path, bus_interface,
                                     "Explain") < 0 ||
      sd_bus_message_append(call.request, "u", static_cast<uint32_t>(pid)) < 0)
    return std::unexpected(malformed());
  const auto reply = call_method(call, bus_.get(), bus_interface, "Explain");
  if (!reply) return std::unexpected(reply.error());
  Explanation out;
  const char* name = nullptr;
  int r = sd_bus_message_read(*reply, "s", &name);
  out.name = text(name);
  if (r >= 0) r = sd_bus_message_enter_container(*reply, 'a', "(ssbs)");
  const char *place = nullptr, *group = nullptr, *reason = nullptr;
  int matched = 0;
  while (r >= 0 &&
         (r = sd_bus_message_read(*reply, "(ssbs)", &place, &group, &matched, &reason)) > 0)
    out.trials.push_back({text(place), text(group), matched != 0, text(reason)});
  if (r >= 0) r = sd_bus_message_exit_container(*reply);
  if (r >= 0) r = sd_bus_message_enter_container(*reply, 'a', "(us)");
  uint32_t tid = 0;
  while (r >= 0 && (r = sd_bus_message_read(*reply, "(us)", &tid, &group)) > 0)
    out.threads.emplace_back(tid, text(group));
  if (r < 0) return std::unexpected(malformed());
  return out;
}

Client::Answer<std::vector<Client::GroupRow>> Client::list_groups() {
  Call call;
  const auto reply = call_method(call, bus_.get(), bus_interface, "ListGroups");
  if (!reply) return std::unexpected(reply.error());
  std::vector<GroupRow> out;
  int r = sd_bus_message_enter_container(*reply, 'a', "(sa(sus)a(sus)ssuu)");
  while (r >= 0 && (r = sd_bus_message_enter_container(*reply, 'r', "sa(sus)a(sus)ssuu")) > 0) {
    GroupRow& row = out.emplace_back();
    const char *name = nullptr, *mode = nullptr, *cpus = nullptr;
    r = sd_bus_message_read(*reply, "s", &name);
    if (r >= 0) r = read_shares(*reply, row.asked);
    if (r >= 0) r = read_shares(*reply, row.granted);
    if (r >= 0) r = sd_bus_message_read(*reply, "ssuu", &mode, &cpus, &row.rules, &row.tasks);
    row.name = text(name), row.mode = text(mode), row.cpus = text(cpus);
    if (r >= 0) r = sd_bus_message_exit_container(*reply);
  }
  if (r < 0) return std::unexpected(malformed());
  return out;
}

Client::Answer<ManagerProperties> Client::properties() {
  Call call;
  if (sd_bus_message_new_method_call(bus_.get(), &call.request, bus_name, bus_path,
                                     "org.freedesktop.DBus.Properties", "GetAll") < 0 ||
      sd_bus_message_append(call.request, "s", bus_interface) < 0)
    return std::unexpected(malformed());
  const auto reply = call_method(call, bus_.get(), "org.freedesktop.DBus.Properties", "GetAll");
  if (!reply) return std::unexpected(reply.error());
  ManagerProperties out;
  int r = sd_bus_message_enter_container(*reply, 'a', "{sv}");
  while (r >= 0 && (r = sd_bus_message_enter_container(*reply, 'e', "sv")) > 0) {
    const char* key = nullptr;
    const char* value = nullptr;
    r = sd_bus_message_read(*reply, "s", &key);
    const std::string name = text(key);
    const auto read_number = [&](uint64_t& number) {
      return sd_bus_message_read(*reply, "v", "t", &number);
    };
    const auto read_text = [&](std::string& string) {
      const int result = sd_bus_message_read(*reply, "v", "s", &value);
      string = text(value);
      return result;
    };
    if (r < 0) break;
    if (name == "State") {
      r = read_text(out.state);
    } else if (name == "LastReloadError") {
      r = read_text(out.last_reload_error);
    } else if (name == "LastReloadTimestamp") {
      r = read_number(out.last_reload_timestamp);
    } else if (name == "EventsSeen") {
      r = read_number(out.events_seen);
    } else if (name == "EventOverruns") {
      r = read_number(out.event_overruns);
    } else if (name == "Assignments") {
      if (r = sd_bus_message_enter_container(*reply, 'v', "a(sst)"); r >= 0)
        r = sd_bus_message_enter_container(*reply, 'a', "(sst)");
      const char* result = nullptr;
      uint64_t threads = 0;
      while (r >= 0 && (r = sd_bus_message_read(*reply, "(sst)", &value, &result, &threads)) > 0)
        out.assignments.push_back({text(value), text(result), threads});
      if (r >= 0) r = sd_bus_message_exit_container(*reply);
      if (r >= 0) r = sd_bus_message_exit_container(*reply);
    } else if (name == "Drift") {
      r = read_number(out.drift);
    } else if (name == "ConfigFiles" || name == "Problems") {
      auto& texts = name == "Problems" ? out.problems : out.config_files;
      if (r = sd_bus_message_enter_container(*reply, 'v', "as"); r >= 0)
        r = sd_bus_message_enter_container(*reply, 'a', "s");
      while (r >= 0 && (r = sd_bus_message_read(*reply, "s", &value)) > 0)
        texts.push_back(text(value));
      if (r >= 0) r = sd_bus_message_exit_container(*reply);
      if (r >= 0) r = sd_bus_message_exit_container(*reply);
    } else {
      r = sd_bus_message_skip(*reply, "v");
    }
    if (r >= 0) r = sd_bus_message_exit_container(*reply);
  }
  if (r < 0) return std::unexpected(malformed());
  return out;
}

namespace {

using Tell = std::function<void(const Client::Event&)>;

int on_signal(sd_bus_message* signal, void* userdata, sd_bus_error*) {
  const auto& tell = *static_cast<const Tell*>(userdata);
  Client::Event event;
  const char *first = nullptr, *second = nullptr;
  if (sd_bus_message_is_signal(signal, bus_interface, "TaskAssigned") > 0) {
    if (sd_bus_message_read(signal, "uss", &event.pid, &first, &second) < 0) return 0;
    event.group = text(first);
    event.rule = text(second);
  } else if (sd_bus_message_is_signal(signal, bus_interface, "DriftDetected") > 0) {
    event.kind = Client::Event::Kind::drift;
    if (sd_bus_message_read(signal, "s", &first) < 0) return 0;
    event.what = text(first);
  } else if (sd_bus_message_is_signal(signal, bus_interface, "Reloaded") > 0) {
    event.kind = Client::Event::Kind::reloaded;
    int success = 0;
    if (sd_bus_message_read(signal, "b", &success) < 0) return 0;
    event.success = success != 0;
  } else {
    return 0;
  }
  tell(event);
  return 0;
}

int on_owner_changed(sd_bus_message* signal, void* userdata, sd_bus_error*) {
  const char *name = nullptr, *before = nullptr, *after = nullptr;
  if (sd_bus_message_read(signal, "sss", &name, &before, &after) < 0) return 0;
  const bool came = text(after) != "";
  if (came) {
    // The subscription went with the daemon that it was made with.
    Call call;
    if (sd_bus_message_new_method_call(sd_bus_message_get_bus(signal), &call.request, bus_name,
                                       bus_path, bus_interface, "Subscribe") >= 0)
      (void)sd_bus_call_async(sd_bus_message_get_bus(signal), nullptr, call.request, nullptr,
                              nullptr, call_timeout);
  }
  (*static_cast<const Tell*>(userdata))(
      {.kind = came ? Client::Event::Kind::started : Client::Event::Kind::stopped});
  return 0;
}

}  // namespace

Client::Answer<void> Client::follow(const Tell& tell) {
  // sd-bus hands the pointer back as it was given; nothing writes through it.
  void* userdata = const_cast<Tell*>(
      &tell);  // NOLINT(cppcoreguidelines-pro-type-const-cast): the C interface takes void*
  int r = sd_bus_match_signal(bus_.get(), nullptr, bus_name, bus_path, bus_interface, nullptr,
                              on_signal, userdata);
  const std::string owner =
      std::string("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='") +
      bus_name + "'";
  if (r >= 0) r = sd_bus_add_match(bus_.get(), nullptr, owner.c_str(), on_owner_changed, userdata);
  if (r < 0)
    return std::unexpected(
        Failure{Failure::Kind::refused,
                std::string("cannot listen on the system bus: ") + std::strerror(-r)});
  Call call;
  if (const auto reply = call_method(call, bus_.get(), bus_interface, "Subscribe"); !reply)
    return std::unexpected(reply.error());
  while (r >= 0) {
    r = sd_bus_process(bus_.get(), nullptr);
    if (r == 0) r = sd_bus_wait(bus_.get(), UINT64_MAX);
    if (r == -EINTR) r = 0;
  }
  return std::unexpected(
      Failure{Failure::Kind::refused, std::string("the system bus went: ") + std::strerror(-r)});
}

}  // namespace rdtd
