#include "callers.hpp"

#include <cerrno>

namespace rdtd {

namespace {

constexpr size_t max_known = 1024;

// One credential at a time: libsystemd looks for what the bus does not tell in /proc, and if that
// fails, it returns none of them.
Creds query(sd_bus_message* call, uint64_t mask, int& result) {
  sd_bus_creds* made = nullptr;
  result = sd_bus_query_sender_creds(call, mask, &made);
  return Creds(made);
}

}  // namespace

std::optional<Caller> Callers::find(sd_bus_message* call) {
  const char* sender = sd_bus_message_get_sender(call);
  if (sender == nullptr) return std::nullopt;
  if (const auto known = known_.find(std::string_view(sender)); known != known_.end())
    return known->second;
  int r = 0;
  const Creds user = query(call, SD_BUS_CREDS_EUID, r);
  Caller caller;
  // A sender that the bus cannot identify may do as much as the least privileged user.
  if (r < 0) return r == -ENXIO ? std::nullopt : std::optional(caller);
  if (sd_bus_creds_get_euid(user.get(), &caller.uid) < 0) caller.uid = UINT32_MAX;
  const Creds process = query(call, SD_BUS_CREDS_PID, r);
  if (r < 0 || sd_bus_creds_get_pid(process.get(), &caller.pid) < 0) caller.pid = 0;
  if (known_.size() >= max_known) {
    known_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  oldest_first_.emplace_back(sender);
  known_.emplace(sender, caller);
  return caller;
}

}  // namespace rdtd
