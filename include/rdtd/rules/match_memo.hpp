// MatchMemo: which patterns of a RuleSet hold for the long cgroup paths and command lines that were
// last seen. A user can nest cgroups deeply, give a process a command line of many pages, and start
// many processes and threads with them; each pattern is then compared once per text instead of once
// per thread. It belongs to one thread, and is bounded.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace rdtd {

// Of one fact.
class PatternMemo {
 public:
  enum class Answer : char { unknown, no, yes };
  using Answers = std::vector<Answer>;  // by number of the pattern

  static constexpr size_t max_texts = 64;
  static constexpr size_t max_bytes = size_t{256} * 1024;  // of the texts

  // The answers for a text, unknown at first. `rules` identifies the rule set; answers for another
  // one are dropped.
  [[nodiscard]] Answers& answers(const std::shared_ptr<const void>& rules, const std::string& text,
                                 size_t patterns) {
    if (rules != rules_) clear();
    rules_ = rules;
    if (const auto known = by_text_.find(text); known != by_text_.end()) return known->second;
    if (by_text_.size() == max_texts || bytes_ + text.size() > max_bytes) clear();
    bytes_ += text.size();
    return by_text_.emplace(text, Answers(patterns, Answer::unknown)).first->second;
  }

 private:
  void clear() {
    by_text_.clear();
    bytes_ = 0;
  }

  std::shared_ptr<const void> rules_;  // held, so that no later rule set has the same address
  std::unordered_map<std::string, Answers> by_text_;
  size_t bytes_ = 0;
};

struct MatchMemo {
  // Comparing a shorter text costs less than looking it up.
  static constexpr size_t min_cgroup = 256;
  static constexpr size_t min_cmdline = 1024;

  PatternMemo cgroups, cmdlines;
};

}  // namespace rdtd
