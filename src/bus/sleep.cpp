// The end of a suspend, which logind announces (org.freedesktop.login1(5), PrepareForSleep): CPUs
// were offline meanwhile, without uevents.
#include "objects.hpp"

namespace rdtd {

namespace {

// The match names the sender, so that the bus passes on only what logind broadcasts. sd-bus cannot
// tell who has a name, but the filter drops the signals that others address to rdtd.
int on_prepare_for_sleep(sd_bus_message* signal, void* objects, sd_bus_error*) {
  int begins = 1;
  if (sd_bus_message_read_basic(signal, 'b', &begins) > 0 && begins == 0)
    objects_of(objects).changes.resumed();
  return 0;
}

// Without this function, sd-bus closes the connection if the match is refused.
int on_installed(sd_bus_message*, void*, sd_bus_error*) { return 0; }

}  // namespace

int add_sleep_match(sd_bus* bus, Objects& objects) {
  return sd_bus_match_signal_async(bus, nullptr, "org.freedesktop.login1",
                                   "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
                                   "PrepareForSleep", on_prepare_for_sleep, on_installed, &objects);
}

}  // namespace rdtd
