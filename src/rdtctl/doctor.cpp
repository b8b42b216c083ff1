#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "diagnose.hpp"
#include "output.hpp"
#include "rdtd/base/text.hpp"
#include "runtimes.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

namespace fs = std::filesystem;

// Empty if it cannot be read.
std::string text_of(const fs::path& path) {
  const auto directory = Directory::open(path.parent_path().string());
  return directory ? directory->read(path.filename().string()).value_or("") : "";
}

void read_kernel(const Context& context, MachineFacts& facts) {
  const fs::path proc = context.proc;
  const std::string cpuinfo = text_of(proc / "cpuinfo");
  for (const std::string_view line : split(cpuinfo, '\n')) {
    if (!line.starts_with("flags")) continue;
    for (const std::string_view flag : split(line.substr(line.find(':') + 1), ' '))
      facts.cpu_flags.emplace(flag);
    break;
  }
  facts.command_line = trim(text_of(proc / "cmdline"));
  facts.kernel_has_resctrl = text_of(proc / "filesystems").contains("resctrl");
  facts.mount_point = context.resctrl;
  const std::string mounts = text_of(proc / "mounts");
  for (const std::string_view line : split(mounts, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() > 3 && words[1] == context.resctrl && words[2] == "resctrl")
      facts.mount_options = std::string(words[3]);
  }
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

void read_policy(const Context& context, MachineFacts& facts) {
  const ParsedPolicy parsed = parse_policy(find_policy_files(context.root));
  if (const auto first =
          std::ranges::find(parsed.diagnostics, Severity::error, &Diagnostic::severity);
      first != parsed.diagnostics.end())
    facts.policy_error = format_diagnostic(*first, {});  // without the excerpt
  for (const Group& group : parsed.policy.groups)
    if (group.name.value != "default") facts.policy_groups.push_back(group.name.value);
  const auto note = [](std::string& place, const AmountTable& table) {
    if (place.empty() && !table.empty()) place = table.front().amount.where.text();
  };
  const auto look = [&](const AmountTables& tables) {
    for (const auto& [resource, table] : tables)
      if (resource == Resource::L3 || resource == Resource::L2)
        note(facts.l3_requested, table);
      else if (is_cache(resource))
        note(facts.code_and_data_requested, table);
  };
  for (const Group& group : parsed.policy.groups) look(group.amounts);
  for (const Partition& partition : parsed.policy.partitions) look(partition.amounts);
}

MachineFacts find_facts(const Context& context) {
  MachineFacts facts;
  read_kernel(context, facts);
  facts.container = container_kind(context);
  read_policy(context, facts);
  facts.runtimes = find_runtime_settings(context.root);
  const auto machine = read_machine(context);
  if (!machine) {
    facts.tree_error = machine.error().text();
  } else {
    facts.num_closids = machine->capabilities.num_closids();
    for (const auto& [name, state] : machine->snapshot.groups)
      if (name != root_group)
        (machine->snapshot.owned.contains(name) ? facts.own_groups : facts.foreign_groups)
            .push_back(name);
  }
  auto client = Client::connect();
  if (const auto daemon = client ? client->properties() : std::unexpected(client.error())) {
    facts.daemon_runs = true;
    facts.daemon_state = daemon->state;
    facts.last_reload_error = daemon->last_reload_error;
    facts.problems = daemon->problems;
  }
  return facts;
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
      print("{:<8} {}\n", to_text(finding.kind), finding.what);
      if (!finding.cure.empty())
        print("{:<8} {} {}\n", "", context.utf8 ? "\u2192" : "->", finding.cure);
    }
  }
  return healthy ? Exit::ok : Exit::failed;
}

}  // namespace rdtd
