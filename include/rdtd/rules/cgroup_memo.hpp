// CgroupMemo: which patterns of a RuleSet hold for the cgroups with long paths that were last seen.
// A user can nest cgroups deeply, and start many processes in them; each pattern is then compared
// once per path instead of once per process. It belongs to one thread, and holds a bounded number
// of paths.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace rdtd {

class CgroupMemo {
 public:
  enum class Answer : char { unknown, no, yes };
  using Answers = std::vector<Answer>;  // by number of the pattern

  // Comparing a shorter path costs less than looking it up.
  static constexpr size_t min_path_size = 256;
  static constexpr size_t max_paths = 64;

  // The answers for a path, unknown at first. `rules` identifies the rule set; answers for another
  // one are dropped.
  [[nodiscard]] Answers& answers(const std::shared_ptr<const void>& rules, const std::string& path,
                                 size_t patterns) {
    if (rules != rules_ || (by_path_.size() == max_paths && !by_path_.contains(path)))
      by_path_.clear();
    rules_ = rules;
    return by_path_.try_emplace(path, patterns, Answer::unknown).first->second;
  }

 private:
  std::shared_ptr<const void> rules_;  // held, so that no later rule set has the same address
  std::unordered_map<std::string, Answers> by_path_;
};

}  // namespace rdtd
