#include "rdtd/policy/group_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "rdtd/base/text.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd {

namespace {

std::string amount_value(const DomainAmount& line) {
  const std::string first = toml_string(line.amount.value.text);
  return line.other_form
             ? fmt::format("[{}, {}]", first, toml_string(line.other_form->value.text))
             : first;
}

std::string ids_text(const std::set<DomainId>& domains) {
  CpuSet ids;
  for (const DomainId id : domains) ids.insert(static_cast<uint32_t>(id));
  return format_cpu_list(ids);
}

// An inline table from domains to amounts, or one amount for all.
std::string table_value(const AmountTable& table, const std::map<DomainId, std::string>& lowered) {
  if (lowered.empty() && table.size() == 1 && !table.front().domains)
    return amount_value(table.front());
  std::vector<std::string> entries;
  for (const auto& [domain, value] : lowered)
    entries.push_back(fmt::format("\"{}\" = {}", to_string(domain), value));
  for (const DomainAmount& line : table) {
    std::set<DomainId> domains = line.domains.value_or(std::set<DomainId>{});
    for (const auto& [domain, value] : lowered) domains.erase(domain);
    if (line.domains && domains.empty()) continue;
    entries.push_back(fmt::format("\"{}\" = {}", line.domains ? ids_text(domains) : "*",
                                  amount_value(line)));
  }
  return "{ " + join(entries, ", ") + " }";
}

std::string controls_value(const ControlTables& controls) {
  std::vector<std::string> entries;
  for (const auto& [name, table] : controls)
    entries.push_back(fmt::format("{} = {}", toml_key(name), table_value(table, {})));
  return "{ " + join(entries, ", ") + " }";
}

}  // namespace

std::string replacing_group_text(const Group& group,
                                 const std::map<DomainId, std::string>& lowered) {
  std::string out = fmt::format("[group.{}]\noverride = true\n", toml_key(group.name.value));
  for (const auto& [resource, table] : group.amounts)
    out += fmt::format(
        "{} = {}\n", resource_key(resource),
        table_value(table, resource == Resource::MB ? lowered : decltype(lowered){}));
  if (!group.controls.empty()) out += fmt::format("control = {}\n", controls_value(group.controls));
  if (group.exclusive)
    out += fmt::format("exclusive = {}\n", group.strict ? "\"strict\"" : "true");
  if (group.partition) out += fmt::format("partition = {}\n", toml_string(group.partition->value));
  if (group.cpus)
    out += fmt::format("cpus = {}\n", toml_string(format_cpu_list(group.cpus->value)));
  if (!group.description.empty())
    out += fmt::format("description = {}\n", toml_string(group.description));
  return out;
}

}  // namespace rdtd
