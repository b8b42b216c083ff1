#include "rdtd/proc/users.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "rdtd/proc/helper.hpp"

namespace rdtd::proc {

namespace {

// The members of a group are part of its entry: some have thousands.
constexpr size_t max_buffer = 16 << 20;

// Looks up a name. `Entry` is passwd or group, `id` its number.
template <class Entry, class Query, class Id>
Result<std::optional<Id>> find(const char* kind, const std::string& name, Query query,
                               Id Entry::* id) {
  Entry entry{};
  Entry* found = nullptr;
  std::vector<char> buffer(4096);
  int code = 0;
  while (true) {
    code = query(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (code == ERANGE && buffer.size() < max_buffer)
      buffer.resize(buffer.size() * 4);
    else if (code != EINTR)
      break;
  }
  if (code == 0 && found != nullptr) return entry.*id;
  // Each of these means "not found" in some database: getpwnam(3).
  if (code == 0 || code == ENOENT || code == ESRCH || code == EBADF || code == EPERM)
    return std::nullopt;
  return std::unexpected(Error{"look up", std::string(kind) + " '" + name + "'", code, {}});
}

UserAnswer no_answer(const UserName& name) {
  const char* kind = name.kind == UserName::Kind::user ? "user" : "user group";
  return std::unexpected(Error{"look up", std::string(kind) + " '" + name.name + "'", 0,
                               "the user database does not answer"});
}

// The thread of a question may outlive it, so both own these.
struct Answers {
  std::mutex mutex;
  std::map<UserName, UserAnswer> of;

  [[nodiscard]] std::optional<UserAnswer> find(const UserName& name) {
    const std::lock_guard lock(mutex);
    const auto found = of.find(name);
    return found == of.end() ? std::nullopt : std::optional(found->second);
  }
  void forget(const std::function<bool(const UserAnswer&)>& unwanted) {
    const std::lock_guard lock(mutex);
    std::erase_if(of, [&](const auto& one) { return unwanted(one.second); });
  }
};

class WithDeadline {
 public:
  WithDeadline(UserDatabase database, std::chrono::milliseconds max_wait)
      : database_(std::move(database)),
        helper_("rdtd-users", max_wait),
        long_time_(max_wait / 20) {}

  std::vector<UserAnswer> ask(const std::vector<UserName>& names) {
    const bool busy = helper_.busy();
    if (!busy) ask_anew(names);
    std::vector<UserAnswer> out;
    for (const UserName& name : names) {
      auto answer = answers_->find(name);
      out.push_back(answer && (!busy || is_good(*answer)) ? std::move(*answer) : no_answer(name));
    }
    return out;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // The attempts of one load.
  static constexpr std::chrono::seconds load_time{5};
  static constexpr std::chrono::minutes late_is_good_for{10};

  // A user may have been added since a load.
  [[nodiscard]] bool is_good(const UserAnswer& answer) const {
    const auto now = Clock::now();
    return now < good_until_ || !answer || (*answer && now < begun_ + late_is_good_for);
  }

  void ask_anew(const std::vector<UserName>& names) {
    const auto begin = Clock::now();
    const bool late = std::exchange(late_, false);
    const bool too_old = late ? begin >= begun_ + late_is_good_for : begin >= good_until_;
    answers_->forget([&](const UserAnswer& one) { return too_old || !one || (late && !*one); });
    if (late) good_until_ = begin + load_time;
    std::vector<UserName> missing;
    for (const UserName& name : names)
      if (!answers_->find(name)) missing.push_back(name);
    if (missing.empty()) return;
    begun_ = begin;
    late_ = !helper_.run([names = std::move(missing), answers = answers_, database = database_] {
      for (const UserName& name : names) {
        UserAnswer answer = database({name}).front();
        const std::lock_guard lock(answers->mutex);
        if (!answers->of.emplace(name, std::move(answer)).first->second) return;
      }
    });
    if (const auto end = Clock::now(); end - begin > long_time_) good_until_ = end + load_time;
  }

  UserDatabase database_;
  Helper helper_;
  std::chrono::milliseconds long_time_;
  std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  Clock::time_point begun_{}, good_until_{};
  bool late_ = false;
};

}  // namespace

Result<std::optional<uid_t>> find_user(const std::string& name, UserQuery query) {
  return find("user", name, query, &passwd::pw_uid);
}

Result<std::optional<gid_t>> find_user_group(const std::string& name, GroupQuery query) {
  return find("user group", name, query, &group::gr_gid);
}

UserDatabase user_database() {
  return [](const std::vector<UserName>& names) {
    std::vector<UserAnswer> out;
    for (const UserName& name : names)
      out.push_back(!out.empty() && !out.back()         ? no_answer(name)
                    : name.kind == UserName::Kind::user ? find_user(name.name)
                                                        : find_user_group(name.name));
    return out;
  };
}

UserDatabase with_deadline(UserDatabase database, std::chrono::milliseconds max_wait) {
  const auto shared = std::make_shared<WithDeadline>(std::move(database), max_wait);
  return [shared](const std::vector<UserName>& names) { return shared->ask(names); };
}

}  // namespace rdtd::proc
