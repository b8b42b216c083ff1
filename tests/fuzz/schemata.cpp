// The text of a `schemata` file.
#include "fuzz/input.hpp"
#include "rdtd/model/schemata.hpp"

using namespace rdtd;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parsed = parse_schemata(fuzz::text_of(data, size));
  if (!parsed) return 0;
  const std::string text = format_schemata(*parsed);
  const auto again = parse_schemata(text);
  fuzz::require(again == parsed, "schemata that are formatted are parsed to the same value", text);
  fuzz::require(parsed->empty() == schemata_line(*parsed).empty(), "schemata are shown to people");
  return 0;
}
