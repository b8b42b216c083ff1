#include "authorize.hpp"

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>

#include "names.hpp"
#include "rdtd/base/quota.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

// Somebody may have to enter a password.
constexpr uint64_t polkit_timeout = 120'000'000;  // microseconds
constexpr uint64_t quiet_timeout = 5'000'000;     // nobody has
// Calls that wait for polkit: of all users, of one, and those that ordinary users leave free: the
// guard's observer is a user of the system.
constexpr size_t max_pending = 64, places_of_system = 16;
constexpr auto max_pending_per_user = 4;
// The price of a question for its user: polkit has more work with it than this daemon.
constexpr uint64_t price_of_question = 10'000;  // microseconds

constexpr const char* polkit_name = "org.freedesktop.PolicyKit1";
constexpr const char* polkit_path = "/org/freedesktop/PolicyKit1/Authority";
constexpr const char* polkit_interface = "org.freedesktop.PolicyKit1.Authority";

int refuse(sd_bus_message* call, Refusal::Kind kind, const char* why) {
  return wire::reply_error(call, error_name(kind), why);
}

Message new_question(sd_bus* bus, const char* method) {
  sd_bus_message* made = nullptr;
  (void)sd_bus_message_new_method_call(bus, &made, polkit_name, polkit_path, polkit_interface,
                                       method);
  return Message(made);
}

}  // namespace

int Authority::authorize(sd_bus_message* call, const Caller& caller, const char* action,
                         const Details& details, Carry carry, Carry otherwise) {
  using enum Refusal::Kind;
  if (caller.root()) return carry(call);
  const bool too_many_of_user =
      std::ranges::count(pending_, caller.uid, &Pending::uid) >= max_pending_per_user;
  const size_t places = max_pending - (is_ordinary_user(caller.uid) ? places_of_system : 0);
  if (too_many_of_user || pending_.size() >= places) {
    if (otherwise) accounts_.charge(caller.uid, price_of_question);
    if (otherwise) return otherwise(call);
    return refuse(call, busy,
                  too_many_of_user ? "too many requests of this user wait for polkit"
                                   : "too many requests wait for polkit");
  }
  accounts_.charge(caller.uid, price_of_question);
  Pending& pending =
      pending_.emplace_back(this, Message(sd_bus_message_ref(call)), caller.uid, std::move(carry),
                            std::move(otherwise), "rdtd-" + std::to_string(questions_++));
  const int r = ask(pending, action, details);
  if (r < 0) pending_.pop_back();
  return r;
}

int Authority::ask(Pending& pending, const char* action, const Details& details) {
  const char* sender = sd_bus_message_get_sender(pending.call.get());
  pending.sender = Departure::watch(bus_, sender, [this, waiting = &pending] { cancel(waiting); });
  if (pending.sender == nullptr) return -ENOMEM;
  const Message question = new_question(bus_, "CheckAuthorization");
  int r = sd_bus_message_append(question.get(), "(sa{sv})s", "system-bus-name", 1, "name", "s",
                                sender, action);
  const bool quiet = pending.otherwise != nullptr;
  const uint32_t interactive =
      !quiet && sd_bus_message_get_allow_interactive_authorization(pending.call.get()) > 0 ? 1 : 0;
  if (r >= 0) r = wire::append_all(question.get(), details, interactive, pending.cancellation_id);
  sd_bus_slot* slot = nullptr;
  if (r >= 0)
    r = sd_bus_call_async(bus_, &slot, question.get(), on_answer, &pending,
                          quiet ? quiet_timeout : polkit_timeout);
  pending.question.reset(slot);
  return r < 0 ? r : 1;
}

// Ends the question and gives up the call, which no callback refers to any more.
Authority::Pending Authority::take(const Pending* pending) {
  const Position position =
      std::ranges::find(pending_, pending, [](const Pending& each) { return &each; });
  Pending out = std::move(*position);
  out.sender.reset();
  out.question.reset();
  pending_.erase(position);
  return out;
}

int Authority::on_answer(sd_bus_message* answer, void* userdata, sd_bus_error*) {
  using enum Refusal::Kind;
  auto* waiting = static_cast<Pending*>(userdata);
  const Pending pending = waiting->authority->take(waiting);
  sd_bus_message* call = pending.call.get();
  std::tuple<bool, bool, std::map<std::string, std::string>> result;
  const auto& [authorized, challenge, details] = result;
  const bool failed = sd_bus_message_is_method_error(answer, nullptr) > 0;
  const bool malformed = !failed && wire::read(answer, result) < 0;
  const bool has_time = pending.authority->accounts_.allows(pending.uid);
  pending.authority->accounts_.begin(pending.uid);
  if (!failed && !malformed && authorized) return pending.carry(call);
  // Of calls that waited together, the others may have taken it since.
  if (pending.otherwise && !has_time) return refuse(call, busy, no_time_left);
  if (pending.otherwise) return pending.otherwise(call);
  if (failed) return refuse(call, not_permitted, "polkit does not answer; only root may do this");
  if (malformed)
    return refuse(call, not_permitted, "polkit's answer is malformed; only root may do this");
  return refuse(
      call, not_permitted,
      challenge ? "polkit requires a password, and there is no agent to ask for it: do it as root"
                : "polkit does not authorize it");
}

void Authority::cancel(const Pending* waiting) {
  const Pending pending = take(waiting);
  const Message message = new_question(bus_, "CancelCheckAuthorization");
  if (wire::append_all(message.get(), pending.cancellation_id) >= 0)
    (void)sd_bus_send(bus_, message.get(), nullptr);
}

}  // namespace rdtd
