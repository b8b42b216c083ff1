#include <fmt/format.h>

#include "output.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

JsonValue diagnostics_json(const std::vector<Diagnostic>& diagnostics) {
  JsonValue out = JsonValue::array();
  for (const Diagnostic& d : diagnostics)
    out.push_back({{"severity", d.severity == Severity::error ? "error" : "warning"},
                   {"file", d.where.file},
                   {"line", d.where.line},
                   {"column", d.where.column},
                   {"message", d.message},
                   {"hint", d.hint}});
  return out;
}

}  // namespace

int verbs::check(const Context& context, const std::vector<std::string>& files) {
  std::vector<PolicyFile> read;
  for (const std::string& file : files) read.push_back(read_policy_file(file));
  ParsedPolicy parsed = parse_policy(files.empty() ? find_policy_files(context.root) : read);
  std::vector<Diagnostic>& diagnostics = parsed.diagnostics;
  // Single files are a part of a policy, and only the whole one can be held against a machine.
  if (files.empty() && !has_errors(diagnostics)) {
    const auto machine = read_machine(context);
    if (!machine && context.snapshot_given) return report(machine.error());
    if (machine) {
      auto plan = make_plan(parsed.policy, machine->capabilities, machine->snapshot);
      std::ranges::move(plan ? plan->warnings : plan.error(), std::back_inserter(diagnostics));
      sort_by_place(diagnostics);
    }
  }
  if (context.json != Json::off)
    print_json(context, {{"valid", !has_errors(diagnostics)}, {"diagnostics", diagnostics_json(diagnostics)}});
  else
    fmt::print(stderr, "{}", format_diagnostics(diagnostics, parsed.policy.sources));
  return has_errors(diagnostics) ? Exit::failed : Exit::ok;
}

}  // namespace rdtd
