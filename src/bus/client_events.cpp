// Client::follow(): what the daemon and the observer tell everybody.
#include <systemd/sd-bus.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "fields.hpp"
#include "names.hpp"
#include "rdtd/bus/client.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

// The owner of a name on the bus. Any program may address a signal to this one, and sd-bus takes it
// for one of the service: it knows the names in a match, and not who has them.
class Owner {
 public:
  explicit Owner(const char* name) : name_(name) {}
  void ask(sd_bus* bus) {
    sd_bus_creds* creds = nullptr;
    const char* unique = nullptr;
    if (sd_bus_get_name_creds(bus, name_, SD_BUS_CREDS_UNIQUE_NAME, &creds) >= 0 &&
        sd_bus_creds_get_unique_name(creds, &unique) >= 0)
      unique_ = unique;
    sd_bus_creds_unref(creds);
  }
  [[nodiscard]] bool is(const std::string& name) const { return name == name_; }
  void changed_to(const char* unique) { unique_ = unique; }
  [[nodiscard]] bool sent(sd_bus_message* signal) const {
    const char* sender = sd_bus_message_get_sender(signal);
    return sender != nullptr && !unique_.empty() && sender == unique_;
  }

 private:
  const char* name_;
  std::string unique_;  // ":1.42"; empty while nobody has it
};

struct Following {
  const std::function<bool(const Client::Event&)>& listener;
  Owner daemon{bus_name}, observer{observer_name};
  bool over = false;
  void tell(const Client::Event& event) { over = over || !listener(event); }
};

int on_signal(sd_bus_message* signal, void* userdata, sd_bus_error*) {
  auto& following = *static_cast<Following*>(userdata);
  if (!following.daemon.sent(signal)) return 0;
  Client::Event event;
  int r = 0;
  if (sd_bus_message_is_signal(signal, bus_interface, "TaskAssigned") > 0) {
    r = wire::read(signal, event.pid);
    if (r >= 0) r = wire::read(signal, event.group);
    if (r >= 0) r = wire::read(signal, event.rule);
  } else if (sd_bus_message_is_signal(signal, bus_interface, "DriftDetected") > 0) {
    event.kind = Client::Event::Kind::drift;
    r = wire::read(signal, event.what);
  } else if (sd_bus_message_is_signal(signal, bus_interface, "LeaseEnded") > 0) {
    event.kind = Client::Event::Kind::lease_ended;
    r = wire::read(signal, event.lease);
    if (r >= 0) r = wire::read(signal, event.what);
  } else if (sd_bus_message_is_signal(signal, bus_interface, "Reloaded") > 0) {
    event.kind = Client::Event::Kind::reloaded;
    r = wire::read(signal, event.success);
  } else {
    return 0;
  }
  if (r >= 0) following.tell(event);
  return 0;
}

int on_episode(sd_bus_message* signal, void* userdata, sd_bus_error*) {
  auto& following = *static_cast<Following*>(userdata);
  EpisodeRow episode;
  if (following.observer.sent(signal) && wire::read(signal, episode) >= 0)
    following.tell({.kind = Client::Event::Kind::episode, .what = episode.text});
  return 0;
}

int on_owner_changed(sd_bus_message* signal, void* userdata, sd_bus_error*) {
  auto& following = *static_cast<Following*>(userdata);
  const char* sender = sd_bus_message_get_sender(signal);
  const char *name = nullptr, *before = nullptr, *after = nullptr;
  if (sender == nullptr || sender != std::string_view(bus_driver) ||
      sd_bus_message_read(signal, "sss", &name, &before, &after) < 0)
    return 0;
  if (following.observer.is(name)) following.observer.changed_to(after);
  if (!following.daemon.is(name)) return 0;
  following.daemon.changed_to(after);
  const bool came = *after != '\0';
  if (came)  // the subscription was the previous daemon's
    (void)sd_bus_call_method_async(sd_bus_message_get_bus(signal), nullptr, bus_name, bus_path,
                                   bus_interface, "Subscribe", nullptr, nullptr, "");
  following.tell({.kind = came ? Client::Event::Kind::started : Client::Event::Kind::stopped});
  return 0;
}

int listen(sd_bus* bus, Following& following) {
  int r = sd_bus_match_signal(bus, nullptr, bus_name, bus_path, bus_interface, nullptr, on_signal,
                              &following);
  if (r >= 0)
    r = sd_bus_match_signal(bus, nullptr, observer_name, observer_path, observer_interface,
                            "EpisodeEnded", on_episode, &following);
  for (const char* name : {bus_name, observer_name}) {
    const std::string changes = std::string("type='signal',sender='") + bus_driver +
                                "',member='NameOwnerChanged',arg0='" + name + "'";
    if (r >= 0) r = sd_bus_add_match(bus, nullptr, changes.c_str(), on_owner_changed, &following);
  }
  // Not before the matches: a change after the answer must not be missed.
  following.daemon.ask(bus);
  following.observer.ask(bus);
  return r;
}

}  // namespace

Client::Answer<void> Client::follow(const std::function<bool(const Event&)>& listener) {
  Following following{listener};
  int r = listen(bus_.get(), following);
  if (r < 0)
    return std::unexpected(
        Failure{Failure::Kind::refused,
                std::string("cannot listen on the system bus: ") + std::strerror(-r)});
  if (auto subscribed = subscribe(); !subscribed) return subscribed;
  while (r >= 0) {
    r = sd_bus_process(bus_.get(), nullptr);
    if (following.over) return {};
    if (r == 0) r = sd_bus_wait(bus_.get(), UINT64_MAX);
    if (r == -EINTR) r = 0;
  }
  return std::unexpected(
      Failure{Failure::Kind::refused,
              std::string("the connection to the system bus ended: ") + std::strerror(-r)});
}

}  // namespace rdtd
