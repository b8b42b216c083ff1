#include "subscribers.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "names.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

// Each assignment costs a message to each subscriber.
constexpr auto max_per_user = 8;
constexpr size_t max_subscribers = 128;
// Messages that the bus has not taken yet. Further assignments are omitted.
constexpr uint64_t max_waiting = 1000;
// Of an assignment of a user's process, in microseconds of the user's budget.
constexpr uint64_t price_of_message = CallBudget::least;

int refuse(sd_bus_message* call, const char* why) {
  return wire::reply_error(call, error_name(Refusal::Kind::busy), why);
}

}  // namespace

Subscribers::~Subscribers() {
  if (!subscribers_.empty()) reads_.watch_assignments(false);
}

int Subscribers::add(sd_bus_message* call, const Caller& caller) {
  const std::string name = sd_bus_message_get_sender(call);
  if (std::ranges::find(subscribers_, name, &Subscriber::name) != subscribers_.end())
    return wire::reply(call);
  if (!caller.root()) {
    if (std::ranges::count(subscribers_, caller.uid, &Subscriber::uid) >= max_per_user)
      return refuse(call, "this user has too many subscriptions");
    if (subscribers_.size() >= max_subscribers)
      return refuse(call, "there are too many subscriptions");
  }
  const auto subscriber = subscribers_.emplace(subscribers_.end(), name, caller.uid);
  subscriber->departure = Departure::watch(bus_, name, [this, subscriber] { erase(subscriber); });
  if (subscriber->departure == nullptr) {
    subscribers_.erase(subscriber);
    return -ENOMEM;
  }
  if (subscribers_.size() == 1) reads_.watch_assignments(true);
  return wire::reply(call);
}

int Subscribers::remove(sd_bus_message* call) {
  const auto position = std::ranges::find(
      subscribers_, std::string(sd_bus_message_get_sender(call)), &Subscriber::name);
  if (position != subscribers_.end()) erase(position);
  return wire::reply(call);
}

void Subscribers::erase(std::list<Subscriber>::iterator position) {
  subscribers_.erase(position);
  if (subscribers_.empty()) reads_.watch_assignments(false);
}

// Only root is subscribed as a rule, and then nobody needs to know the owner. To be sure of it
// costs the more the more groups the user of the process is in, so that user pays, and no other
// one.
std::optional<uid_t> Subscribers::owner_for_users(pid_t pid) {
  const auto is_root = [](uid_t uid) { return Caller{.uid = uid}.root(); };
  if (std::ranges::all_of(subscribers_, is_root, &Subscriber::uid)) return std::nullopt;
  const auto user = reads_.effective_user_of(pid);
  // Root's processes are no user's (Identity::owner).
  if (!user || is_root(*user) || !accounts_.allows(*user) ||
      std::ranges::find(subscribers_, *user, &Subscriber::uid) == subscribers_.end())
    return std::nullopt;
  const uint64_t begin = thread_time();
  const auto owner = reads_.owner_of(pid);
  accounts_.charge(*user, thread_time() - begin);
  return owner;
}

void Subscribers::emit_assigned(pid_t pid, const std::string& group, const std::string& rule) {
  uint64_t waiting = 0;
  if (sd_bus_get_n_queued_write(bus_, &waiting) >= 0 && waiting >= max_waiting) return;
  const auto owner = owner_for_users(pid);
  for (const Subscriber& subscriber : subscribers_) {
    const Caller caller{.uid = subscriber.uid};
    if (!caller.root()) {
      if (owner != caller.uid || !accounts_.allows(caller.uid)) continue;
      accounts_.charge(caller.uid, price_of_message);
    }
    sd_bus_message* made = nullptr;
    int r = sd_bus_message_new_signal(bus_, &made, bus_path, bus_interface, "TaskAssigned");
    const Message signal(made);
    if (r >= 0) r = wire::append_all(made, static_cast<uint32_t>(pid), group, rule);
    if (r >= 0) (void)sd_bus_send_to(bus_, made, subscriber.name.c_str(), nullptr);
  }
}

}  // namespace rdtd
