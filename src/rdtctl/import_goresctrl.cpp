// goresctrl's configuration, which containerd and CRI-O read as rdt_config_file: partitions that
// share nothing, with classes whose amounts are shares of their partition.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "goresctrl_share.hpp"
#include "import_foreign.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/policy/policy.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "yaml_tree.hpp"

namespace rdtd {

namespace {

using Refused = std::optional<std::string>;  // why the file cannot be imported
using DomainSet = std::set<int>;

struct Bandwidth {
  std::optional<double> percent, megabytes;
};

// Short lines name many domains, and those of a partition count again for each of its classes; no
// file names so many.
class Named {
 public:
  [[nodiscard]] Refused add(size_t domains) {
    if (domains > left_) return "it names domains of caches more often than a machine has any";
    left_ -= domains;
    return std::nullopt;
  }

 private:
  size_t left_ = 1'000'000;
};

std::expected<DomainSet, std::string> domains_of(const YamlNode& node, Named& all) {
  constexpr unsigned highest = 1023;
  if (node.key == "all") return DomainSet{other_domains};
  const auto ids = parse_cpu_list(node.key, highest + 1);
  if (ids)
    if (auto refused = all.add(ids->size())) return std::unexpected(*std::move(refused));
  if (ids && !ids->empty() && *ids->rbegin() <= highest) return DomainSet(ids->begin(), ids->end());
  return std::unexpected(fmt::format("line {}: '{}' is neither 'all' nor a list of cache ids",
                                     node.line, printable(node.key)));
}

std::optional<double> number_before(std::string_view text, std::string_view unit) {
  if (!text.ends_with(unit)) return std::nullopt;
  text = trim(text.substr(0, text.size() - unit.size()));
  const auto value = parse_decimal(text);
  return value && *value > 0 ? value : std::nullopt;
}

std::string refused_value(const YamlNode& node) {
  return fmt::format("line {}: '{}' has a value that is not known", node.line, printable(node.key));
}

bool is_empty_mask(std::string_view text) {
  return text.starts_with("0x") && text.find_first_not_of('0', 2) == std::string_view::npos;
}

// "unified", "code" and "data" of some domains, or one value for all of them.
Refused read_cache(const std::string& key, const DomainSet& domains, const YamlNode& node,
                   Named& all, GoresctrlShares& out) {
  if (node.children.empty()) {
    const auto share =
        node.values.size() == 1 ? parse_share(node.values[0], node.line) : std::nullopt;
    if (!share && node.values.size() == 1 && is_empty_mask(node.values[0]))
      return fmt::format("line {}: '{}' is no way; a group has at least one way in each cache",
                         node.line, printable(node.values[0]));
    if (!share) return refused_value(node);
    for (const int domain : domains) out[key].insert_or_assign(domain, *share);
    return std::nullopt;
  }
  for (const YamlNode& child : node.children) {
    const bool half = child.key == "code" || child.key == "data";
    const bool part = half || child.key == "unified";
    const auto named = part ? domains : domains_of(child, all);
    if (!named) return named.error();
    if (auto refused = read_cache(key + (half ? child.key : ""), *named, child, all, out))
      return refused;
  }
  return std::nullopt;
}

Refused read_bandwidth(const DomainSet& domains, const YamlNode& node, Named& all,
                       ByDomain<Bandwidth>& out) {
  for (const YamlNode& child : node.children) {
    const auto named = domains_of(child, all);
    if (!named) return named.error();
    if (auto refused = read_bandwidth(*named, child, all, out)) return refused;
  }
  for (const std::string& value : node.values) {
    const auto percent = number_before(value, "%");
    const auto megabytes = number_before(value, "MBps");
    if (!percent && !megabytes) return refused_value(node);
    for (const int domain : domains) {
      if (percent) out[domain].percent = percent;
      if (megabytes) out[domain].megabytes = megabytes;
    }
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

// All of a machine's bandwidth has a word that each machine takes.
std::string bandwidth_forms(const Bandwidth& bandwidth) {
  std::string out;
  if (bandwidth.percent.value_or(0) >= 100 && !bandwidth.megabytes) return "\"unlimited\"";
  if (bandwidth.percent) out = fmt::format("\"{:.4g}%\"", std::min(*bandwidth.percent, 100.0));
  if (!bandwidth.megabytes) return out;
  // It writes the number as it is, and the kernel's MBps are MiB/s.
  const std::string rate = fmt::format("\"{:.0f} MiB/s\"", *bandwidth.megabytes);
  return out.empty() ? rate : fmt::format("[{}, {}]", out, rate);
}

// Reads the allocations of a partition or a class; the keys that are none are for the caller.
Refused read_allocations(const YamlNode& node, Named& all, GoresctrlShares& caches,
                         ByDomain<Bandwidth>& bandwidths) {
  for (const YamlNode& child : node.children) {
    Refused refused;
    if (child.key == "l3Allocation")
      refused = read_cache("l3", {other_domains}, child, all, caches);
    if (child.key == "l2Allocation")
      refused = read_cache("l2", {other_domains}, child, all, caches);
    if (child.key == "mbAllocation")
      refused = read_bandwidth({other_domains}, child, all, bandwidths);
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

bool is_allocation(const YamlNode& node) { return node.key.ends_with("Allocation"); }

std::string lost_line(const YamlNode& node, std::string_view where = "") {
  return fmt::format("# Lost: '{}'{}; a policy has nothing like it.\n", printable(node.key), where);
}

// Keys beside options and partitions.
std::string lost_at_top(const YamlNode& configuration) {
  std::string out;
  for (const YamlNode& child : configuration.children) {
    const bool is_on = child.values == std::vector<std::string>{"true"};
    if (child.key == "options" || child.key == "partitions" || (child.key == "enable" && is_on))
      continue;
    // "usePodQoSAsDefaultClass", "usagePodQoSAsDefaultClass"
    if (!child.key.ends_with("PodQoSAsDefaultClass"))
      out += lost_line(child);
    else if (is_on)
      out += fmt::format(
          "# Lost: '{}'; write a [[rule]] for each class that has a group, in this\n"
          "# order: unit = \"kubepods-besteffort.slice\", \"kubepods-burstable.slice\", "
          "\"kubepods.slice\".\n",
          printable(child.key));
  }
  return out;
}

class GoresctrlImport {
 public:
  ImportedText run(std::string_view text);

 private:
  struct Partition {
    std::string name;
    GoresctrlShares caches;
    ByDomain<Bandwidth> bandwidths;
    bool has_part = false;  // a class with less than all of it
  };

  Refused add_partition(const YamlNode& node);
  Refused add_class(const YamlNode& node, Partition& partition);
  [[nodiscard]] Refused count(const GoresctrlShares& caches);
  [[nodiscard]] std::string default_group() const;

  std::vector<Partition> partitions_;
  std::string partition_tables_, groups_;
  std::set<std::string> names_;  // of groups
  Named named_;
  // The percentage of all partitions together, by cache.
  std::map<std::string, ByDomain<unsigned>> percent_;
  bool has_masks_ = false;
  bool rounds_ = false;        // to whole ways, otherwise than a policy does
  bool only_percent_ = false;  // an amount of bandwidth without a rate
  bool overlaps_ = false;      // two classes share ways that a policy may give to one
};

// SYSTEM_DEFAULT until 2021.
bool is_root_class(std::string_view name) {
  return name.empty() || name == "DEFAULT" || name == "system/default" || name == "SYSTEM_DEFAULT";
}

Refused GoresctrlImport::add_class(const YamlNode& node, Partition& partition) {
  const bool is_default = is_root_class(node.key);
  const std::string name = is_default ? "default" : node.key;
  if (const auto problem = is_default ? std::nullopt : group_name_problem(name))
    return fmt::format("line {}: {}", node.line, *problem);
  if (!names_.insert(name).second)
    return fmt::format("line {}: group '{}' is defined twice", node.line, name);
  // A class has something in each domain of its partition.
  size_t domains = partition.bandwidths.size();
  for (const auto& [cache, shares] : partition.caches) domains += shares.size();
  if (auto refused = named_.add(domains)) return refused;
  GoresctrlShares caches;
  ByDomain<Bandwidth> bandwidths;
  if (auto refused = read_allocations(node, named_, caches, bandwidths)) return refused;
  auto policy = amounts_of_class(caches, partition.caches);
  if (!policy)
    return fmt::format("{} does not fit into partition '{}', from whose lowest way it counts",
                       policy.error(), partition.name);
  rounds_ = rounds_ || policy->rounds;
  if (policy->rounds) overlaps_ = std::exchange(partition.has_part, true) || overlaps_;
  for (const int domain : domains_in(bandwidths, partition.bandwidths)) {
    const Bandwidth* found = value_for_domain(bandwidths, domain);
    const Bandwidth* of = value_for_domain(partition.bandwidths, domain);
    const Bandwidth own = found == nullptr ? Bandwidth{} : *found;
    const std::string& forms = policy->amounts["mb"][domain] =
        bandwidth_forms(of == nullptr ? own : share_of(own, *of));
    only_percent_ = only_percent_ || forms.ends_with("%\"");
  }
  groups_ += fmt::format("\n[group.{}]\n", toml_key(name));
  if (!partition.caches.empty())
    groups_ += fmt::format("partition = {}\n", toml_string(partition.name));
  groups_ += share_lines(*policy, fmt::format("partition '{}'", partition.name));
  for (const YamlNode& child : node.children)
    if (!is_allocation(child)) groups_ += lost_line(child);
  return std::nullopt;
}

Refused GoresctrlImport::add_partition(const YamlNode& node) {
  if (const auto problem = group_name_problem(node.key))
    return fmt::format("line {}: {}", node.line, *problem);
  Partition& partition = partitions_.emplace_back(Partition{node.key, {}, {}, false});
  if (auto refused = read_allocations(node, named_, partition.caches, partition.bandwidths))
    return refused;
  if (auto refused = count(partition.caches)) return refused;
  if (!partition.caches.empty())
    partition_tables_ +=
        fmt::format("\n[partition.{}]\n{}", toml_key(partition.name),
                    share_lines(amounts_of_partition(partition.caches), "the cache"));
  std::string lost;
  for (const YamlNode& child : node.children)
    if (!is_allocation(child) && child.key != "classes")
      lost += lost_line(child, fmt::format(" of partition '{}'", partition.name));
  partition_tables_ += (partition.caches.empty() && !lost.empty() ? "\n" : "") + lost;
  const YamlNode* classes = node.find("classes");
  if (classes != nullptr && classes->children.empty() && !classes->values.empty())
    return fmt::format("line {}: 'classes' is a list, and a map of classes by name in goresctrl",
                       classes->line);
  if (classes != nullptr)
    for (const YamlNode& one : classes->children)
      if (auto refused = add_class(one, partition)) return refused;
  return std::nullopt;
}

Refused GoresctrlImport::count(const GoresctrlShares& caches) {
  for (const auto& [cache, shares] : caches) {
    if (auto refused = named_.add(percent_[cache].size())) return refused;
    ByDomain<unsigned> sums;
    for (const int domain : domains_in(percent_[cache], shares)) {
      const unsigned* sum = value_for_domain(percent_[cache], domain);
      const GoresctrlShare* share = value_for_domain(shares, domain);
      const bool is_mask = share != nullptr && share->ways;
      has_masks_ = has_masks_ || is_mask;
      sums[domain] =
          (sum == nullptr ? 0 : *sum) + (share == nullptr || is_mask ? 0 : share->percent());
    }
    percent_[cache] = std::move(sums);
  }
  return std::nullopt;
}

// goresctrl leaves the whole cache to processes of no class. Here nobody else has the ways of a
// partition, and the default group needs some.
std::string GoresctrlImport::default_group() const {
  constexpr unsigned leaves_ways = 75;  // with more, all may be taken: amounts are rounded to ways
  unsigned most = 0;
  std::vector<std::pair<std::string, int>> full;  // caches and their domains
  for (const std::string cache : {"l2", "l3"})
    if (const auto found = percent_.find(cache); found != percent_.end())
      for (const auto& [domain, percent] : found->second) {
        most = std::max(most, percent);
        if (percent >= 100) full.emplace_back(cache, domain);
      }
  const auto has_share = [](const Partition& partition, const auto& at) {
    const auto shares = partition.caches.find(at.first);
    return shares != partition.caches.end() && value_for_domain(shares->second, at.second);
  };
  const auto last =
      std::ranges::find_if(partitions_.rbegin(), partitions_.rend(), [&](const Partition& one) {
        return !one.caches.empty() &&
               std::ranges::all_of(full, [&](const auto& at) { return has_share(one, at); });
      });
  if (names_.contains("default") || (most <= leaves_ways && !has_masks_)) return {};
  if (last == partitions_.rend())
    return "\n# The partitions leave no ways to other processes, each in another cache or domain: "
           "make\n# some of them smaller.\n";
  const std::string line = "partition = " + toml_string(last->name);
  if (most < 100)
    return "\n# If the partitions leave no ways to other processes:\n# [group.default]\n# " + line +
           "\n";
  return "\n# The partitions leave no ways to other processes, which may use all ways in "
         "goresctrl.\n"
         "[group.default]\n" +
         line + "\n";
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

// The first line below it that is not read, or 0. Those of other keys than goresctrl's do not
// count.
unsigned first_unread(const YamlNode& node) {
  if (node.unread != 0) return node.unread;
  for (const YamlNode& child : node.children)
    if (const unsigned line = first_unread(child)) return line;
  return 0;
}

ImportedText GoresctrlImport::run(std::string_view text) {
  const auto yaml = parse_yaml(text);
  if (!yaml) return std::unexpected(yaml.error());
  const YamlNode* configuration = find_configuration(*yaml);
  if (configuration == nullptr)
    return std::unexpected("it has no 'partitions', as goresctrl's file has");
  if (const unsigned line = first_unread(*configuration)) return std::unexpected(not_read(line));
  std::string head = "# From goresctrl's configuration. A container runtime names these groups.\n";
  std::string out = lost_at_top(*configuration);
  if (const YamlNode* options = configuration->find("options"))
    for (const YamlNode& resource : options->children) {
      const YamlNode* optional = resource.find("optional");
      const bool skips =
          optional != nullptr && optional->values == std::vector<std::string>{"true"};
      if (skips && !out.contains("[daemon]")) out += "\n[daemon]\nunsupported = \"skip\"\n";
    }
  for (const YamlNode& partition : configuration->find("partitions")->children)
    if (auto refused = add_partition(partition)) return std::unexpected(std::move(*refused));
  if (rounds_)
    head +=
        "# goresctrl rounds the share of a class up to whole ways, and rdtd to the nearest number: "
        "see "
        "'rdtctl plan'.\n";
  if (overlaps_)
    head +=
        "# In goresctrl, the shares of a partition's classes all begin at its lowest way; rdtd "
        "places\n# them side by side while there is room.\n";
  if (only_percent_)
    head +=
        "# On AMD, and on a mount with mba_MBps, bandwidth is a rate: there, write both forms, "
        "such "
        "as\n# mb = [\"50%\", \"8 GB/s\"].\n";
  return head + out + partition_tables_ + groups_ + default_group();
}

}  // namespace

ImportedText import_goresctrl(std::string_view text) {
  if (!is_utf8(text)) return std::unexpected("it is not UTF-8");
  return GoresctrlImport().run(text);
}

}  // namespace rdtd
