#include "rdtd/daemon/problems.hpp"

#include <algorithm>
#include <iterator>

#include "log.hpp"

namespace rdtd {

bool Problems::set(const std::string& key, const std::string& text,
                   const std::string& public_text) {
  return problems_.insert_or_assign(key, Problem{text, public_text}).second;
}

void Problems::report(const std::string& key, const std::string& text,
                      const std::string& public_text) {
  if (set(key, text, public_text)) log(LogEvent::kernel_refused, text);
}

void Problems::clear_all(const std::string& kind, const std::set<std::string>& failed) {
  std::erase_if(problems_, [&](const auto& problem) {
    return problem.first.starts_with(kind) && !failed.contains(problem.first.substr(kind.size()));
  });
}

void Problems::forget_policy(bool looked) {
  std::erase_if(problems_, [&](const auto& problem) {
    const std::string& key = problem.first;
    const bool of_look = std::ranges::find(of_looks, key) != std::end(of_looks);
    return key != lock && key != job && !key.starts_with(file) && !key.starts_with(missing) &&
           (looked || !of_look);
  });
}

std::set<std::string> Problems::failures() const {
  std::set<std::string> out;
  for (const auto& [key, problem] : problems_)
    if (std::ranges::none_of(not_compared,
                             [&](std::string_view kind) { return key.starts_with(kind); }))
      out.insert(key);
  return out;
}

std::vector<std::string> Problems::texts(bool for_root) const {
  std::vector<std::string> out;
  for (const auto& [key, problem] : problems_)
    out.push_back(for_root ? problem.text : problem.public_text);
  return out;
}

std::string Problems::public_text(const std::string& key) const {
  const auto found = problems_.find(key);
  return found == problems_.end() ? "" : found->second.public_text;
}

}  // namespace rdtd
