// The text of one policy file, from parsing to a plan for a server of two sockets.
#include "fake/kernel.hpp"
#include "fuzz/input.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/plan/prepare.hpp"
#include "rdtd/resctrl/read.hpp"

using namespace rdtd;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Machine machine =
      resctrl::read_machine(fake::Kernel(fake::xeon()), {}, {0, 1, 2, 3}).value();
  const std::string text(fuzz::text_of(data, size));
  const std::vector files{PolicyFile{"p.toml", PolicyFile::State::active, text, {}}};
  const ParsedPolicy parsed = parse_policy(files);
  const auto lines = split(text, '\n').size();
  for (const Diagnostic& diagnostic : parsed.diagnostics) {
    fuzz::require(!diagnostic.message.empty(), "every diagnostic has a message");
    fuzz::require(diagnostic.where.line <= lines, "every diagnostic is at a line of the file");
  }
  const std::string printed = format_diagnostics(parsed.diagnostics, parsed.policy.sources);
  fuzz::require(printable_lines(printed) == printed, "diagnostics are printable", printed);
  const auto prepared = prepare(files, machine);
  fuzz::require(prepared || has_errors(prepared.error().diagnostics),
                "a policy is rejected with an error");
  fuzz::require(prepared || !prepared.error().diagnostics.empty(), "a rejection has a reason");
  fuzz::require(!has_errors(parsed.diagnostics) || !prepared, "a policy with errors is rejected");
  return 0;
}
