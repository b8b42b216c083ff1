#include "rdtd/daemon/container_changes.hpp"

#include <string>
#include <utility>

namespace rdtd {

namespace {

// The files of a runtime may lie on a slow disk: the loop does not wait for it.
constexpr std::chrono::milliseconds longest_wait{5};
// A container that starts writes its files about now, and others start with it.
constexpr std::chrono::milliseconds start_delay{50};
constexpr const char* names_problem = "containers";

}  // namespace

ContainerChanges::ContainerChanges(Manager& manager, Losses& losses)
    : manager_(manager), losses_(losses), reader_("rdtd-names", longest_wait) {}

int ContainerChanges::attach(sd_event* event, std::shared_ptr<proc::Containers> containers) {
  containers_ = std::move(containers);
  if (!containers_) return 0;
  const int r = wanted_.attach(event, containers_->fd(), [this] {
    wanted_.enable(false);
    due_.set(start_delay);
  });
  return r < 0 ? r : due_.attach(event, [this] { read(); });
}

bool ContainerChanges::wanted() const {
  return manager_.in_force().table->rules.reads(Fact::container);
}

void ContainerChanges::refresh() {
  if (!containers_) return;
  if (wanted()) return read();
  due_.enable(false);
  manager_.core().problems.clear(names_problem);
}

void ContainerChanges::read() {
  if (!wanted()) return;  // until a rule is about them again
  if (reader_.busy()) return due_.set(start_delay);
  auto refreshed = std::exchange(late_, nullptr);
  if (!refreshed) {
    refreshed = std::make_shared<proc::Containers::Refreshed>();
    const bool done =
        reader_.run([refreshed, containers = containers_] { *refreshed = containers->refresh(); });
    if (!done && reader_.busy()) late_ = refreshed;
    if (!done) return due_.set(start_delay);
  }
  if (const uint64_t changes = containers_->changes(); changes != std::exchange(seen_, changes))
    losses_.look_at_all("containers have got names");
  wanted_.enable(true);
  report(*refreshed);
}

void ContainerChanges::report(const proc::Containers::Refreshed& refreshed) {
  if (refreshed.again_in > std::chrono::milliseconds::zero()) due_.set(refreshed.again_in);
  if (refreshed.unreadable)
    manager_.core().problems.report(
        names_problem, "names of containers cannot be read: " + refreshed.unreadable->text());
  else
    manager_.core().problems.clear(names_problem);
}

}  // namespace rdtd
