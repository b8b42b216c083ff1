// TextIndex: finds the patterns that may match a text by hash: literal patterns by the whole text,
// globs by the part before their first special character. Many patterns then cost as little as few.
// Another pattern may have the same hash, so what is found has to be compared.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rdtd/rules/condition.hpp"
#include "rdtd/rules/postings.hpp"

namespace rdtd {

using Candidates = std::vector<std::span<const Posting>>;
// Several texts may lead to the same postings.
void remove_duplicates(Candidates& candidates);

class TextIndex {
 public:
  // The number is one that the user of the index gave: of a rule, or of a pattern. The same one may
  // be added for several patterns.
  void add(ConditionKind kind, const CompiledPattern& pattern, uint32_t number);
  // To be called after the last add(), and before find().
  void sort();
  // Appends the postings of all patterns that may match.
  void find(std::string_view text, Candidates& out) const;

 private:
  Postings literal_, prefix_;      // by hash, prefix_ by that of the prefix
  std::vector<uint32_t> lengths_;  // of prefixes, ascending
};

}  // namespace rdtd
