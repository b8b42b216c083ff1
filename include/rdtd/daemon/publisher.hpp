// Publisher: hands tables to the classifier and to the sweeper. Only once the classifier uses a new
// table is a process that is looked at safe from the old rules.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "rdtd/daemon/rule_table.hpp"
#include "rdtd/daemon/system.hpp"

namespace rdtd {

class Sweeper;

class Publisher {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // The classifier answers within microseconds; if it does not, work goes on without it.
  static constexpr std::chrono::seconds max_wait{2};
  // Hands a table to the classifier. Returns the number that `taken` will be called with, or 0 if
  // the table is used from now on.
  using ToClassifier = std::function<uint64_t(std::shared_ptr<const RuleTable>)>;

  Publisher(const System& system, Sweeper& sweeper) : system_(system), sweeper_(sweeper) {}

  void connect(ToClassifier to_classifier) { to_classifier_ = std::move(to_classifier); }
  // Calls `then` with whether the classifier uses the table, once it does or has had max_wait. One
  // table is published at a time.
  void publish(std::shared_ptr<const RuleTable> table, std::function<void(bool)> then);
  // The classifier uses the table of this number, or a later one.
  void taken(uint64_t number);
  // Goes on without an answer.
  void step();
  [[nodiscard]] Time next_due() const { return then_ ? deadline_ : Time::max(); }

 private:
  const System& system_;
  Sweeper& sweeper_;
  ToClassifier to_classifier_ = [](const std::shared_ptr<const RuleTable>&) { return uint64_t{0}; };
  std::function<void(bool)> then_;
  uint64_t awaited_ = 0;
  Time deadline_{};
};

}  // namespace rdtd
