#include <array>
#include <string_view>

#include "authorize.hpp"
#include "message.hpp"
#include "names.hpp"
#include "objects.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

ManagerInterface& of(void* userdata) { return static_cast<ManagerObject*>(userdata)->manager; }

int reply_done(sd_bus_message* call, const std::expected<void, CallError>& result) {
  return result ? sd_bus_reply_method_return(call, "") : reply_error(call, result.error());
}

int send(const Message& reply, int r) {
  return r < 0 ? r : sd_bus_send(nullptr, reply.get(), nullptr);
}

int on_reload(sd_bus_message* call, void* userdata, sd_bus_error*) {
  return authorize(
      call, action_reload,
      [](sd_bus_message* permitted, void* object) {
        return reply_done(permitted, of(object).reload());
      },
      userdata);
}

int on_reset(sd_bus_message* call, void* userdata, sd_bus_error*) {
  return authorize(
      call, action_manage,
      [](sd_bus_message* permitted, void* object) {
        return reply_done(permitted, of(object).reset());
      },
      userdata);
}

int carry_assign(sd_bus_message* call, void* userdata) {
  uint32_t pid = 0;
  const char* group = nullptr;
  if (const int r = sd_bus_message_read(call, "us", &pid, &group); r < 0) return r;
  return reply_done(call,
                    of(userdata).assign_by_hand(static_cast<pid_t>(pid), group, caller_of(call)));
}

int on_assign(sd_bus_message* call, void* userdata, sd_bus_error*) {
  return authorize(call, action_assign, carry_assign, userdata);
}

int on_check(sd_bus_message* call, void* userdata, sd_bus_error*) {
  const auto result = of(userdata).check();
  return result ? sd_bus_reply_method_return(call, "s", result->c_str())
                : reply_error(call, result.error());
}

int on_plan(sd_bus_message* call, void* userdata, sd_bus_error*) {
  const auto result = of(userdata).plan();
  if (!result) return reply_error(call, result.error());
  const Message reply = new_reply(call);
  int r = append_array(reply.get(), "(sss)", result->steps, [&](const PlannedStep& step) {
    return sd_bus_message_append(reply.get(), "(sss)", step.kind.c_str(), step.group.c_str(),
                                 step.text.c_str());
  });
  if (r >= 0) r = sd_bus_message_append(reply.get(), "s", result->summary.c_str());
  return send(reply, r);
}

int on_explain(sd_bus_message* call, void* userdata, sd_bus_error*) {
  uint32_t pid = 0;
  if (const int r = sd_bus_message_read(call, "u", &pid); r < 0) return r;
  const auto result = of(userdata).explain(static_cast<pid_t>(pid), caller_of(call));
  if (!result) return reply_error(call, result.error());
  const Message reply = new_reply(call);
  int r = sd_bus_message_append(reply.get(), "s", printable(result->name).c_str());
  if (r >= 0)
    r = append_array(reply.get(), "(ssbs)", result->trials, [&](const Explanation::Trial& trial) {
      return sd_bus_message_append(reply.get(), "(ssbs)", trial.place.c_str(), trial.group.c_str(),
                                   static_cast<int>(trial.matched),
                                   printable(trial.reason).c_str());
    });
  if (r >= 0)
    r = append_array(reply.get(), "(us)", result->threads, [&](const auto& thread) {
      return sd_bus_message_append(reply.get(), "(us)", thread.first, thread.second.c_str());
    });
  return send(reply, r);
}

int append_group(sd_bus_message* reply, const GroupStatus& group, size_t tasks) {
  int r = sd_bus_message_open_container(reply, 'r', "sa(sus)a(sus)ssuu");
  if (r >= 0) r = sd_bus_message_append(reply, "s", group.name.c_str());
  if (r >= 0) r = append_shares(reply, group.asked);
  if (r >= 0) r = append_shares(reply, group.granted);
  if (r >= 0)
    r = sd_bus_message_append(reply, "ssuu", group.mode.c_str(), group.cpus.c_str(),
                              static_cast<uint32_t>(group.rules.size()),
                              static_cast<uint32_t>(tasks));
  return r < 0 ? r : sd_bus_message_close_container(reply);
}

int on_list_groups(sd_bus_message* call, void* userdata, sd_bus_error*) {
  const Message reply = new_reply(call);
  ManagerInterface& manager = of(userdata);
  return send(reply, append_array(reply.get(), "(sa(sus)a(sus)ssuu)", manager.list_groups(),
                                  [&](const GroupStatus& group) {
                                    return append_group(reply.get(), group,
                                                        manager.tasks_in(group.name));
                                  }));
}

int append_counters(sd_bus_message* reply, const DomainCounters& domain) {
  int r = sd_bus_message_open_container(reply, 'r', "ssua{st}");
  if (r >= 0)
    r = sd_bus_message_append(reply, "ssu", domain.group.empty() ? "default" : domain.group.c_str(),
                              domain.mon_group.c_str(), static_cast<uint32_t>(domain.domain));
  const std::array counters = {std::pair{"llc_occupancy", domain.llc_occupancy},
                               std::pair{"mbm_total_bytes", domain.mbm_total_bytes},
                               std::pair{"mbm_local_bytes", domain.mbm_local_bytes}};
  if (r >= 0)
    r = append_array(reply, "{st}", counters, [&](const auto& counter) {
      return counter.second ? sd_bus_message_append(reply, "{st}", counter.first, *counter.second)
                            : 0;
    });
  return r < 0 ? r : sd_bus_message_close_container(reply);
}

int on_get_counters(sd_bus_message* call, void* userdata, sd_bus_error*) {
  const auto result = of(userdata).counters();
  if (!result) return reply_error(call, result.error());
  const Message reply = new_reply(call);
  return send(reply,
              append_array(reply.get(), "(ssua{st})", *result, [&](const DomainCounters& domain) {
                return append_counters(reply.get(), domain);
              }));
}

int on_no_subscribers(sd_bus_track*, void* userdata) {
  of(userdata).watch_assignments(false);
  return 1;  // 0 would have sd-bus call this again and again
}

int on_subscribe(sd_bus_message* call, void* userdata, sd_bus_error*) {
  if (const int r =
          sd_bus_track_add_sender(static_cast<ManagerObject*>(userdata)->subscribers, call);
      r < 0)
    return r;
  of(userdata).watch_assignments(true);
  return sd_bus_reply_method_return(call, "");
}

int on_unsubscribe(sd_bus_message* call, void* userdata, sd_bus_error*) {
  (void)sd_bus_track_remove_sender(static_cast<ManagerObject*>(userdata)->subscribers,
                                   call);  // who was none is none
  return sd_bus_reply_method_return(call, "");
}

int get_property(sd_bus*, const char*, const char*, const char* property, sd_bus_message* reply,
                 void* userdata, sd_bus_error*) {
  const std::string_view name = property;
  if (name == "Version") return sd_bus_message_append(reply, "s", RDTD_VERSION);
  const ManagerProperties now = of(userdata).properties();
  if (name == "State") return sd_bus_message_append(reply, "s", now.state.c_str());
  if (name == "LastReloadError")
    return sd_bus_message_append(reply, "s", now.last_reload_error.c_str());
  if (name == "LastReloadTimestamp")
    return sd_bus_message_append(reply, "t", now.last_reload_timestamp);
  if (name == "EventsSeen") return sd_bus_message_append(reply, "t", now.events_seen);
  if (name == "EventOverruns") return sd_bus_message_append(reply, "t", now.event_overruns);
  if (name == "Assigned") return sd_bus_message_append(reply, "t", now.assigned());
  if (name == "Drift") return sd_bus_message_append(reply, "t", now.drift);
  if (name == "Assignments")
    return append_array(reply, "(sst)", now.assignments, [&](const AssignmentCount& count) {
      return sd_bus_message_append(reply, "(sst)", count.group.c_str(), count.result.c_str(),
                                   count.threads);
    });
  if (name == "Problems")
    return append_array(reply, "s", now.problems, [&](const std::string& problem) {
      return sd_bus_message_append(reply, "s", printable_lines(problem).c_str());
    });
  return append_array(reply, "s", now.config_files, [&](const std::string& file) {
    return sd_bus_message_append(reply, "s", file.c_str());
  });
}

// The macros of sd-bus.h are C: their casts and initialisers are not ours to mend.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wpedantic"
// Every method is open to every caller as far as sd-bus goes; who may is asked by authorize().
constexpr uint64_t open_to_all = SD_BUS_VTABLE_UNPRIVILEGED;
const std::array vtable = {
    sd_bus_vtable SD_BUS_VTABLE_START(0),
    sd_bus_vtable SD_BUS_METHOD("Reload", "", "", on_reload, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("Check", "", , "s", SD_BUS_PARAM(warnings), on_check,
                                           open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES(
        "Plan", "", , "a(sss)s", SD_BUS_PARAM(steps) SD_BUS_PARAM(summary), on_plan, open_to_all),
    sd_bus_vtable SD_BUS_METHOD("Reset", "", "", on_reset, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("Assign", "us", SD_BUS_PARAM(pid) SD_BUS_PARAM(group),
                                           "", , on_assign, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES(
        "Explain", "u", SD_BUS_PARAM(pid), "sa(ssbs)a(us)",
        SD_BUS_PARAM(name) SD_BUS_PARAM(rules) SD_BUS_PARAM(threads), on_explain, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("ListGroups", "", , "a(sa(sus)a(sus)ssuu)",
                                           SD_BUS_PARAM(groups), on_list_groups, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("GetCounters", "", , "a(ssua{st})",
                                           SD_BUS_PARAM(counters), on_get_counters, open_to_all),
    sd_bus_vtable SD_BUS_METHOD("Subscribe", "", "", on_subscribe, open_to_all),
    sd_bus_vtable SD_BUS_METHOD("Unsubscribe", "", "", on_unsubscribe, open_to_all),
    sd_bus_vtable SD_BUS_PROPERTY("Version", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    sd_bus_vtable SD_BUS_PROPERTY("State", "s", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Problems", "as", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("ConfigFiles", "as", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("LastReloadError", "s", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("LastReloadTimestamp", "t", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("EventsSeen", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("EventOverruns", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("Assigned", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("Assignments", "a(sst)", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("Drift", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_SIGNAL_WITH_NAMES("Reloaded", "b", SD_BUS_PARAM(success), 0),
    sd_bus_vtable SD_BUS_SIGNAL_WITH_NAMES("DriftDetected", "s", SD_BUS_PARAM(what), 0),
    sd_bus_vtable SD_BUS_SIGNAL_WITH_NAMES(
        "TaskAssigned", "uss", SD_BUS_PARAM(pid) SD_BUS_PARAM(group) SD_BUS_PARAM(rule), 0),
    sd_bus_vtable SD_BUS_VTABLE_END,
};
#pragma GCC diagnostic pop

}  // namespace

int add_manager_object(sd_bus* bus, ManagerObject& object) {
  const int r = sd_bus_track_new(bus, &object.subscribers, on_no_subscribers, &object);
  return r < 0 ? r
               : sd_bus_add_object_vtable(bus, nullptr, bus_path, bus_interface, vtable.data(),
                                          &object);
}

}  // namespace rdtd
