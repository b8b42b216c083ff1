// Problems: what is wrong now, by what fails and not by the text of the moment, so that nothing is
// logged twice. A text may quote lines of policy files, which only root may see.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

class Problems {
 public:
  // True if it is new.
  bool set(const std::string& key, const std::string& text) { return set(key, text, text); }
  bool set(const std::string& key, const std::string& text, const std::string& public_text);
  // True if it was there.
  bool clear(const std::string& key) { return problems_.erase(key) > 0; }
  // Clears those whose keys begin with `kind`, except what still fails: the rest of the key.
  void clear_all(const std::string& kind, const std::set<std::string>& failed);
  // Of a policy that is no longer in force. Those of the daemon itself stay, and what was missing
  // until it is known what is missing now; without `looked`, also what a look at all processes has
  // found, which holds until the next one.
  void forget_policy(bool looked);

  // Sets it, and logs it if it is new.
  void report(const std::string& key, const std::string& text) { report(key, text, text); }
  void report(const std::string& key, const std::string& text, const std::string& public_text);

  [[nodiscard]] bool has(const std::string& key) const { return problems_.contains(key); }
  // The keys of what failed and the next comparison tries again: all but `not_compared`.
  [[nodiscard]] std::set<std::string> failures() const;
  [[nodiscard]] bool empty() const { return problems_.empty(); }
  [[nodiscard]] std::vector<std::string> texts(bool for_root) const;
  // Empty if there is no such problem.
  [[nodiscard]] std::string public_text(const std::string& key) const;

  // Keys of problems that do not end with a policy: another tool keeps the lock of resctrl, a
  // change that does not go on, and, begun with `file`, a group with files that cannot be read.
  static constexpr const char* lock = "lock";
  static constexpr const char* job = "job";
  static constexpr const char* file = "file ";
  // Parts of the policy that the machine cannot have. They are missing until a load brings them.
  static constexpr const char* missing = "missing ";
  // Problems that somebody else must solve, and problems whose cause is tried again elsewhere. Keys
  // begin with these.
  static constexpr std::array<std::string_view, 9> not_compared = {
      lock, job, missing, "others ", "pace ", "templates", "refused", "store", "containers"};
  // Problems that a look at all processes finds: they cannot be listed, some cannot be moved, or
  // examined.
  static constexpr std::array<std::string_view, 3> of_looks = {"list", "refused", "unknown"};

 private:
  struct Problem {
    std::string text, public_text;
  };
  std::map<std::string, Problem> problems_;
};

}  // namespace rdtd
