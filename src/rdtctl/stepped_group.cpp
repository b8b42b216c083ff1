#include "stepped_group.hpp"

#include <fmt/format.h>

#include "toml_text.hpp"

namespace rdtd {

namespace {

// "0-1"; "*" for the domains that no other line lists.
std::string domains_text(const DomainAmount& line) {
  if (!line.domains) return "*";
  CpuSet ids;
  for (const DomainId id : *line.domains) ids.insert(static_cast<unsigned>(id));
  return format_cpu_list(ids);
}

std::string amount_text(const DomainAmount& line) {
  const std::string first = toml_string(line.amount.value.text);
  return line.other_form ? fmt::format("[{}, {}]", first, toml_string(line.other_form->value.text))
                         : first;
}

std::string table_text(const AmountTable& table) {
  std::string out;
  for (const DomainAmount& line : table)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", toml_string(domains_text(line)),
                       amount_text(line));
  return "{ " + out + " }";
}

}  // namespace

std::string stepped_group_text(const Group& group, Resource resource, const std::string& amount) {
  std::string out =
      fmt::format("[group.{}]\noverride = true\n{} = {}\n", toml_key(group.name.value),
                  resource_key(resource), toml_string(amount));
  for (const auto& [other, table] : group.amounts)
    if (other != resource) out += fmt::format("{} = {}\n", resource_key(other), table_text(table));
  if (group.exclusive) out += group.strict ? "exclusive = \"strict\"\n" : "exclusive = true\n";
  if (group.partition) out += fmt::format("partition = {}\n", toml_string(group.partition->value));
  if (group.cpus)
    out += fmt::format("cpus = {}\n", toml_string(format_cpu_list(group.cpus->value)));
  if (!group.description.empty())
    out += fmt::format("description = {}\n", toml_string(group.description));
  return out;
}

}  // namespace rdtd
