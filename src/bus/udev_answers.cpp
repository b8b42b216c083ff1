#include "rdtd/bus/udev_answers.hpp"

#include <systemd/sd-device.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <ctime>

namespace rdtd {

namespace {

constexpr uint64_t longest_usec = 2'000'000;

std::string text_of(sd_id128_t id) {
  std::array<char, SD_ID128_UUID_STRING_MAX> text{};
  return sd_id128_to_uuid_string(id, text.data());
}

}  // namespace

UdevAnswers::UdevAnswers(const char* subsystem) {
  sd_id128_t question{};
  int r = sd_id128_randomize(&question);
  uuid_ = text_of(question);
  if (r >= 0) r = sd_event_new(&event_);
  if (r >= 0) r = sd_device_monitor_new(&monitor_);
  if (r >= 0)
    r = sd_device_monitor_filter_add_match_subsystem_devtype(monitor_, subsystem, nullptr);
  if (r >= 0) r = sd_device_monitor_attach_event(monitor_, event_);
  if (r >= 0) r = sd_device_monitor_start(monitor_, on_device, this);
  listens_ = r >= 0 && ::access("/run/udev/control", F_OK) == 0;
}

UdevAnswers::~UdevAnswers() {
  sd_device_monitor_unref(monitor_);
  sd_event_unref(event_);
}

int UdevAnswers::on_device(sd_device_monitor* monitor, sd_device* device, void* self) {
  auto& answers = *static_cast<UdevAnswers*>(self);
  sd_id128_t question{};
  if (sd_device_get_trigger_uuid(device, &question) < 0 || text_of(question) != answers.uuid_ ||
      --answers.left_ > 0)
    return 0;
  return sd_event_exit(sd_device_monitor_get_event(monitor), 0);
}

void UdevAnswers::wait_for(size_t devices) {
  left_ = devices;
  if (left_ == 0 || !listens_) return;
  if (sd_event_add_time_relative(event_, nullptr, CLOCK_MONOTONIC, longest_usec, 0, nullptr,
                                 nullptr) >= 0)
    (void)sd_event_loop(event_);
}

}  // namespace rdtd
