#include "rdtd/rules/text_index.hpp"

#include <algorithm>
#include <functional>

namespace rdtd {

namespace {

uint32_t hash_of(std::string_view text) {
  return static_cast<uint32_t>(std::hash<std::string_view>{}(text));
}

}  // namespace

void remove_duplicates(Candidates& candidates) {
  if (candidates.size() < 2) return;
  std::ranges::sort(candidates, {}, [](const auto& postings) { return postings.data(); });
  const auto repeated =
      std::ranges::unique(candidates, {}, [](const auto& postings) { return postings.data(); });
  candidates.erase(repeated.begin(), candidates.end());
}

void TextIndex::add(ConditionKind kind, const CompiledPattern& pattern, uint32_t number) {
  std::string_view prefix = pattern.prefix();
  // "/a/**" matches "/a" too.
  const bool is_path = kind == ConditionKind::exe || kind == ConditionKind::cgroup;
  if (is_path && !pattern.literal && prefix.ends_with('/') &&
      pattern.text.substr(prefix.size()).starts_with("**"))
    prefix.remove_suffix(1);
  // The path of a cgroup begins with the paths of its ancestors, which count too.
  if (pattern.literal && kind != ConditionKind::cgroup) {
    literal_.add(hash_of(pattern.text), number);
    return;
  }
  prefix_.add(hash_of(prefix), number);
  const auto length = static_cast<uint32_t>(prefix.size());
  const auto at = std::ranges::lower_bound(lengths_, length);
  if (at == lengths_.end() || *at != length) lengths_.insert(at, length);
}

void TextIndex::sort() {
  literal_.sort();
  prefix_.sort();
}

void TextIndex::find(std::string_view text, Candidates& out) const {
  const auto append = [&](const Postings& postings, std::string_view key) {
    if (const auto found = postings.find(hash_of(key)); !found.empty()) out.push_back(found);
  };
  append(literal_, text);
  for (const uint32_t length : lengths_) {
    if (length > text.size()) return;
    append(prefix_, text.substr(0, length));
  }
}

}  // namespace rdtd
