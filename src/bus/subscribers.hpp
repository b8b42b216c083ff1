// Subscribers: the callers of Subscribe that are still on the bus. Each is sent the assignments of
// its own processes; root is sent all.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "accounts.hpp"
#include "departure.hpp"
#include "rdtd/bus/reads.hpp"

namespace rdtd {

class Subscribers {
 public:
  Subscribers(sd_bus* bus, Reads& reads, Accounts& accounts)
      : bus_(bus), reads_(reads), accounts_(accounts) {}
  Subscribers(const Subscribers&) = delete;
  Subscribers& operator=(const Subscribers&) = delete;
  ~Subscribers();

  // Handles a call of Subscribe. Returns the result of a method handler, as does remove().
  [[nodiscard]] int add(sd_bus_message* call, const Caller& caller);
  [[nodiscard]] int remove(sd_bus_message* call);
  // Those who exceed their budget of calls are left out.
  void emit_assigned(pid_t pid, const std::string& group, const std::string& rule);

 private:
  struct Subscriber {
    std::string name;
    uid_t uid;
    std::unique_ptr<Departure> departure = {};
  };
  void erase(std::list<Subscriber>::iterator position);
  // The owner of the process, if it is a subscriber that exceeds no budget.
  [[nodiscard]] std::optional<uid_t> owner_for_users(pid_t pid);

  sd_bus* bus_;
  Reads& reads_;
  Accounts& accounts_;
  std::list<Subscriber> subscribers_;
};

}  // namespace rdtd
