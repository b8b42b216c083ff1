#include "session.hpp"

#include <cerrno>

#include "names.hpp"

namespace rdtd {

namespace {

// For questions to the bus itself, which others wait for.
constexpr uint64_t daemon_call_timeout = 5'000'000;  // microseconds

Error bus_error(const char* operation, int code) { return {operation, "the system bus", code, {}}; }

}  // namespace

Result<std::unique_ptr<Session>> Session::open(sd_event* event, Handlers handlers,
                                               Observer observer) {
  sd_bus* bus = nullptr;
  if (const int r = sd_bus_open_system(&bus); r < 0)
    return std::unexpected(bus_error("connect to", -r));
  std::unique_ptr<Session> session(new Session(bus, std::move(observer)));
  if (const int r = session->serve(event, handlers); r < 0)
    return std::unexpected(bus_error("serve on", -r));
  return session;
}

// Nothing is flushed, which would wait for the bus: what it takes at once was written at once.
Session::~Session() {
  objects_.reset();
  sd_bus_close_unref(bus_);
}

int Session::serve(sd_event* event, Handlers handlers) {
  objects_ = std::make_unique<Objects>(bus_, handlers);
  int r = sd_bus_set_exit_on_disconnect(bus_, 0);
  if (r >= 0) r = sd_bus_set_close_on_exit(bus_, 0);  // it would flush
  if (r >= 0) r = sd_bus_set_method_call_timeout(bus_, daemon_call_timeout);
  if (r >= 0) r = objects_->attach(bus_, event);
  if (r >= 0) r = add_manager_object(bus_, *objects_);
  if (r >= 0) r = add_group_objects(bus_, *objects_);
  if (r >= 0) r = add_log_control(bus_, *objects_);
  if (r >= 0) r = add_sleep_match(bus_, *objects_);
  if (r >= 0)
    r = sd_bus_match_signal(bus_, nullptr, "org.freedesktop.DBus.Local",
                            "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                            "Disconnected", on_disconnected, this);
  if (r >= 0) r = sd_bus_request_name_async(bus_, nullptr, bus_name, 0, on_name, this);
  return r < 0 ? r : sd_bus_attach_event(bus_, event, SD_EVENT_PRIORITY_NORMAL);
}

int Session::on_disconnected(sd_bus_message*, void* self, sd_bus_error*) {
  static_cast<Session*>(self)->observer_.on_end(bus_error("stay on", ECONNRESET));
  return 0;
}

int Session::on_name(sd_bus_message* answer, void* self, sd_bus_error*) {
  const Session& session = *static_cast<Session*>(self);
  constexpr uint32_t primary_owner = 1, already_owner = 4;
  uint32_t result = 0;
  int error = -sd_bus_message_get_errno(answer);
  if (error == 0) error = sd_bus_message_read_basic(answer, 'u', &result);
  if (error < 0)
    session.observer_.on_end(bus_error("take the name " RDTD_BUS_NAME " on", -error));
  else if (result != primary_owner && result != already_owner)
    session.observer_.on_end(bus_error("take the name " RDTD_BUS_NAME " on", EEXIST));
  else
    session.observer_.on_name();
  return 1;
}

}  // namespace rdtd
