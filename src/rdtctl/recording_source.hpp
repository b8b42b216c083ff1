// Where `history` and `blame` have their samples from: a file of `record`, or what rdtd-observer
// keeps.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/observer/reader.hpp"
#include "verbs.hpp"

namespace rdtd {

// As `lead_usec`: who learns from samples knows at any time what it has seen, however long ago.
inline constexpr uint64_t all_before = UINT64_MAX;

// Of what a recording shows, so much is kept: it may show any number, and nobody reads more.
inline constexpr size_t most_found = 10'000;

void warn_of_more(const std::string& what);

// The last ones of what a recording shows. While it is read there may be twice as many as are kept,
// so that few additions move all of them.
template <class T>
class LastFound {
 public:
  void add(T one) {
    all_.push_back(std::move(one));
    if (all_.size() > 2 * most_found) limit();
  }
  // In the order in which they were added, most_found at most.
  [[nodiscard]] std::vector<T> take() {
    limit();
    return std::move(all_);
  }
  // Those of a period, with a warning if `what` they are is more. Ones that were left out are older
  // than any that is before the period.
  [[nodiscard]] std::vector<T> take_period(const std::function<bool(const T&)>& is_before,
                                           const std::string& what) {
    const bool any_before = std::erase_if(all_, is_before) > 0;
    const bool too_many = all_.size() > most_found;
    if (too_many || (left_out_ > 0 && !any_before)) warn_of_more(what);
    return take();
  }
  [[nodiscard]] size_t left_out() const { return left_out_; }

 private:
  void limit() {
    if (all_.size() <= most_found) return;
    left_out_ += all_.size() - most_found;
    all_.erase(all_.begin(), all_.end() - most_found);
  }
  std::vector<T> all_;
  size_t left_out_ = 0;
};

// That the recording has no group with this label, and which of those that it has was meant;
// returns the exit code.
int report_no_group(const verbs::RecordingSource& source, const std::string& group,
                    const std::vector<std::string>& known = {});

// `lead_usec`: as of Period. Prints what is wrong; the error is the exit code. That there is no
// sample in the period is one.
[[nodiscard]] std::expected<ReadRecording, int> read_samples(const Context& context,
                                                             const verbs::RecordingSource& source,
                                                             const UseSample& use,
                                                             uint64_t lead_usec = 0);

}  // namespace rdtd
