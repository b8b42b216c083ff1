#include "message.hpp"

#include <array>

#include "names.hpp"

namespace rdtd {

namespace {

constexpr std::array<const char*, 8> error_names = {
    "InvalidPolicy", "NoSuchGroup", "NoSuchProcess",  "NotSupported",
    "OutOfClosids",  "Busy",        "KernelRejected", "NotPermitted"};

}  // namespace

Message new_reply(sd_bus_message* call) {
  sd_bus_message* reply = nullptr;
  (void)sd_bus_message_new_method_return(call, &reply);
  return Message(reply);
}

int append_shares(sd_bus_message* message, const std::vector<Share>& shares) {
  return append_array(message, "(sus)", shares, [&](const Share& share) {
    return sd_bus_message_append(message, "(sus)", share.resource.c_str(), share.domain,
                                 share.text.c_str());
  });
}

int reply_error(sd_bus_message* call, const CallError& error) {
  const std::string name =
      std::string(bus_error_prefix) + error_names.at(static_cast<size_t>(error.kind));
  return sd_bus_reply_method_errorf(call, name.c_str(), "%s", error.text.c_str());
}

Caller caller_of(sd_bus_message* call) {
  Caller caller;
  sd_bus_creds* creds = nullptr;
  if (sd_bus_query_sender_creds(call, SD_BUS_CREDS_EUID | SD_BUS_CREDS_PID, &creds) < 0)
    return caller;
  if (sd_bus_creds_get_euid(creds, &caller.uid) < 0) caller.uid = UINT32_MAX;
  if (sd_bus_creds_get_pid(creds, &caller.pid) < 0) caller.pid = 0;
  sd_bus_creds_unref(creds);
  return caller;
}

}  // namespace rdtd
