#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "hidden_policies.hpp"
#include "linked_executables.hpp"
#include "no_policy.hpp"
#include "output.hpp"
#include "policy_file.hpp"
#include "rdtd/base/text.hpp"
#include "verbs.hpp"
#include "wrong_units.hpp"

namespace rdtd {

int verbs::check(const Context& context, const std::vector<std::string>& files) {
  const std::vector<PolicyFile> read =
      files.empty() ? find_policy_files(context.root) : read_named_files(context, files, "check");
  const bool any = !files.empty() || report_no_policy(context.root, read);
  if (files.empty() && has_policy(read)) report_misnamed_policies(context.root);
  ParsedPolicy parsed = parse_policy(read);
  std::vector<Diagnostic>& diagnostics = parsed.diagnostics;
  // Single files are a part of a policy; only the whole policy is checked against this machine.
  if (!has_errors(diagnostics) && (files.empty() || context.snapshot_given)) {
    const auto machine = read_machine(context);
    if (!machine && context.snapshot_given) return report(machine.error());
    if (machine) {
      auto prepared = prepare_for(*machine, read);
      if (prepared)
        diagnostics = std::move(prepared->warnings);
      else
        std::ranges::move(prepared.error().diagnostics, std::back_inserter(diagnostics));
    } else {
      note("rdtctl: not checked against this machine: {}\n", machine.error().text());
    }
  }
  std::ranges::move(unknown_users(context, parsed.policy), std::back_inserter(diagnostics));
  // Single files may be for another machine, which has other units.
  if (files.empty()) {
    std::ranges::move(hidden_policies(context.root, read), std::back_inserter(diagnostics));
    std::ranges::move(unknown_units(context, parsed.policy), std::back_inserter(diagnostics));
  }
  if (!context.elsewhere)
    for (Diagnostic& link : linked_executables(parsed.policy))
      if (std::ranges::find(diagnostics, link.where, &Diagnostic::where) == diagnostics.end())
        diagnostics.push_back(std::move(link));
  sort_by_place(diagnostics);
  print_diagnostics(context, diagnostics, parsed.policy.sources);
  if (has_errors(diagnostics) || !any) return Exit::failed;
  // On a terminal, silence would leave open whether anything was checked.
  if (context.terminal && context.json == Json::off && !parsed.policy.sources.empty())
    print("ok: {}, {}, {}\n", counted(parsed.policy.sources.size(), "file"),
          counted(parsed.policy.groups.size(), "group"),
          counted(parsed.policy.rules.size(), "rule"));
  return Exit::ok;
}

void verbs::check_loaded(const Context& context) {
  if (::geteuid() != 0) return;
  Context text = context;
  text.json = Json::off;
  (void)check(text, {});
}

}  // namespace rdtd
