// suggest: steps a group through amounts under leases, measures the traffic of its tasks, and names
// the smallest amount that suffices. Nothing remains of it but what it prints.
#include <fmt/format.h>
#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <optional>
#include <random>

#include "knee.hpp"
#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/experiment/statistics.hpp"
#include "rdtd/plan/plan.hpp"
#include "stepped_group.hpp"
#include "suggest_view.hpp"
#include "usage.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

constexpr const char* traffic_counter = "mbm_total_bytes";
// Of each measurement: until the lines of the earlier amount have left the cache.
constexpr double settling_share = 0.5;

// The signals that end the measurement: they are delivered only while it waits.
class EndSignals {
 public:
  EndSignals() {
    sigset_t ending{};
    sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      struct sigaction before{};
      (void)::sigaction(signal, nullptr, &before);
      if (before.sa_handler == SIG_IGN) continue;  // as SIGHUP under nohup
      struct sigaction action{};
      action.sa_handler = [](int number) { received_ = number; };
      (void)::sigaction(signal, &action, nullptr);
      sigaddset(&ending, signal);
    }
    (void)::sigprocmask(SIG_BLOCK, &ending, &before_);
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  ~EndSignals() { (void)::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  // 0: none was received.
  [[nodiscard]] static int received() { return received_; }
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  static inline volatile std::sig_atomic_t received_ = 0;
  sigset_t before_{};
};

// The exit code of a shell's command that a signal ended.
int interrupted_exit() { return 128 + EndSignals::received(); }

// Waits while the lease lasts. The error is the exit code.
std::expected<void, int> wait(double seconds, const UniqueFd& lease, const EndSignals& signals) {
  const auto end =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  while (EndSignals::received() == 0) {
    const auto left = std::max(std::chrono::nanoseconds(0), end - std::chrono::steady_clock::now());
    const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    pollfd polled{lease.get(), 0, 0};
    const int ready = ::ppoll(&polled, 1, &timeout, &signals.before());
    if (EndSignals::received() != 0) break;
    if (ready == 0) return {};
    if (ready > 0) {
      note("rdtctl: the daemon has ended the lease: 'journalctl -u rdtd' shows why\n");
      return std::unexpected(Exit::failed);
    }
    if (errno != EINTR) return std::unexpected(report(Error{"wait for", "the lease", errno, {}}));
  }
  return std::unexpected(interrupted_exit());
}

class Measurement {
 public:
  Measurement(const Tree& tree, const StepPlan& plan, const verbs::SuggestOptions& options)
      : tree_(tree), plan_(plan), options_(options) {}

  // Of each amount, in ascending order. The error is the exit code.
  std::expected<std::vector<AmountRuns>, int> measure(Client& client) {
    std::vector<AmountRuns> curve;
    for (const unsigned amount : plan_.amounts) curve.push_back({amount, {}});
    const uint64_t seed = std::random_device{}();
    for (const unsigned amount : random_order(plan_.amounts, options_.repeats, seed)) {
      const auto value = measure_once(client, amount);
      if (!value) return std::unexpected(value.error());
      std::ranges::find(curve, amount, &AmountRuns::amount)->values.push_back(*value);
    }
    return curve;
  }

 private:
  // Bytes per second. The lease ends with it, before the next one is asked for.
  std::expected<double, int> measure_once(Client& client, unsigned amount) {
    const auto lease = client.lease(fmt::format("suggest-{}", ::getpid()), plan_.text_of(amount));
    if (!lease) return std::unexpected(report(lease.error()));
    if (auto settled = wait(options_.seconds * settling_share, *lease, signals_); !settled)
      return std::unexpected(settled.error());
    const auto before = read_usage(tree_);
    if (!before) return std::unexpected(report(before.error()));
    if (auto waited = wait(options_.seconds, *lease, signals_); !waited)
      return std::unexpected(waited.error());
    const auto now = read_usage(tree_);
    if (!now) return std::unexpected(report(now.error()));
    for (const Usage& usage : usage_between(*before, *now, Domains::summed))
      if (usage.directory == plan_.group.name.value)
        if (const auto amount_used = usage.of(traffic_counter).amount) return *amount_used;
    note("rdtctl: the kernel does not count {} of group '{}'\n", traffic_counter,
         plan_.group.name.value);
    return std::unexpected(Exit::failed);
  }

  const Tree& tree_;
  const StepPlan& plan_;
  const verbs::SuggestOptions& options_;
  EndSignals signals_;
};

}  // namespace

int verbs::suggest(const Context& context, const SuggestOptions& options) {
  const auto planned = plan_files(context);
  if (!planned) return planned.error();
  const auto steps = plan_steps(context, *planned, options);
  if (!steps) return steps.error();
  auto client = Client::connect();
  if (!client) return report(client.error());
  const auto curve = Measurement(planned->machine.tree, *steps, options).measure(*client);
  if (!curve) return curve.error();
  if (std::ranges::all_of(
          *curve, [](const AmountRuns& runs) { return experiment::median(runs.values) == 0; })) {
    note("rdtctl: group '{}' caused no traffic: its tasks must be at work while it is measured\n",
         options.group);
    return Exit::failed;
  }
  show_suggestion(context, *planned, *steps, *curve);
  return Exit::ok;
}

}  // namespace rdtd
