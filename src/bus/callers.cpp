#include "callers.hpp"

#include <cerrno>

namespace rdtd {

namespace {

constexpr size_t max_known = 1024;

}  // namespace

std::optional<Caller> Callers::find(sd_bus_message* call) {
  const char* sender = sd_bus_message_get_sender(call);
  if (sender == nullptr) return std::nullopt;
  if (const auto known = known_.find(std::string_view(sender)); known != known_.end())
    return known->second;
  sd_bus_creds* made = nullptr;
  const int r = sd_bus_query_sender_creds(call, SD_BUS_CREDS_EUID | SD_BUS_CREDS_PID, &made);
  const Creds creds(made);
  Caller caller;
  // A sender that the bus cannot identify may do as much as the least privileged user.
  if (r < 0) return r == -ENXIO ? std::nullopt : std::optional(caller);
  if (sd_bus_creds_get_euid(creds.get(), &caller.uid) < 0) caller.uid = UINT32_MAX;
  if (sd_bus_creds_get_pid(creds.get(), &caller.pid) < 0) caller.pid = 0;
  if (known_.size() >= max_known) {
    known_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  oldest_first_.emplace_back(sender);
  known_.emplace(sender, caller);
  return caller;
}

}  // namespace rdtd
