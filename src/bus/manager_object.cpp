#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <variant>

#include "fields.hpp"
#include "limits.hpp"
#include "names.hpp"
#include "objects.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/snapshot.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

int refuse(sd_bus_message* call, const Refusal& refusal, const Caller& caller) {
  return wire::reply_error(call, error_name(refusal.kind), refusal.text_for(caller.root()));
}

int reply_done(sd_bus_message* call, const std::expected<void, Refusal>& result,
               const Caller& caller) {
  return result ? wire::reply(call) : refuse(call, result.error(), caller);
}

int reply_done(sd_bus_message* call, const std::expected<std::vector<std::string>, Refusal>& names,
               const Caller& caller) {
  return names ? wire::reply(call, *names) : refuse(call, names.error(), caller);
}

// A change may end after the handler has returned.
auto reply_later(sd_bus_message* call, const Caller& caller) {
  return [message = std::shared_ptr<sd_bus_message>(sd_bus_message_ref(call), sd_bus_message_unref),
          caller](const auto& result) { (void)reply_done(message.get(), result, caller); };
}

// The filter has seen the caller already, so that the bus is not asked again.
Caller caller_of(sd_bus_message* call, Objects& objects) {
  return objects.callers.find(call).value_or(Caller{});
}

int on_reload(sd_bus_message* call, void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  const Caller caller = caller_of(call, objects);
  return objects.authority.authorize(call, caller, action_reload, {},
                                     [&objects, caller](sd_bus_message* permitted) {
                                       objects.changes.reload(reply_later(permitted, caller));
                                       return 1;
                                     });
}

int on_adopt(sd_bus_message* call, void* userdata, sd_bus_error* error) {
  Objects& objects = objects_of(userdata);
  const Caller caller = caller_of(call, objects);
  std::vector<std::string> groups;
  const int r = wire::read_list(call, groups, max_names);
  const bool too_long = std::ranges::any_of(
      groups, [](const std::string& name) { return name.size() > max_name_length; });
  if (r == -E2BIG || too_long)
    return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                             "at most %zu groups can be named, with names of at most %zu bytes",
                             max_names, max_name_length);
  if (r < 0) return r;
  return objects.authority.authorize(call, caller, action_manage, {{"groups", join(groups, " ")}},
                                     [&objects, caller, groups](sd_bus_message* permitted) {
                                       objects.changes.adopt(groups,
                                                             reply_later(permitted, caller));
                                       return 1;
                                     });
}

// The caller's end of the lease; the message has a copy of its own.
int reply_descriptor(sd_bus_message* call, const UniqueFd& descriptor) {
  sd_bus_message* made = nullptr;
  int r = sd_bus_message_new_method_return(call, &made);
  const Message answer(made);
  const int fd = descriptor.get();
  if (r >= 0) r = sd_bus_message_append_basic(made, 'h', &fd);
  if (r >= 0) r = sd_bus_message_send(made);
  // The caller must not wait: its connection may be one that takes no descriptors.
  return r < 0 ? wire::reply_error(call, SD_BUS_ERROR_NOT_SUPPORTED,
                                   "the descriptor cannot be sent on this connection")
               : r;
}

// The arguments of a call about a lease. Returns the result of a method handler if they are wrong.
int read_lease(sd_bus_message* call, std::string& name, std::string& policy, sd_bus_error* error) {
  int r = wire::read(call, name);
  if (r >= 0) r = wire::read(call, policy);
  if (r < 0) return r;
  if (name.size() > max_name_length)
    return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                             "the name of a lease has at most %zu bytes", max_name_length);
  if (policy.size() > max_lease_size)
    return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                             "the policy of a lease has at most %zu bytes", max_lease_size);
  return 0;
}

int on_update_lease(sd_bus_message* call, void* userdata, sd_bus_error* error) {
  Objects& objects = objects_of(userdata);
  const Caller caller = caller_of(call, objects);
  std::string name, policy;
  if (const int r = read_lease(call, name, policy, error); r < 0) return r;
  return objects.authority.authorize(call, caller, action_manage, {{"lease", name}},
                                     [&objects, caller, name, policy](sd_bus_message* permitted) {
                                       objects.changes.update_lease(name, policy, caller,
                                                                    reply_later(permitted, caller));
                                       return 1;
                                     });
}

int on_lease(sd_bus_message* call, void* userdata, sd_bus_error* error) {
  Objects& objects = objects_of(userdata);
  const Caller caller = caller_of(call, objects);
  std::string name, policy;
  if (const int r = read_lease(call, name, policy, error); r < 0) return r;
  return objects.authority.authorize(
      call, caller, action_manage, {{"lease", name}},
      [&objects, caller, name, policy](sd_bus_message* permitted) {
        const std::shared_ptr<sd_bus_message> message(sd_bus_message_ref(permitted),
                                                      sd_bus_message_unref);
        objects.changes.lease(name, policy, caller,
                              [message, caller](std::expected<UniqueFd, Refusal> held) {
                                (void)(held ? reply_descriptor(message.get(), *held)
                                            : refuse(message.get(), held.error(), caller));
                              });
        return 1;
      });
}

int on_list_leases(sd_bus_message* call, void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  return wire::reply(call, objects.reads.list_leases(caller_of(call, objects)));
}

int on_reset(sd_bus_message* call, void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  const Caller caller = caller_of(call, objects);
  return objects.authority.authorize(call, caller, action_manage, {},
                                     [&objects, caller](sd_bus_message* permitted) {
                                       objects.changes.reset(reply_later(permitted, caller));
                                       return 1;
                                     });
}

int on_assign(sd_bus_message* call, void* userdata, sd_bus_error* error) {
  Objects& objects = objects_of(userdata);
  const Caller caller = caller_of(call, objects);
  uint32_t pid = 0;
  std::string group;
  int r = wire::read(call, pid);
  if (r >= 0) r = wire::read(call, group);
  if (r < 0) return r;
  // Of a monitoring group, it has two names and a slash.
  constexpr size_t longest = 2 * max_name_length + 1;
  if (group.size() > longest)
    return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                             "the name of a group has at most %zu bytes", longest);
  const auto prepared = objects.changes.prepare_assign(static_cast<pid_t>(pid), group, caller);
  if (!prepared) return refuse(call, prepared.error(), caller);
  return objects.authority.authorize(call, caller, action_assign, (*prepared)->details(),
                                     [assign = *prepared, caller](sd_bus_message* permitted) {
                                       return reply_done(permitted, assign->run(), caller);
                                     });
}

int on_check(sd_bus_message* call, void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  const Caller caller = caller_of(call, objects);
  return objects.authority.authorize(
      call, caller, action_inspect, {}, [&objects, caller](sd_bus_message* permitted) {
        const auto result = objects.reads.check();
        if (!result) return refuse(permitted, result.error(), caller);
        return wire::reply(permitted, caller.root() ? result->warnings : result->public_warnings);
      });
}

int on_plan(sd_bus_message* call, void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  const Caller caller = caller_of(call, objects);
  return objects.authority.authorize(
      call, caller, action_inspect, {}, [&objects, caller](sd_bus_message* permitted) {
        const auto result = objects.reads.plan();
        if (!result) return refuse(permitted, result.error(), caller);
        return wire::reply(permitted, result->steps, result->summary);
      });
}

int reply_explanation(sd_bus_message* call, const std::expected<Explanation, Refusal>& result,
                      const Caller& caller) {
  if (!result) return refuse(call, result.error(), caller);
  return wire::reply(call, result->name, result->trials, result->threads);
}

// Everybody may ask about their own processes, but not what the rules look for.
int on_explain(sd_bus_message* call, void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  const Caller caller = caller_of(call, objects);
  uint32_t pid = 0;
  if (const int r = wire::read(call, pid); r < 0) return r;
  const auto explain = [&objects, pid, caller](std::optional<uid_t> owner) -> Authority::Carry {
    return [&objects, pid, caller, owner](sd_bus_message* to) {
      return reply_explanation(to, objects.reads.explain(static_cast<pid_t>(pid), owner), caller);
    };
  };
  const auto owner = objects.reads.owner_of(static_cast<pid_t>(pid));
  if (!owner) return refuse(call, no_such_process(static_cast<pid_t>(pid)), caller);
  return objects.authority.authorize(call, caller, action_inspect, {{"pid", std::to_string(pid)}},
                                     explain(std::nullopt),
                                     *owner == caller.uid ? explain(owner) : nullptr);
}

int on_list_groups(sd_bus_message* call, void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  const auto groups = objects.reads.list_groups();
  std::vector<Client::GroupRow> rows;
  rows.reserve(groups->all().size());
  for (const GroupStatus& group : groups->all())
    rows.push_back({group.name, group.asked, group.granted, group.mode, group.cpus,
                    static_cast<uint32_t>(group.rules.size()), objects.tasks.in(group.name)});
  return wire::reply(call, rows);
}

int on_list_rules(sd_bus_message* call, void* userdata, sd_bus_error*) {
  return wire::reply(call, objects_of(userdata).reads.list_rules());
}

int on_list_locks(sd_bus_message* call, void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  const auto result = objects.reads.list_locks();
  if (!result) return refuse(call, result.error(), caller_of(call, objects));
  return wire::reply(call, *result);
}

using CounterOnBus = std::variant<uint64_t, double, std::string>;
// Control group, monitoring group, resource, domain, counters by name.
using CounterRow = std::tuple<std::string, std::string, std::string, uint32_t,
                              std::map<std::string, CounterOnBus>>;

CounterRow counter_row(const DomainCounters& of) {
  struct ToBus {
    CounterOnBus operator()(uint64_t number) const { return number; }
    CounterOnBus operator()(double number) const { return number; }
    CounterOnBus operator()(NoCount reason) const { return std::string(to_string(reason)); }
  };
  std::map<std::string, CounterOnBus> counters;
  for (const auto& [name, value] : of.counters) counters[name] = std::visit(ToBus{}, value);
  return {group_label(control_group_of(of.group)),
          is_mon_group(of.group) ? of.group.substr(of.group.rfind('/') + 1) : "", of.resource,
          static_cast<uint32_t>(of.domain), std::move(counters)};
}

int on_get_counters(sd_bus_message* call, void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  const auto result = objects.reads.counters();
  if (!result) return refuse(call, result.error(), caller_of(call, objects));
  std::vector<CounterRow> rows;
  rows.reserve(result->size());
  for (const DomainCounters& domain : *result) rows.push_back(counter_row(domain));
  return wire::reply(call, rows);
}

int on_subscribe(sd_bus_message* call, void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  return objects.subscribers.add(call, caller_of(call, objects));
}

int on_unsubscribe(sd_bus_message* call, void* userdata, sd_bus_error*) {
  return objects_of(userdata).subscribers.remove(call);
}

int get_property(sd_bus* bus, const char*, const char*, const char* property, sd_bus_message* reply,
                 void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  const std::string_view name = property;
  if (name == "Version") return wire::append(reply, std::string(RDTD_VERSION));
  const ManagerProperties now = objects.reads.properties();
  const bool root = objects.is_for_root(bus, reply);
  if (name == "LastReloadError")
    return wire::append(reply, root ? now.last_reload_error : now.last_reload_error_public);
  if (name == "Problems") return wire::append(reply, root ? now.problems : now.problems_public);
  if (name == "State") return wire::append(reply, now.state);
  if (name == "LastReloadTimestamp") return wire::append(reply, now.last_reload_timestamp);
  if (name == "EventsSeen") return wire::append(reply, now.events_seen);
  if (name == "Job") return wire::append(reply, now.job);
  if (name == "JobTimestamp") return wire::append(reply, now.job_timestamp);
  if (name == "EventOverruns") return wire::append(reply, now.event_overruns);
  if (name == "Assigned") return wire::append(reply, now.assigned());
  if (name == "Drift") return wire::append(reply, now.drift);
  if (name == "Assignments") return wire::append(reply, now.assignments);
  return wire::append(reply, now.config_files);
}

// The macros of sd-bus.h are C, with its casts and initializers.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wpedantic"
// sd-bus passes every call on; the handlers ask Authority.
constexpr uint64_t open_to_all = SD_BUS_VTABLE_UNPRIVILEGED;
const std::array vtable = {
    sd_bus_vtable SD_BUS_VTABLE_START(0),
    sd_bus_vtable SD_BUS_METHOD("Reload", "", "", on_reload, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("Check", "", , "s", SD_BUS_PARAM(warnings), on_check,
                                           open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES(
        "Plan", "", , "a(sss)s", SD_BUS_PARAM(steps) SD_BUS_PARAM(summary), on_plan, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("Adopt", "as", SD_BUS_PARAM(groups), "as",
                                           SD_BUS_PARAM(adopted), on_adopt, open_to_all),
    sd_bus_vtable SD_BUS_METHOD("Reset", "", "", on_reset, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("Lease", "ss", SD_BUS_PARAM(name) SD_BUS_PARAM(policy),
                                           "h", SD_BUS_PARAM(descriptor), on_lease, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("UpdateLease", "ss",
                                           SD_BUS_PARAM(name) SD_BUS_PARAM(policy), "", ,
                                           on_update_lease, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("ListLeases", "", , "a(sutass)", SD_BUS_PARAM(leases),
                                           on_list_leases, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("Assign", "us", SD_BUS_PARAM(pid) SD_BUS_PARAM(group),
                                           "", , on_assign, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES(
        "Explain", "u", SD_BUS_PARAM(pid), "sa(ssbs)a(us)",
        SD_BUS_PARAM(name) SD_BUS_PARAM(rules) SD_BUS_PARAM(threads), on_explain, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("ListGroups", "", , "a(sa(sus)a(sus)ssuu)",
                                           SD_BUS_PARAM(groups), on_list_groups, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("ListRules", "", , "a(ssu)", SD_BUS_PARAM(rules),
                                           on_list_rules, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("ListLocks", "", , "a(ssusstssssss)",
                                           SD_BUS_PARAM(locks), on_list_locks, open_to_all),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("GetCounters", "", , "a(sssua{sv})",
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
    sd_bus_vtable SD_BUS_PROPERTY("Job", "s", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("JobTimestamp", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("EventsSeen", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("EventOverruns", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("Assigned", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("Assignments", "a(sst)", get_property, 0, 0),
    sd_bus_vtable SD_BUS_PROPERTY("Drift", "t", get_property, 0, 0),
    sd_bus_vtable SD_BUS_SIGNAL_WITH_NAMES("Reloaded", "b", SD_BUS_PARAM(success), 0),
    sd_bus_vtable SD_BUS_SIGNAL_WITH_NAMES("DriftDetected", "s", SD_BUS_PARAM(what), 0),
    sd_bus_vtable SD_BUS_SIGNAL_WITH_NAMES("LeaseEnded", "ss",
                                           SD_BUS_PARAM(name) SD_BUS_PARAM(reason), 0),
    sd_bus_vtable SD_BUS_SIGNAL_WITH_NAMES(
        "TaskAssigned", "uss", SD_BUS_PARAM(pid) SD_BUS_PARAM(group) SD_BUS_PARAM(rule), 0),
    sd_bus_vtable SD_BUS_VTABLE_END,
};
#pragma GCC diagnostic pop

}  // namespace

int add_manager_object(sd_bus* bus, Objects& objects) {
  return sd_bus_add_object_vtable(bus, nullptr, bus_path, bus_interface, vtable.data(), &objects);
}

}  // namespace rdtd
