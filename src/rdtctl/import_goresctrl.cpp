// goresctrl's configuration, which containerd and CRI-O read as rdt_config_file: partitions that
// share nothing, with classes whose amounts are shares of their partition.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "import_foreign.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/policy.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "yaml_tree.hpp"

namespace rdtd {

namespace {

using Refused = std::optional<std::string>;  // why the file cannot be imported
// By key of the policy and by list of domains: the TOML text of the amounts.
using Amounts = std::map<std::string, std::map<std::string, std::string>>;

struct Bandwidth {
  std::optional<double> percent, megabytes;
};
using Bandwidths = std::map<std::string, Bandwidth>;  // by list of domains

std::string domains_of(const std::string& key) { return key == "all" ? "*" : key; }

// A percentage, a mask, or the first and last way.
std::optional<std::string> cache_amount(std::string_view text) {
  const std::string amount = text.ends_with('%') || text.starts_with("0x")
                                 ? std::string(text)
                                 : fmt::format("ways {}", text);
  return parse_cache_amount(amount) ? std::optional(toml_string(amount)) : std::nullopt;
}

std::optional<double> number_before(std::string_view text, std::string_view unit) {
  if (!text.ends_with(unit)) return std::nullopt;
  text = trim(text.substr(0, text.size() - unit.size()));
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value > 0 ? std::optional(value) : std::nullopt;
}

std::string refused_value(const YamlNode& node) {
  return fmt::format("line {}: '{}' has a value that is not known", node.line, printable(node.key));
}

bool is_empty_mask(std::string_view text) {
  return text.starts_with("0x") && text.find_first_not_of('0', 2) == std::string_view::npos;
}

// "unified", "code" and "data" of some domains, or one value for all of them.
Refused read_cache(const std::string& key, const std::string& domains, const YamlNode& node,
                   Amounts& out) {
  if (node.children.empty()) {
    const auto amount = node.values.size() == 1 ? cache_amount(node.values[0]) : std::nullopt;
    if (!amount && node.values.size() == 1 && is_empty_mask(node.values[0]))
      return fmt::format("line {}: '{}' is no way; a group has at least one way in each cache",
                         node.line, printable(node.values[0]));
    if (!amount) return refused_value(node);
    out[key][domains] = *amount;
    return std::nullopt;
  }
  for (const YamlNode& child : node.children) {
    const bool half = child.key == "code" || child.key == "data";
    const bool part = half || child.key == "unified";
    if (auto refused = read_cache(key + (half ? child.key : ""),
                                  part ? domains : domains_of(child.key), child, out))
      return refused;
  }
  return std::nullopt;
}

Refused read_bandwidth(const std::string& domains, const YamlNode& node, Bandwidths& out) {
  for (const YamlNode& child : node.children)
    if (auto refused = read_bandwidth(domains_of(child.key), child, out)) return refused;
  for (const std::string& value : node.values) {
    const auto percent = number_before(value, "%");
    const auto megabytes = number_before(value, "MBps");
    if (!percent && !megabytes) return refused_value(node);
    if (percent) out[domains].percent = percent;
    if (megabytes) out[domains].megabytes = megabytes;
  }
  return node.values.empty() && node.children.empty() ? Refused(refused_value(node)) : std::nullopt;
}

// A class's share of its partition's bandwidth.
Bandwidth share_of(const Bandwidth& of_class, const Bandwidth& of_partition) {
  Bandwidth out = of_class;
  if (of_partition.percent)
    out.percent = of_class.percent.value_or(100) * *of_partition.percent / 100;
  if (of_partition.megabytes)
    out.megabytes =
        std::min(of_class.megabytes.value_or(*of_partition.megabytes), *of_partition.megabytes);
  return out;
}

std::string bandwidth_forms(const Bandwidth& bandwidth) {
  std::string out;
  if (bandwidth.percent) out = fmt::format("\"{:.4g}%\"", std::min(*bandwidth.percent, 100.0));
  if (!bandwidth.megabytes) return out;
  const std::string rate = fmt::format("\"{:.0f} MB/s\"", *bandwidth.megabytes);
  return out.empty() ? rate : fmt::format("[{}, {}]", out, rate);
}

std::string amounts_text(const Amounts& amounts) {
  std::string out;
  for (const auto& [key, domains] : amounts) {
    std::string table;
    for (const auto& [ids, amount] : domains)
      table += fmt::format("{}{} = {}", table.empty() ? "" : ", ", toml_string(ids), amount);
    // Those of code and data are for mounts with cdp, where "unified" does not count.
    const std::string whole = key.substr(0, 2);
    if (key != whole && amounts.contains(whole)) out += "# With cdp, instead of " + whole + ": ";
    const bool everywhere = domains.size() == 1 && domains.contains("*");
    out += everywhere ? fmt::format("{} = {}\n", key, domains.begin()->second)
                      : fmt::format("{} = {{ {} }}\n", key, table);
  }
  return out;
}

class GoresctrlImport {
 public:
  ImportedText run(std::string_view text);

 private:
  Refused add_partition(const YamlNode& partition);
  Refused add_class(const YamlNode& node, const std::string& partition, const Amounts& caches,
                    const Bandwidths& bandwidths);

  std::string partitions_, groups_;
  std::set<std::string> names_;  // of groups
};

// Reads the allocations of a partition or a class; the keys that are none are for the caller.
Refused read_allocations(const YamlNode& node, Amounts& caches, Bandwidths& bandwidths) {
  for (const YamlNode& child : node.children) {
    Refused refused;
    if (child.key == "l3Allocation") refused = read_cache("l3", "*", child, caches);
    if (child.key == "l2Allocation") refused = read_cache("l2", "*", child, caches);
    if (child.key == "mbAllocation") refused = read_bandwidth("*", child, bandwidths);
    // An amount must not be lost by a slip: without it, a group may fill everything.
    const std::string key = lower(child.key);
    const bool known =
        child.key == "l3Allocation" || child.key == "l2Allocation" || child.key == "mbAllocation";
    if (!known && (key.ends_with("allocation") || key.starts_with("l3") || key.starts_with("l2") ||
                   key.starts_with("mb")))
      refused = fmt::format("line {}: '{}' is none of l3Allocation, l2Allocation and mbAllocation",
                            child.line, printable(child.key));
    if (refused) return refused;
  }
  return std::nullopt;
}

Refused GoresctrlImport::add_class(const YamlNode& node, const std::string& partition,
                                   const Amounts& caches, const Bandwidths& bandwidths) {
  const bool is_default = node.key.empty() || node.key == "DEFAULT" || node.key == "system/default";
  const std::string name = is_default ? "default" : node.key;
  if (const auto problem = is_default ? std::nullopt : group_name_problem(name))
    return fmt::format("line {}: {}", node.line, *problem);
  if (!names_.insert(name).second)
    return fmt::format("line {}: group '{}' is defined twice", node.line, name);
  Amounts amounts;
  Bandwidths own;
  if (auto refused = read_allocations(node, amounts, own)) return refused;
  // A class without an amount may fill all of its partition.
  for (const auto& [key, domains] : caches)
    if (!amounts.contains(key)) amounts[key] = {{"*", "\"all\""}};
  // On a domain of the partition's own, the class has its share of that.
  const auto everywhere = own.find("*");
  const Bandwidth usual = everywhere == own.end() ? Bandwidth{} : everywhere->second;
  for (const auto& [domains, bandwidth] : bandwidths) own.try_emplace(domains, usual);
  for (const auto& [domains, bandwidth] : own) {
    auto found = bandwidths.find(domains);
    if (found == bandwidths.end()) found = bandwidths.find("*");
    amounts["mb"][domains] =
        bandwidth_forms(found == bandwidths.end() ? bandwidth : share_of(bandwidth, found->second));
  }
  groups_ += fmt::format("\n[group.{}]\n", toml_key(name));
  if (!caches.empty()) groups_ += fmt::format("partition = {}\n", toml_string(partition));
  groups_ += amounts_text(amounts);
  for (const YamlNode& child : node.children)
    if (!child.key.ends_with("Allocation"))
      groups_ += fmt::format("# Lost: '{}'; a policy has nothing like it.\n", printable(child.key));
  return std::nullopt;
}

Refused GoresctrlImport::add_partition(const YamlNode& partition) {
  if (const auto problem = group_name_problem(partition.key))
    return fmt::format("line {}: {}", partition.line, *problem);
  Amounts caches;
  Bandwidths bandwidths;
  if (auto refused = read_allocations(partition, caches, bandwidths)) return refused;
  if (!caches.empty())
    partitions_ +=
        fmt::format("\n[partition.{}]\n{}", toml_key(partition.key), amounts_text(caches));
  const YamlNode* classes = partition.find("classes");
  if (classes != nullptr && classes->children.empty() && !classes->values.empty())
    return fmt::format("line {}: 'classes' is a list, and a map of classes by name in goresctrl",
                       classes->line);
  if (classes != nullptr)
    for (const YamlNode& one : classes->children)
      if (auto refused = add_class(one, partition.key, caches, bandwidths)) return refused;
  return std::nullopt;
}

// The map with 'partitions': the whole file, or as cri-resource-manager ("rdt") and the plugins for
// NRI ("control", "rdt", in a resource of Kubernetes below "spec") have it. Null if there is none.
const YamlNode* find_configuration(const YamlNode& top) {
  for (const auto& path : {std::vector<const char*>{},
                           {"rdt"},
                           {"control", "rdt"},
                           {"spec", "control", "rdt"},
                           {"config", "control", "rdt"}}) {
    const YamlNode* node = &top;
    for (const char* key : path)
      if (node != nullptr) node = node->find(key);
    if (node != nullptr && node->find("partitions") != nullptr) return node;
  }
  return nullptr;
}

ImportedText GoresctrlImport::run(std::string_view text) {
  const auto yaml = parse_yaml(text);
  if (!yaml) return std::unexpected(yaml.error());
  const YamlNode* configuration = find_configuration(*yaml);
  if (configuration == nullptr)
    return std::unexpected("it has no 'partitions', as goresctrl's file has");
  std::string out = "# From goresctrl's configuration. A container runtime names these groups.\n";
  if (const YamlNode* options = configuration->find("options"))
    for (const YamlNode& resource : options->children) {
      const YamlNode* optional = resource.find("optional");
      const bool skips =
          optional != nullptr && optional->values == std::vector<std::string>{"true"};
      if (skips && !out.contains("[daemon]")) out += "\n[daemon]\nunsupported = \"skip\"\n";
    }
  for (const YamlNode& partition : configuration->find("partitions")->children)
    if (auto refused = add_partition(partition)) return std::unexpected(std::move(*refused));
  return out + partitions_ + groups_;
}

}  // namespace

ImportedText import_goresctrl(std::string_view text) {
  if (!is_utf8(text)) return std::unexpected("it is not UTF-8");
  return GoresctrlImport().run(text);
}

}  // namespace rdtd
