// Callers: who sent a call. Asks the bus once per sender, and does not wait for the answer: sd-bus
// would read whatever comes meanwhile into memory.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accounts.hpp"
#include "handles.hpp"
#include "rdtd/bus/reads.hpp"

namespace rdtd {

class Callers {
 public:
  Callers(sd_bus* bus, Accounts& accounts) : bus_(bus), accounts_(accounts) {}
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  // Nothing while the bus has not said who the sender is.
  [[nodiscard]] std::optional<Caller> find(sd_bus_message* call) const;
  // Asks the bus. Once it has answered, sd-bus handles the call again. False if there is no room
  // for the call until then.
  [[nodiscard]] bool ask(sd_bus_message* call);

 private:
  struct Unknown {
    Callers* all = nullptr;
    std::string sender;
    std::vector<Message> calls = {};
    size_t large = 0;  // of the calls
    Slot question = {};
  };
  [[nodiscard]] bool put_question(Unknown& unknown);
  [[nodiscard]] bool keep(Unknown& unknown, sd_bus_message* call);
  void remember(const std::string& sender, const Caller& caller);
  static int on_answer(sd_bus_message* answer, void* unknown, sd_bus_error*);

  sd_bus* bus_;
  Accounts& accounts_;
  // The bus never reuses a sender's name, so that an entry stays true.
  std::map<std::string, Caller, std::less<>> known_;
  std::deque<std::string> oldest_first_;
  std::map<std::string, Unknown, std::less<>> unknown_;  // by sender
  size_t large_ = 0;                                     // calls of all of them
};

}  // namespace rdtd
