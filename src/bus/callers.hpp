// Callers: who sent a message. Asks the bus once per sender, since the answer is a round trip.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "handles.hpp"
#include "rdtd/bus/manager_interface.hpp"

namespace rdtd {

class Callers {
 public:
  // Nothing if the sender has left the bus.
  [[nodiscard]] std::optional<Caller> find(sd_bus_message* call);

 private:
  // The bus never reuses a sender's name, so that an entry stays true.
  std::map<std::string, Caller, std::less<>> known_;
  std::deque<std::string> oldest_first_;
};

}  // namespace rdtd
