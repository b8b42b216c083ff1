#include "rdtd/daemon/manager.hpp"

#include <algorithm>
#include <utility>

namespace rdtd {

Manager::Manager(System system, Ownership ownership, Directory state)
    : core_(std::move(system), std::move(ownership), std::move(state)),
      assignments_(core_),
      loads_(core_, assignments_),
      lease_jobs_(core_, loads_),
      reconciler_(core_, loads_, assignments_),
      answers_(core_, loads_) {}

void Manager::connect(Observer observer, Publisher::ToClassifier to_classifier) {
  core_.observer = std::move(observer);
  if (to_classifier) core_.publisher.connect(std::move(to_classifier));
}

Result<void> Manager::remove_all() {
  core_.manual.clear();
  core_.store();
  Result<void> removed;
  {
    const auto lock = core_.system.resctrl.lock();
    (void)core_.system.admit(core_.readers());  // as a reset that failed may have left another mode
    removed = core_.applier.remove_all();
  }
  core_.admit(resctrl::Admit::before);  // last: under the kernel's mode, root may not remove groups
  return removed;
}

void Manager::step(Time deadline) {
  core_.publisher.step();
  if (core_.sweeper.next_due() <= core_.system.now()) {
    const bool sweeps = core_.sweeper.sweeps();
    core_.sweeper.slice(deadline);
    if (sweeps) core_.jobs.swept();
  }
  if (core_.sweeper.take_overflow()) core_.observer.visits_lost();
  reconciler_.step();
  if (core_.jobs.step()) core_.observer.state_changed();
  // Once everything that a job can wait for has had its turn.
  stuck_ = core_.jobs.stuck();
}

Manager::Time Manager::next_due() const {
  return std::min({core_.publisher.next_due(), core_.sweeper.next_due(), core_.jobs.next_due(),
                   reconciler_.next_due()});
}

}  // namespace rdtd
