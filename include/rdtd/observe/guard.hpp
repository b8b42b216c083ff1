// Guard: lowers the bandwidth of groups that the policy lets it lower while a protected group is
// active in a domain whose traffic is near its ceiling, and gives it back slowly. It looks at the
// samples only: no clock, descriptor or log, so that a recording gives the steps that were taken
// live. Whether a step is in force is seen in the samples too: in shadow none is.
// docs/observe.md says the rules for users, docs/decisions/guard.md why they are so.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rdtd/observe/detector.hpp"
#include "rdtd/observe/recording.hpp"

namespace rdtd::observe {

// The ends of "10%..100%": per cent, or bytes/s.
struct Range {
  double least = 0, most = 0;
  bool percent = true;
};
// "50%", "8000 MB/s": as a policy writes it.
[[nodiscard]] std::string amount_text(const Range& range, double amount);

// The actions and limits that a policy gives the guard.
struct GuardRules {
  bool acts = false;                       // its steps come into force: not in shadow
  double traffic = 0.8;                    // part of the ceiling
  std::set<std::string> protected_groups;  // directories
  // By directory: the range of `mb` in a domain; in all that are not listed, that of nullopt. One
  // with equal ends is a fixed amount.
  std::map<std::string, std::map<std::optional<DomainId>, Range>> ranges;

  [[nodiscard]] const Range* range_of(const std::string& group, DomainId domain) const;
  [[nodiscard]] bool has_range() const;
};

struct GuardStep {
  enum class Direction { cut, give_back };
  uint64_t time_usec = 0;  // CLOCK_REALTIME, of the sample
  std::string group;       // directory
  std::string resource;    // whose traffic it is: "L3"
  DomainId domain{};
  Direction direction = Direction::cut;
  Range range;
  double before = 0, after = 0;  // within the range
  std::string reason;            // with the figures that it was decided by
};
[[nodiscard]] std::string_view to_string(GuardStep::Direction direction);
// "L3 0: mb of batch from 100% to 50%: traffic ..."
[[nodiscard]] std::string sentence(const GuardStep& step);

// After so long without numbers, amounts are not held any longer. `interval`: seconds between
// samples.
[[nodiscard]] inline double blind_seconds(double interval) { return std::max(60.0, 3 * interval); }

// The policy's own amounts are in force after it.
[[nodiscard]] bool resets_guard(std::string_view mark);

class Guard {
 public:
  // The amount of a group in a domain, and what it was seen to do there.
  struct State {
    std::string group, resource;
    DomainId domain{};
    Range range;
    double amount = 0;
    std::string text;               // why it is left as it is; "" if it may be changed
    bool flapping = false;          // it went up and down too often
    std::map<double, double> seen;  // bytes/s of the group by amount
  };

  explicit Guard(GuardRules rules) : rules_(std::move(rules)) {}
  // At most one step in each domain, and another one of each group that gets all of it back. In the
  // order of samples. Some marks reset all that it knows.
  [[nodiscard]] std::vector<GuardStep> add(const Sample& sample,
                                           const std::vector<DomainTraffic>& domains);
  [[nodiscard]] std::vector<State> states() const;
  // Those below the upper end of their range, by group and domain, of the domains that are there.
  using Amounts = std::map<std::string, std::map<DomainId, double>>;
  [[nodiscard]] Amounts amounts() const;
  // Why no step was taken with the last sample, though one might be due; "" if nothing forbids it.
  [[nodiscard]] const std::string& frozen() const { return frozen_; }
  // Takes from the header the values of MB, and whether the kernel changes it by itself.
  void use(const Header& header) {
    mb_ = header.mb;
    mba_mbps_ = header.mba_mbps;
    interval_ = header.interval;
  }

 private:
  // For how many samples in a row, and since when, something holds.
  struct Run {
    unsigned samples = 0;
    double since = 0;
    void add(bool holds, double now);
  };
  struct Figures {  // of one sample
    double rate = 0, traffic = 0, protected_rate = 0;
  };
  struct Pair {  // a group in a domain
    Range range;
    double amount = 0;
    bool is_here = true;  // in the last sample, or not long before it
    double here_at = 0;   // last, seconds
    std::map<double, double> seen;
    Run idle;
    std::deque<Figures> recent;  // of whole samples since the last step
    // The least amount at which there was too much traffic, and when.
    std::optional<double> too_much;
    double too_much_at = 0, left_alone_until = 0;
    // The value of `mb` while a cut did not come into force, and until when that is believed.
    std::string blocked_mb;
    double blocked_until = 0;
    // The value of `mb` while it is less than `amount`, and the most that it was in bytes/s.
    std::string lowered_mb;
    double most_rate = 0;
    // When more was given to it, though it used what it had.
    std::optional<double> wanted_at;
    std::deque<double> reversals;
    // It went up and down too often, and stays at its lower end until it was calm for so long.
    bool flapping = false;
    Run calm;
    double calm_seconds = 0, thawed_at = 0;
    void rest();
  };
  // Of one group, in one step or several, that has not shown yet whether it helps.
  struct Cut {
    std::string group;
    double amount = 0;             // before the first step
    std::vector<Figures> before;   // the first step
    std::string mb;                // before the last one
    std::vector<Figures> after{};  // it, while it is in force
    Run missed;                    // it was not
    bool looked_twice = false;
  };
  struct Place {          // a domain
    bool is_here = true;  // in the last sample
    double usable_at = 0;
    unsigned blind = 0, partial = 0;  // samples in a row
    unsigned high = 0, wait = 0;
    Run alone, low;  // no protected group is active; there is little traffic
    std::optional<Cut> cut;
    std::map<std::string, Pair> pairs;
    void rest();
    void after_gap();
  };
  struct Verdict {
    bool binds = false, helped = false;
    bool unsure = false;  // the means differ by enough, but may do so by chance
  };
  using Key = std::pair<std::string, DomainId>;

  // The figures that are seen, and which of them may be judged: guard.cpp.
  [[nodiscard]] std::string why_frozen(const Sample& sample) const;
  [[nodiscard]] static std::vector<const DomainTraffic*> guarded(
      const std::vector<DomainTraffic>& domains);
  void add(const DomainTraffic& domain, bool may_act, std::vector<GuardStep>& out);
  [[nodiscard]] bool counts(const std::string& drift) const;
  [[nodiscard]] bool protects_somebody(const std::vector<DomainTraffic>& domains) const;
  [[nodiscard]] bool is_usable(const DomainTraffic& domain, Place& place);
  [[nodiscard]] std::string what_is_missing(const DomainTraffic& domain) const;
  void update_pairs(const DomainTraffic& domain, Place& place, std::vector<GuardStep>& out) const;
  // The law: guard_law.cpp.
  [[nodiscard]] std::optional<GuardStep> next(const DomainTraffic& domain, Place& place);
  void note(const DomainTraffic& domain, Place& place) const;
  void note_amount(const std::string& mb, const Place& place, Pair& pair) const;
  [[nodiscard]] double written(const Range& range, double amount) const;
  [[nodiscard]] std::optional<double> lower_amount(const Pair& pair, double rate) const;
  [[nodiscard]] GuardStep step_of(const DomainTraffic& domain, const std::string& group, Pair& pair,
                                  double after, std::string reason) const;
  [[nodiscard]] double protected_rate(const DomainTraffic& domain) const;
  [[nodiscard]] bool is_alone(const DomainTraffic& domain) const;
  [[nodiscard]] bool is_long(const Run& run) const;
  [[nodiscard]] std::string why_quiet(const DomainTraffic& domain, const Place& place,
                                      const Pair& pair) const;
  [[nodiscard]] bool is_high(const DomainTraffic& domain) const;
  [[nodiscard]] bool is_low(const DomainTraffic& domain) const;
  [[nodiscard]] bool is_in_force(const DomainTraffic& domain, const Place& place) const;
  [[nodiscard]] static Verdict verdict(const Cut& cut, double part, double errors);
  [[nodiscard]] std::optional<GuardStep> judge(const DomainTraffic& domain, Place& place);
  [[nodiscard]] std::optional<GuardStep> take_back(const DomainTraffic& domain, Place& place);
  [[nodiscard]] std::optional<GuardStep> undo(const DomainTraffic& domain, Place& place);
  [[nodiscard]] bool may_fall(const DomainTraffic& domain, const std::string& group,
                              const Pair& pair) const;
  [[nodiscard]] static std::vector<Figures> before_cut(const Pair& pair);
  [[nodiscard]] std::optional<GuardStep> cut(const DomainTraffic& domain, Place& place);
  [[nodiscard]] std::optional<GuardStep> give_back(const DomainTraffic& domain, Place& place);
  [[nodiscard]] bool may_rise(const DomainTraffic& domain, const std::string& group,
                              const Place& place, const Pair& pair) const;
  void note_reversal(Pair& pair) const;
  [[nodiscard]] double raised(const Pair& pair) const;
  void give_all_back(const Key& key, Place& place, const char* why,
                     std::vector<GuardStep>& out) const;
  void release(const Key& key, const std::string& group, Pair& pair, const char* why,
               std::vector<GuardStep>& out) const;
  [[nodiscard]] std::string state_of(const Place& place, const std::string& group) const;

  GuardRules rules_;
  std::map<Key, Place> places_;
  double now_ = 0;  // CLOCK_BOOTTIME, seconds
  uint64_t time_usec_ = 0;
  std::string frozen_;
  Header::MbValues mb_;
  bool mba_mbps_ = false;
  double interval_ = 0;  // seconds between samples
};

}  // namespace rdtd::observe
