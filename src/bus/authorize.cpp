#include "authorize.hpp"

#include <memory>

#include "message.hpp"

namespace rdtd {

namespace {

// A person may have to find a password.
constexpr uint64_t polkit_timeout = 120'000'000;  // microseconds
// So many callers at once may be waiting for polkit.
constexpr unsigned most_pending = 64;
unsigned pending = 0;

struct Pending {
  Pending(sd_bus_message* message, Carry carry_, void* userdata_)
      : call(sd_bus_message_ref(message)), carry(carry_), userdata(userdata_) {
    rdtd::pending++;
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() { rdtd::pending--; }
  Message call;
  Carry carry;
  void* userdata;
};

int refuse(sd_bus_message* call, const char* why) {
  return reply_error(call, {CallError::Kind::NotPermitted, why});
}

int on_answer(sd_bus_message* answer, void* userdata, sd_bus_error*) {
  const std::unique_ptr<Pending> waiting(static_cast<Pending*>(userdata));
  sd_bus_message* call = waiting->call.get();
  if (sd_bus_message_is_method_error(answer, nullptr) > 0)
    return refuse(call, "only root may do this: polkit cannot be asked");
  int authorized = 0, challenge = 0;
  if (sd_bus_message_enter_container(answer, 'r', "bba{ss}") < 0 ||
      sd_bus_message_read(answer, "bb", &authorized, &challenge) < 0)
    return refuse(call, "only root may do this: polkit's answer is malformed");
  if (authorized == 0)
    return refuse(call, challenge != 0
                            ? "polkit wants a password, and there is nobody to ask for it"
                            : "polkit does not permit it");
  return waiting->carry(call, waiting->userdata);
}

}  // namespace

int authorize(sd_bus_message* call, const char* action, Carry carry, void* userdata) {
  if (caller_of(call).uid == 0) return carry(call, userdata);
  if (pending >= most_pending)
    return reply_error(call, {CallError::Kind::Busy, "too many callers wait for polkit"});
  auto waiting = std::make_unique<Pending>(call, carry, userdata);
  sd_bus* bus = sd_bus_message_get_bus(call);
  sd_bus_message* made = nullptr;
  int r = sd_bus_message_new_method_call(
      bus, &made, "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority",
      "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization");
  const Message question(made);
  const uint32_t interaction = sd_bus_message_get_allow_interactive_authorization(call) > 0 ? 1 : 0;
  if (r >= 0)
    r = sd_bus_message_append(question.get(), "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
                              sd_bus_message_get_sender(call), action, 0, interaction, "");
  if (r >= 0)
    r = sd_bus_call_async(bus, nullptr, question.get(), on_answer, waiting.get(), polkit_timeout);
  if (r < 0) return r;
  (void)waiting
      .release();  // on_answer's now: sd-bus calls it once, with an error where no answer comes
  return 1;
}

}  // namespace rdtd
