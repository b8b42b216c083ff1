#include "rdtd/daemon/sweeper.hpp"

#include <algorithm>

namespace rdtd {

void Sweeper::use(std::shared_ptr<const RuleTable> table) {
  looks_.table = std::move(table);
  looks_.out_of_date = false;
  visits_.begin_again();
  sweep_.begin_again();
}

Sweeper::Time Sweeper::next_due() const {
  if (looks_.overflowed) return Time::min();
  return std::min(visits_.next_due(), sweep_.next_due());
}

void Sweeper::slice(Time deadline) {
  if (!looks_.table) return;
  // A part of the time for each, so that none keeps another waiting.
  const auto part = (deadline - looks_.system.now()) / 4;
  visits_.find_more(looks_.system.now() + part);
  visits_.work(looks_.system.now() + part);
  sweep_.work(deadline);
}

}  // namespace rdtd
