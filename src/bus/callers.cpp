#include "callers.hpp"

#include "names.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

constexpr size_t max_known = 1024;
// Of one user the bus takes 256 connections, as a rule. Small calls always find room, whatever
// others send.
constexpr size_t max_unknown = 2048;
constexpr size_t max_calls = 8;  // of one sender
constexpr size_t small_call = 1024;
constexpr size_t max_large = 64;  // calls that are not small, of all senders

// A sender that the bus cannot identify may do as much as the least privileged user.
Caller read_credentials(sd_bus_message* answer) {
  Caller out;
  int r = sd_bus_message_enter_container(answer, 'a', "{sv}");
  while (r >= 0 && (r = sd_bus_message_enter_container(answer, 'e', "sv")) > 0) {
    std::string name;
    uint32_t number = 0;
    r = wire::read(answer, name);
    const bool wanted = name == "UnixUserID" || name == "ProcessID";
    if (r >= 0) r = wanted ? wire::read_variant(answer, number) : sd_bus_message_skip(answer, "v");
    if (r >= 0 && name == "UnixUserID") out.uid = number;
    if (r >= 0 && name == "ProcessID") out.pid = static_cast<pid_t>(number);
    if (r >= 0) r = sd_bus_message_exit_container(answer);
  }
  return out;
}

}  // namespace

std::optional<Caller> Callers::find(sd_bus_message* call) const {
  const char* sender = sd_bus_message_get_sender(call);
  if (sender == nullptr) return std::nullopt;
  const auto known = known_.find(std::string_view(sender));
  return known == known_.end() ? std::nullopt : std::optional(known->second);
}

bool Callers::ask(sd_bus_message* call) {
  const char* sender = sd_bus_message_get_sender(call);
  if (sender == nullptr) return false;
  const auto found = unknown_.find(std::string_view(sender));
  if (found != unknown_.end()) return keep(found->second, call);
  if (unknown_.size() >= max_unknown) return false;
  Unknown& unknown = unknown_.try_emplace(sender, this, sender).first->second;
  if (put_question(unknown)) return keep(unknown, call);
  unknown_.erase(sender);
  return false;
}

bool Callers::put_question(Unknown& unknown) {
  sd_bus_slot* slot = nullptr;
  const int r = sd_bus_call_method_async(bus_, &slot, bus_driver, "/org/freedesktop/DBus",
                                         bus_driver, "GetConnectionCredentials", on_answer,
                                         &unknown, "s", unknown.sender.c_str());
  unknown.question.reset(slot);
  return r >= 0;
}

bool Callers::keep(Unknown& unknown, sd_bus_message* call) {
  const bool large = !wire::fits(call, small_call);
  if (unknown.calls.size() >= max_calls || (large && large_ >= max_large)) return false;
  if (large && !wire::fits(call, max_call_size)) return false;
  unknown.large += large ? 1 : 0;
  large_ += large ? 1 : 0;
  unknown.calls.emplace_back(sd_bus_message_ref(call));
  return true;
}

void Callers::remember(const std::string& sender, const Caller& caller) {
  if (known_.size() >= max_known) {
    known_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  oldest_first_.emplace_back(sender);
  known_.emplace(sender, caller);
}

int Callers::on_answer(sd_bus_message* answer, void* userdata, sd_bus_error*) {
  auto* waiting = static_cast<Unknown*>(userdata);
  Callers& all = *waiting->all;
  const auto node = all.unknown_.extract(waiting->sender);
  const Unknown& unknown = node.mapped();
  all.large_ -= unknown.large;
  if (sd_bus_message_is_method_error(answer, SD_BUS_ERROR_NAME_HAS_NO_OWNER) > 0) return 1;
  const bool failed = sd_bus_message_is_method_error(answer, nullptr) > 0;
  if (!failed) {
    const Caller caller = read_credentials(answer);
    all.remember(unknown.sender, caller);
    all.accounts_.charge(caller.uid, CallBudget::least);
  }
  for (const Message& call : unknown.calls)
    if (failed || sd_bus_enqueue_for_read(all.bus_, call.get()) < 0)
      (void)wire::reply_error(call.get(), error_name(Refusal::Kind::busy),
                              "the bus does not say who sent this request; try again");
  return 1;
}

}  // namespace rdtd
