#include "rdtd/bus/observer_service.hpp"

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include <array>
#include <cerrno>
#include <utility>

#include "fields.hpp"
#include "gate.hpp"
#include "handles.hpp"
#include "names.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

Error error_of_bus(const char* operation, int code) {
  return {operation, "the system bus", code, {}};
}

const ObserverService::Handlers& handlers_of(void* userdata) {
  return static_cast<const ObserverService*>(userdata)->handlers();
}

int on_list_episodes(sd_bus_message* call, void* userdata, sd_bus_error*) {
  uint64_t since = 0;
  if (const int r = wire::read(call, since); r < 0) return r;
  return wire::reply(call, handlers_of(userdata).episodes(since));
}

int on_list_contention(sd_bus_message* call, void* userdata, sd_bus_error*) {
  return wire::reply(call, handlers_of(userdata).counts());
}

int on_show_guard(sd_bus_message* call, void* userdata, sd_bus_error*) {
  const GuardStatus status = handlers_of(userdata).guard();
  return wire::reply(call, status.mode, status.problem, status.amounts, status.steps,
                     status.counts);
}

int on_manager_signal(sd_bus_message* signal, void* self, sd_bus_error*) {
  const ObserverService::Handlers& handlers = handlers_of(self);
  std::string what, why;
  bool success = false;
  if (sd_bus_message_is_signal(signal, bus_interface, "Reloaded") > 0) {
    if (wire::read(signal, success) < 0) return 0;
    handlers.on_mark(success ? "the policy was loaded" : "a policy was refused");
    if (success) handlers.on_reloaded();
  } else if (sd_bus_message_is_signal(signal, bus_interface, "DriftDetected") > 0) {
    if (wire::read(signal, what) >= 0) handlers.on_mark("drift: " + what);
  } else if (sd_bus_message_is_signal(signal, bus_interface, "LeaseEnded") > 0) {
    // That of the guard is its own doing.
    if (wire::read(signal, what) >= 0 && wire::read(signal, why) >= 0 && what != guard_lease_name)
      handlers.on_mark("lease " + what + " ended: " + why);
  }
  return 0;
}

int on_observer_name(sd_bus_message* answer, void* self, sd_bus_error*) {
  constexpr uint32_t primary_owner = 1, already_owner = 4;
  uint32_t result = 0;
  int error = -sd_bus_message_get_errno(answer);
  if (error == 0) error = wire::read(answer, result);
  if (error >= 0 && result != primary_owner && result != already_owner) error = -EEXIST;
  if (error < 0)
    handlers_of(self).on_end(error_of_bus("take the name " RDTD_BUS_NAME ".Observer on", -error));
  else
    handlers_of(self).on_name();
  return 1;
}

int on_observer_disconnected(sd_bus_message*, void* self, sd_bus_error*) {
  handlers_of(self).on_end(error_of_bus("stay on", ECONNRESET));
  return 0;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wpedantic"
const std::array observer_vtable = {
    sd_bus_vtable SD_BUS_VTABLE_START(0),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("ListEpisodes", "t", SD_BUS_PARAM(since),
                                           "a(ssuttbasass)", SD_BUS_PARAM(episodes),
                                           on_list_episodes, SD_BUS_VTABLE_UNPRIVILEGED),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("ListContention", "", , "a(sussstd)",
                                           SD_BUS_PARAM(counts), on_list_contention,
                                           SD_BUS_VTABLE_UNPRIVILEGED),
    sd_bus_vtable SD_BUS_METHOD_WITH_NAMES("ShowGuard", "", , "ssa(ssusdddsa(dd))a(tss)a(ssusst)",
                                           SD_BUS_PARAM(mode) SD_BUS_PARAM(problem) SD_BUS_PARAM(
                                               amounts) SD_BUS_PARAM(steps) SD_BUS_PARAM(counts),
                                           on_show_guard, SD_BUS_VTABLE_UNPRIVILEGED),
    sd_bus_vtable SD_BUS_SIGNAL_WITH_NAMES("EpisodeEnded", "(ssuttbasass)", SD_BUS_PARAM(episode),
                                           0),
    sd_bus_vtable SD_BUS_VTABLE_END,
};
#pragma GCC diagnostic pop

}  // namespace

Result<std::unique_ptr<ObserverService>> ObserverService::open(sd_event* event, Handlers handlers) {
  sd_bus* bus = nullptr;
  if (const int r = sd_bus_open_system(&bus); r < 0)
    return std::unexpected(error_of_bus("connect to", -r));
  std::unique_ptr<ObserverService> service(new ObserverService(bus, std::move(handlers)));
  if (const int r = service->serve(event); r < 0)
    return std::unexpected(error_of_bus("serve on", -r));
  return service;
}

ObserverService::ObserverService(sd_bus* bus, Handlers handlers)
    : bus_(bus), gate_(std::make_unique<Gate>(bus)), handlers_(std::move(handlers)) {}

ObserverService::~ObserverService() {
  gate_.reset();
  sd_bus_close_unref(bus_);
}

int ObserverService::serve(sd_event* event) {
  int r = sd_bus_set_exit_on_disconnect(bus_, 0);
  if (r >= 0) r = sd_bus_set_close_on_exit(bus_, 0);  // it would flush
  if (r >= 0) r = gate_->attach(bus_, event);
  if (r >= 0)
    r = sd_bus_add_object_vtable(bus_, nullptr, observer_path, observer_interface,
                                 observer_vtable.data(), this);
  if (r >= 0)
    r = sd_bus_match_signal_async(bus_, nullptr, bus_name, bus_path, bus_interface, nullptr,
                                  on_manager_signal, nullptr, this);
  if (r >= 0)
    r = sd_bus_match_signal(bus_, nullptr, "org.freedesktop.DBus.Local",
                            "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                            "Disconnected", on_observer_disconnected, this);
  if (r >= 0)
    r = sd_bus_request_name_async(bus_, nullptr, observer_name, 0, on_observer_name, this);
  return r < 0 ? r : sd_bus_attach_event(bus_, event, SD_EVENT_PRIORITY_NORMAL);
}

void ObserverService::emit_episode(const EpisodeRow& episode) const {
  sd_bus_message* made = nullptr;
  int r = sd_bus_message_new_signal(bus_, &made, observer_path, observer_interface, "EpisodeEnded");
  const Message signal(made);
  if (r >= 0) r = wire::append_all(made, episode);
  // Where the bus is lost there is nobody to tell.
  if (r >= 0) (void)sd_bus_send(bus_, made, nullptr);
}

}  // namespace rdtd
