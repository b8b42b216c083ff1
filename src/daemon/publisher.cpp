#include "rdtd/daemon/publisher.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "rdtd/daemon/sweeper.hpp"

namespace rdtd {

void Publisher::publish(std::shared_ptr<const RuleTable> table, std::function<void(bool)> then) {
  sweeper_.use(table);
  awaited_ = to_classifier_(std::move(table));
  if (awaited_ == 0) return then(true);
  then_ = std::move(then);
  deadline_ = system_.now() + max_wait;
}

void Publisher::taken(uint64_t number) {
  if (!then_ || number < awaited_) return;
  std::exchange(then_, nullptr)(true);
}

void Publisher::step() {
  if (!then_ || system_.now() < deadline_) return;
  spdlog::warn("the classifier does not use the new rules yet, after {} s", max_wait.count());
  std::exchange(then_, nullptr)(false);
}

}  // namespace rdtd
