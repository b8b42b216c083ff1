#include "rdtd/daemon/container_changes.hpp"

#include <string>
#include <utility>

namespace rdtd {

namespace {

// The files of a runtime may lie on a slow disk: the loop does not wait for it.
constexpr std::chrono::milliseconds longest_wait{5};
// A container that starts writes its files about now, and others start with it.
constexpr std::chrono::milliseconds start_delay{50};
// Storage that does not answer for so long is looked after less often.
constexpr std::chrono::seconds patience{2}, slow_delay{1};
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
  waiting_since_.reset();
  manager_.core().problems.clear(names_problem);
}

void ContainerChanges::read() {
  if (!wanted()) return waiting_since_.reset();  // until a rule is about them again
  if (reader_.busy()) return wait();
  auto refreshed = std::exchange(late_, nullptr);
  if (!refreshed) {
    refreshed = std::make_shared<proc::Containers::Refreshed>();
    const bool done =
        reader_.run([refreshed, containers = containers_] { *refreshed = containers->refresh(); });
    if (!done && reader_.busy()) late_ = refreshed;
    if (!done) return wait();
  }
  waiting_since_.reset();
  if (const uint64_t changes = containers_->changes(); changes != std::exchange(seen_, changes))
    losses_.look_at_all("containers have got names");
  report(*refreshed);
  if (!wanted_.enable(true)) due_.set(slow_delay);
}

// For the thread that reads, or until there can be one.
void ContainerChanges::wait() {
  const auto now = std::chrono::steady_clock::now();
  if (!waiting_since_) waiting_since_ = now;
  const bool is_slow = now - *waiting_since_ > patience;
  due_.set(is_slow ? slow_delay : start_delay);
  if (is_slow)
    manager_.core().problems.report(
        names_problem, reader_.busy() ? "names of containers cannot be read: their files do not "
                                        "answer"
                                      : "names of containers cannot be read: no thread can be "
                                        "started");
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
