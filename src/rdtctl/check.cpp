#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "output.hpp"
#include "rdtd/base/directory.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// "-" stands for standard input.
PolicyFile read(const std::string& path) {
  if (path != "-") return read_policy_file(path);
  auto text = read_all(STDIN_FILENO, "standard input", policy_file_limit);
  if (text) return {.path = "<stdin>", .text = std::move(*text), .problem = {}};
  const bool large = text.error().code == EFBIG;
  return {.path = "<stdin>",
          .state = PolicyFile::State::unreadable,
          .text = {},
          .problem = large ? "is larger than 1 MiB, which no policy is"
                           : fmt::format("cannot be read: {}", std::strerror(text.error().code))};
}

JsonValue diagnostics_json(const std::vector<Diagnostic>& diagnostics) {
  JsonValue out = JsonValue::array();
  for (const Diagnostic& d : diagnostics) {
    JsonValue entry = {{"severity", d.severity == Severity::error ? "error" : "warning"},
                       {"file", d.where.file},
                       {"message", d.message}};
    if (d.where.line != 0) entry["line"] = d.where.line;
    if (d.where.column != 0) entry["column"] = d.where.column;
    if (!d.hint.empty()) entry["hint"] = d.hint;
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

int verbs::check(const Context& context, const std::vector<std::string>& files) {
  std::vector<PolicyFile> given;
  for (const std::string& file : files) given.push_back(read(file));
  ParsedPolicy parsed = parse_policy(files.empty() ? find_policy_files(context.root) : given);
  std::vector<Diagnostic>& diagnostics = parsed.diagnostics;
  // Single files are a part of a policy; only the whole policy is checked against this machine.
  if (!has_errors(diagnostics) && (files.empty() || context.snapshot_given)) {
    const auto machine = read_machine(context);
    if (!machine && context.snapshot_given) return report(machine.error());
    if (machine) {
      auto plan = make_plan(parsed.policy, machine->capabilities, machine->snapshot);
      std::ranges::move(plan ? plan->warnings : plan.error(), std::back_inserter(diagnostics));
    } else {
      note("rdtctl: not checked against this machine: {}\n", machine.error().text());
    }
  }
  std::ranges::move(unknown_users(context, parsed.policy), std::back_inserter(diagnostics));
  sort_by_place(diagnostics);
  if (context.json != Json::off)
    print_json(context, {{"valid", !has_errors(diagnostics)},
                         {"diagnostics", diagnostics_json(diagnostics)}});
  else
    note("{}", format_diagnostics(diagnostics, parsed.policy.sources));
  return has_errors(diagnostics) ? Exit::failed : Exit::ok;
}

}  // namespace rdtd
