#include "group_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "names.hpp"
#include "plain_value.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// Whether the group is exclusive, and strictly so; nothing if it is neither true, false nor
// "strict", which is reported.
std::optional<std::pair<bool, bool>> read_exclusive(const FileReader& in, const toml::key& key,
                                                    const toml::node& node) {
  if (const auto* text = node.as_string()) {
    const std::string_view word = text->get();
    if (word == "strict") return std::pair(true, true);
    in.error(in.at(node),
             fmt::format("'exclusive' must be true, false or \"strict\", not '{}'", word),
             lower(word) == "strict" ? "write exclusive = \"strict\"" : boolean_hint(key, node));
    return std::nullopt;
  }
  if (const auto* value = node.as_boolean()) return std::pair(value->get(), false);
  in.wrong_type(key, node, "true, false or \"strict\"", boolean_hint(key, node));
  return std::nullopt;
}

// The handlers refer to the arguments.
FileReader::Keys group_keys(const FileReader& in, GroupTable& out, AmountReader& amounts) {
  Group& group = out.group;
  const auto holder = group.name.value == "default" ? AmountReader::Holder::default_group
                                                    : AmountReader::Holder::group;
  FileReader::Keys keys = {
      {"exclusive",
       [&](const auto& k, const auto& n) {
         out.exclusive_where = in.at(k);
         if (const auto value = read_exclusive(in, k, n))
           std::tie(group.exclusive, group.strict) = *value;
       }},
      {"partition", [&](const auto& k, const auto& n) { group.partition = in.string(k, n); }},
      {"description",
       [&](const auto& k, const auto& n) {
         if (auto text = in.string(k, n)) group.description = text->value;
       }},
      {"protected", [&](const auto& k,
                        const auto& n) { group.is_protected = in.boolean(k, n).value_or(false); }},
      {"adopt",
       [&](const auto& k, const auto& n) {
         group.adopt = in.boolean(k, n).value_or(false);
         if (group.adopt && group.name.value == "default")
           in.error(in.at(k), "'adopt' in [group.default]: the default group is always there",
                    "remove this line");
       }},
      {"override",
       [&](const auto& k, const auto& n) { group.replaces = in.boolean(k, n).value_or(false); }},
      {"cpus",
       [&](const auto& k, const auto& n) {
         out.cpus.has_own = true;
         out.cpus.own = read_cpus(in, k, n);
         if (!out.cpus.own.empty()) group.cpus = {{}, in.at(n)};
       }},
      {"monitor_cpus",
       [&](const auto& k, const auto& n) { read_monitor_cpus(in, k, n, group, out.cpus); }},
      {"mb_min",
       [&](const auto& k, const auto& n) {
         if (group.controls.contains(floor_of_bandwidth))
           in.error(in.at(k), "'mb_min' and the control MB_MIN are the same", "remove one of them");
         group.controls[floor_of_bandwidth] =
             amounts.read(in, AmountReader::Holder::other, Resource::MB, k, n);
       }},
      {"control", [&](const auto& k, const auto& n) {
         for (auto& [name, table] : amounts.read_controls(in, k, n))
           group.controls[name] = std::move(table);
       }}};
  for (const Resource resource : all_resources)
    keys.emplace_back(resource_key(resource), [&, holder, resource](const auto& k, const auto& n) {
      group.amounts[resource] = amounts.read(in, holder, resource, k, n);
    });
  return keys;
}

FileReader::Keys partition_keys(const FileReader& in, PartitionTable& out, AmountReader& amounts) {
  FileReader::Keys keys = {
      {"override",
       [&](const auto& k, const auto& n) { out.replaces = in.boolean(k, n).value_or(false); }},
      {"exclusive", [&](const auto& k, const auto& n) {
         const auto value = read_exclusive(in, k, n);
         if (value) out.partition.strict = value->second;
         if (value && !value->first)
           in.error(in.at(n), "a partition is always exclusive to its groups",
                    "remove 'exclusive', or write exclusive = \"strict\"");
       }}};
  for (const Resource resource : all_resources)
    if (is_cache(resource))
      keys.emplace_back(resource_key(resource), [&, resource](const auto& k, const auto& n) {
        out.partition.amounts[resource] =
            amounts.read(in, AmountReader::Holder::other, resource, k, n);
      });
  return keys;
}

}  // namespace

bool is_group_key(const FileReader& in, std::string_view name) {
  GroupTable table;
  AmountReader amounts;
  const FileReader::Keys keys = group_keys(in, table, amounts);
  return std::ranges::any_of(keys, [&](const auto& entry) { return entry.first == name; });
}

namespace {

void check_amendment(const FileReader& in, const GroupTable& table) {
  const Group& group = table.group;
  if (group.replaces || group.exclusive || group.partition || group.cpus || group.adopt ||
      !group.monitor_cpus.empty() || group.is_protected || !group.description.empty() ||
      !group.controls.empty())
    in.error(group.name.where,
             fmt::format("group '{}' with 'amend' has amounts only", group.name.value),
             "everything else stays as it is in the policy files");
}

}  // namespace

GroupTable read_group(const FileReader& in, const toml::key& key, const toml::table& table,
                      AmountReader& amounts, bool in_lease) {
  GroupTable out;
  out.group.name = {std::string(key.str()), in.at(key)};
  check_name(in, "group", out.group.name);
  FileReader::Keys keys = group_keys(in, out, amounts);
  if (in_lease)
    keys.emplace_back("amend", [&](const auto& k, const auto& n) {
      out.group.amends = in.boolean(k, n).value_or(false);
    });
  in.read_table(table, table_title("group", key.str()), keys);
  if (out.group.amends) check_amendment(in, out);
  if (out.group.exclusive && out.group.partition)
    in.error(out.exclusive_where,
             fmt::format(
                 "group '{}' is in partition '{}', which its groups share: it cannot be exclusive",
                 out.group.name.value, out.group.partition->value),
             "remove this line; nobody outside of the partition fills its ways");
  return out;
}

PartitionTable read_partition(const FileReader& in, const toml::key& key, const toml::table& table,
                              AmountReader& amounts) {
  PartitionTable out;
  Partition& partition = out.partition;
  partition.name = {std::string(key.str()), in.at(key)};
  check_name(in, "partition", partition.name);
  const size_t before = in.problems();
  in.read_table(table, table_title("partition", key.str()), partition_keys(in, out, amounts));
  if (partition.amounts.empty() && in.problems() == before)
    in.error(partition.name.where,
             fmt::format("partition '{}' has no cache amount", partition.name.value),
             "write l3 = \"4 ways\"");
  return out;
}

}  // namespace rdtd
