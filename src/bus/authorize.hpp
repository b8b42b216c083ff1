// Authority: decides who may change something. Root may; about others it asks polkit, by the
// caller's name on the bus, which no other process can take over as it could a pid, and without
// waiting for the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "accounts.hpp"
#include "departure.hpp"
#include "handles.hpp"
#include "rdtd/bus/reads.hpp"

namespace rdtd {

class Authority {
 public:
  // Carries out a call and replies to it; returns the result of a method handler.
  using Carry = std::function<int(sd_bus_message* call)>;
  // Shown to the rules of polkit, and in the message of the action as $(key).
  using Details = std::map<std::string, std::string>;

  Authority(sd_bus* bus, Accounts& accounts) : bus_(bus), accounts_(accounts) {}
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  // Runs `carry` at once for root, and later for a caller that polkit authorizes for `action`.
  // Other callers get `otherwise`, and polkit does not ask them for a password first. If there is
  // no `otherwise`, they get NotPermitted. Forgets the call if its sender leaves the bus. Returns
  // the result of a method handler.
  [[nodiscard]] int authorize(sd_bus_message* call, const Caller& caller, const char* action,
                              const Details& details, Carry carry, Carry otherwise = nullptr);

 private:
  struct Pending {
    Authority* authority;
    Message call;
    uid_t uid;
    Carry carry, otherwise;
    std::string cancellation_id;
    std::unique_ptr<Departure> sender = {};
    Slot question = {};
  };
  using Position = std::list<Pending>::iterator;

  [[nodiscard]] int ask(Pending& pending, const char* action, const Details& details);
  [[nodiscard]] Pending take(const Pending* pending);
  static int on_answer(sd_bus_message* answer, void* pending, sd_bus_error*);
  void cancel(const Pending* pending);

  sd_bus* bus_;
  Accounts& accounts_;
  std::list<Pending> pending_;
  uint64_t questions_ = 0;
};

}  // namespace rdtd
