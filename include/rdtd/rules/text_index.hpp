// TextIndex: finds the patterns that may match a text by hash: literal patterns by the whole text,
// globs by the part before their first special character. Many patterns then cost as little as few.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rdtd/rules/condition.hpp"

namespace rdtd {

// Numbers that the user of the index gave, ascending: rules, or patterns.
using Postings = std::vector<size_t>;
using Candidates = std::vector<const Postings*>;

class TextIndex {
 public:
  // The numbers are added in ascending order; the same one may be added for several patterns.
  void add(ConditionKind kind, const CompiledPattern& pattern, size_t number);
  // Appends the postings of all patterns that may match.
  void find(std::string_view text, Candidates& out) const;

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using ByText = std::unordered_map<std::string, Postings, TextHash, std::equal_to<>>;

  ByText literal_;
  std::map<size_t, ByText> prefix_;  // by length of the prefix
};

}  // namespace rdtd
