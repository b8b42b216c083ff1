#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "diagnose.hpp"
#include "group_facts.hpp"
#include "kernel_facts.hpp"
#include "output.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/bus/units.hpp"
#include "rdtd/resctrl/read.hpp"
#include "runtimes.hpp"
#include "verbs.hpp"
#include "verify.hpp"
#include "wrong_units.hpp"

namespace rdtd {

namespace {

namespace fs = std::filesystem;

// "FILE:LINE:COLUMN: error: MESSAGE".
std::string first_line(const Diagnostic& diagnostic) {
  const std::string text = format_diagnostic(diagnostic, {});
  return text.substr(0, text.find('\n'));
}

// As systemd-detect-virt(1) does it: the container manager sets a variable for pid 1, or creates a
// file.
std::string container_kind(const Context& context) {
  if (const std::string kind = text_of(fs::path(context.root) / "run/systemd/container");
      !kind.empty())
    return std::string(trim(kind));
  const std::string environment = text_of(fs::path(context.proc) / "1/environ");
  for (const std::string_view variable : split(environment, '\0'))
    if (variable.starts_with("container=")) return std::string(variable.substr(10));
  if (fs::exists(fs::path(context.root) / ".dockerenv")) return "docker";
  if (fs::exists(fs::path(context.root) / "run/.containerenv")) return "podman";
  return "";
}

// The names of info/ that say what the kernel offers.
std::set<std::string> offered(const TreeMachine& machine) {
  std::set<std::string> out;
  for (const auto& [resource, cache] : machine.capabilities.caches)
    out.emplace(to_string(resource));
  for (const auto& [resource, bandwidth] : machine.capabilities.bandwidths)
    out.emplace(to_string(resource));
  for (const auto& [resource, control] : machine.capabilities.controls)
    out.emplace(to_string(resource));
  for (const std::string& name : resctrl::monitoring_directories(machine.tree.filesystem())
                                     .value_or(std::vector<std::string>{})) {
    const std::string features =
        machine.tree.filesystem().read(fmt::format("info/{}/mon_features", name)).value_or("");
    for (const std::string_view event : split(features, '\n')) out.emplace(trim(event));
  }
  return out;
}

// The first error of a plan for this machine, without its excerpt.
std::string plan_error(const Context& context, const TreeMachine& machine) {
  const auto prepared = prepare_for(machine, find_policy_files(context.root));
  if (prepared) return "";
  return first_line(
      *std::ranges::find(prepared.error().diagnostics, Severity::error, &Diagnostic::severity));
}

// In mbm_event mode the filter says what is counted, in the others the file before it.
void read_counted_traffic(const TreeMachine& machine, MachineFacts& facts) {
  const auto& tree = machine.tree.filesystem();
  if (machine.snapshot.mbm_resource.empty())
    facts.partly_counted =
        partly_counted(tree.read("info/L3_MON/mbm_total_bytes_config").value_or(""));
  else if (const auto filter = tree.read("info/L3_MON/event_configs/mbm_total_bytes/event_filter"))
    facts.filtered_reads = filtered_reads(*filter);
}

// Of the unit that mounts resctrl, if it has failed.
std::optional<std::string> failed_mount_options() {
  constexpr const char* unit = "sys-fs-resctrl.mount";
  auto units = Units::connect();
  const auto mount = units ? units->find(unit) : std::nullopt;
  if (!mount || mount->state != "failed") return std::nullopt;
  return units->mount_options(unit).value_or("");
}

Policy read_policy(const Context& context, MachineFacts& facts) {
  const std::vector<PolicyFile> files = find_policy_files(context.root);
  facts.no_policy = std::ranges::none_of(files, [](const PolicyFile& file) {
    return file.state == PolicyFile::State::active || file.state == PolicyFile::State::unreadable;
  });
  for (const PolicyFile& file : files)
    if (file.state == PolicyFile::State::active) facts.active_files.push_back(file.path);
  ParsedPolicy parsed = parse_policy(files);
  if (const auto first =
          std::ranges::find(parsed.diagnostics, Severity::error, &Diagnostic::severity);
      first != parsed.diagnostics.end()) {
    facts.policy_error = first_line(*first);
    facts.policy_hint = first->hint;
  }
  for (const Group& group : parsed.policy.groups)
    if (group.name.value != "default") facts.policy_groups.push_back(group.name.value);
  const auto note = [](std::string& place, const AmountTable& table) {
    if (place.empty() && !table.empty()) place = table.front().amount.where.text();
  };
  const auto look = [&](const AmountTables& tables) {
    for (const auto& [resource, table] : tables)
      if (resource == Resource::L3CODE || resource == Resource::L3DATA)
        note(facts.l3_halves_requested, table);
      else if (resource == Resource::L2CODE || resource == Resource::L2DATA)
        note(facts.l2_halves_requested, table);
  };
  facts.skips_unsupported = parsed.policy.daemon.unsupported == OnUnsupported::skip;
  for (const Group& group : parsed.policy.groups) look(group.amounts);
  for (const Partition& partition : parsed.policy.partitions) look(partition.amounts);
  return std::move(parsed.policy);
}

void ask_observer(Client& client, MachineFacts& facts) {
  const auto observed = client.observed(UINT64_MAX);
  facts.guard_without_observer = !observed && observed.error().unreachable();
  if (observed) facts.guard_problem = observed->guard.problem;
}

MachineFacts find_facts(const Context& context) {
  MachineFacts facts;
  read_kernel(context, facts);
  facts.container = container_kind(context);
  if (context.root == "/" && !facts.mount_options)
    facts.failed_mount_options = failed_mount_options();
  const Policy policy = read_policy(context, facts);
  if (context.root == "/")
    for (WrongUnit& unit : find_wrong_units(policy))
      facts.wrong_units.push_back(
          {std::move(unit.name), unit.where.text(), std::move(unit.alias_of)});
  facts.runtimes = find_runtime_settings(context.root);
  facts.mixed_drivers_cgroup = find_mixed_drivers_cgroup(context.root);
  const auto machine = read_machine(context);
  if (!machine) {
    facts.tree_error = machine.error().text();
    facts.tree_error_code = machine.error().code;
    facts.kernel_too_old = machine.error().detail == resctrl::too_old;
  } else {
    if (!context.snapshot_given) facts.offered = offered(*machine);
    read_groups(machine->capabilities, machine->snapshot, policy, facts);
    find_used(machine->tree.filesystem(), machine->snapshot, facts);
    for (const auto& [resource, info] : machine->capabilities.caches)
      if (info.cbm_mask.empty()) facts.caches_without_ways.emplace_back(to_string(resource));
    read_counted_traffic(*machine, facts);
    if (facts.policy_error.empty()) facts.plan_error = plan_error(context, *machine);
  }
  auto client = Client::connect();
  const auto daemon = client ? client->properties() : std::unexpected(client.error());
  facts.daemon_hangs = !daemon && daemon.error().kind == Client::Failure::Kind::timed_out;
  if (daemon) {
    facts.daemon_runs = true;
    facts.daemon_state = daemon->state;
    if (context.root == "/") facts.files_in_force = files_in_force(*daemon);
    facts.files_have_changed = files_have_changed(*daemon);
    facts.last_reload_error = daemon->last_reload_error;
    facts.problems = daemon->problems;
    if (policy.guard.mode != GuardMode::off) ask_observer(*client, facts);
  }
  return facts;
}

Judgment judgment_of(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::fine: return Judgment::good;
    case Finding::Kind::warning: return Judgment::odd;
    case Finding::Kind::problem: break;
  }
  return Judgment::bad;
}

const char* to_text(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::fine: return "ok";
    case Finding::Kind::warning: return "warning";
    case Finding::Kind::problem: return "problem";
  }
  return "";
}

}  // namespace

int verbs::doctor(const Context& context) {
  const std::vector<Finding> findings = diagnose(find_facts(context));
  const bool healthy = std::ranges::none_of(
      findings, [](const Finding& finding) { return finding.kind == Finding::Kind::problem; });
  if (context.json != Json::off) {
    JsonValue list = JsonValue::array();
    for (const Finding& finding : findings)
      list.push_back(
          {{"kind", to_text(finding.kind)}, {"what", finding.what}, {"cure", finding.cure}});
    print_json(context, {{"healthy", healthy}, {"findings", list}});
  } else {
    for (const Finding& finding : findings) {
      const std::string text =
          wrapped(context, fmt::format("{:<8} {}", to_text(finding.kind), finding.what), 9);
      const size_t kind = std::string_view(to_text(finding.kind)).size();
      print("{}{}\n", colored(context, judgment_of(finding.kind), text.substr(0, kind)),
            text.substr(kind));
      if (!finding.cure.empty())
        print("{}\n",
              wrapped(context,
                      fmt::format("{:<8} {} {}", "", context.utf8 ? "\u2192" : "->", finding.cure),
                      11));
    }
  }
  return healthy ? Exit::ok : Exit::failed;
}

}  // namespace rdtd
