// SchemataText: a group's amounts as a recording has them, "L3:0-1=f;2=ff MB:0-2=100", read once so
// that looking one up costs little: a recording may have thousands of groups, each in many domains.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/model/resource.hpp"

namespace rdtd::observe {

class SchemataText {
 public:
  explicit SchemataText(std::string text);
  // "" if there is none. `resource`: as the row has it, "L3CODE".
  [[nodiscard]] std::string_view value(std::string_view resource, DomainId domain) const;
  // The first of those that a row has an amount for: no machine has more, but a file may.
  [[nodiscard]] std::set<DomainId> domains(std::string_view row) const;
  // The ways of a cache ("L3"), of instructions and data together.
  [[nodiscard]] std::optional<uint64_t> ways(const std::string& resource, DomainId domain) const;

 private:
  // Positions in the text, so that a value of many ranges of domains is there once.
  struct Part {
    uint32_t begin = 0, size = 0;
  };
  struct Entry {
    Part row, value;
    uint32_t first = 0, last = 0;  // domains
  };
  [[nodiscard]] Part part_of(std::string_view text) const;
  [[nodiscard]] std::string_view text_of(Part part) const {
    return std::string_view(text_).substr(part.begin, part.size);
  }
  void append(std::string_view row, std::string_view entry);

  std::string text_;
  std::vector<Entry> entries_;  // by row and domain; none overlap
};

}  // namespace rdtd::observe
