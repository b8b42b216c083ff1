// Settings of other tools: the policy that is made of them is one, whatever they contain.
#include <algorithm>

#include "fuzz/input.hpp"
#include "import_foreign.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/parse.hpp"

using namespace rdtd;

namespace {

void check_policy(const ImportedText& imported) {
  if (!imported) return fuzz::require(!imported.error().empty(), "a refusal has a reason");
  // A syntax error would end the reading before the last rule and group.
  const ParsedPolicy parsed = parse_policy(std::vector{lease_file("x", *imported)});
  const auto lines = split(*imported, '\n');
  const auto count = [&](std::string_view begin) {
    return static_cast<size_t>(std::ranges::count_if(
        lines, [&](std::string_view line) { return line.starts_with(begin); }));
  };
  fuzz::require(parsed.policy.rules.size() == count("[[rule]]"), "each rule is read", *imported);
  fuzz::require(parsed.policy.groups.size() == count("[group."), "each group is read", *imported);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check_policy(import_foreign(text));
  check_policy(import_cgrules(text));
  check_policy(import_goresctrl(text));
  check_policy(import_pqos(text));
  return 0;
}
