#include "rdtd/rules/text_index.hpp"

namespace rdtd {

void TextIndex::add(ConditionKind kind, const CompiledPattern& pattern, size_t number) {
  std::string_view prefix = pattern.prefix();
  // "/a/**" matches "/a" too.
  const bool is_path = kind == ConditionKind::exe || kind == ConditionKind::cgroup;
  if (is_path && !pattern.literal && prefix.ends_with('/') &&
      pattern.text.substr(prefix.size()).starts_with("**"))
    prefix.remove_suffix(1);
  // The path of a cgroup begins with the paths of its ancestors, which count too.
  const bool whole = pattern.literal && kind != ConditionKind::cgroup;
  Postings& numbers = whole ? literal_[pattern.text] : prefix_[prefix.size()][std::string(prefix)];
  if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
}

void TextIndex::find(std::string_view text, Candidates& out) const {
  const auto append = [&](const ByText& map, std::string_view key) {
    if (const auto found = map.find(key); found != map.end()) out.push_back(&found->second);
  };
  append(literal_, text);
  for (const auto& [length, by_prefix] : prefix_) {
    if (length > text.size()) return;
    append(by_prefix, text.substr(0, length));
  }
}

}  // namespace rdtd
