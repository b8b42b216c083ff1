#include "synonyms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

// Applies in a table that has `key`.
struct Synonym {
  std::string_view word;
  std::string_view key;
  std::string_view hint;  // empty: "did you mean 'KEY'?"
};

constexpr std::string_view needs_rule = "conditions belong in a [[rule]] with this group's name";
constexpr std::string_view needs_group = "amounts belong in the rule's [group.NAME]";
constexpr std::string_view caches_only =
    "a partition divides caches only: bandwidth belongs in its [group.NAME]";
constexpr std::string_view needs_control =
    "write control = { NAME = ... } with the name that schemata has";
constexpr std::string_view resource_keys = "write l3 = \"4 ways\" or mb = \"50%\"";

constexpr auto synonyms = std::to_array<Synonym>({
    // rules
    {"comm", "name", {}},
    {"command", "name", {}},
    {"process", "name", {}},
    {"program", "name", {}},
    {"executable", "exe", {}},
    {"path", "exe", {}},
    {"args", "cmdline", {}},
    {"arguments", "cmdline", {}},
    {"service", "unit", {}},
    {"slice", "unit", {}},
    {"scope", "unit", {}},
    {"container", "cgroup", {}},
    {"pod", "cgroup", {}},
    {"uid", "user", {}},
    {"gid", "user_group", {}},
    {"pid", "name", "rules match by name, unit, cgroup ...; use rdtctl assign for a PID"},
    {"class", "name", "did you mean 'group'?"},
    {"clos", "name", "did you mean 'group'?"},
    {"cos", "name", "did you mean 'group'?"},
    {"l3", "name", needs_group},
    {"l2", "name", needs_group},
    {"mb", "name", needs_group},
    {"exclusive", "name", "'exclusive' belongs in the rule's [group.NAME]"},
    // groups and partitions
    {"mba", "mb", {}},
    {"membw", "mb", {}},
    {"memory_bandwidth", "mb", {}},
    {"bandwidth", "mb", {}},
    {"llc", "l3", {}},
    {"cache", "l3", {}},
    {"schemata", "l3", resource_keys},
    {"mb", "exclusive", caches_only},  // in a partition
    {"smba", "exclusive", caches_only},
    {"mb_max", "mb", {}},
    {"controls", "control", {}},
    {"l3pri", "control", needs_control},
    {"l3max", "control", needs_control},
    {"l3min", "control", needs_control},
    {"l3_max", "control", needs_control},
    {"l2_max", "control", needs_control},
    {"mbpri", "control", needs_control},
    {"mbhdl", "control", needs_control},
    {"mb_hlim", "control", needs_control},
    {"mb_node", "control", needs_control},
    {"mb_wght", "control", needs_control},
    {"gmb", "control", needs_control},
    {"gsmba", "control", needs_control},
    {"cpu", "cpus", {}},
    {"cpuset", "cpus", {}},
    {"name", "l3", needs_rule},
    {"thread", "l3", needs_rule},
    {"exe", "l3", needs_rule},
    {"cmdline", "l3", needs_rule},
    {"cgroup", "l3", needs_rule},
    {"unit", "l3", needs_rule},
    {"user", "l3", needs_rule},
    {"user_group", "l3", needs_rule},
    // the top of a file
    {"class", "group", "write [group.NAME]"},
    {"clos", "group", "write [group.NAME]"},
    {"cos", "group", "write [group.NAME]"},
    {"groups", "group", "write [group.NAME]"},
    {"io_alloc", "io", "write [io]"},
    {"ddio", "io", "write [io]"},
    {"devices", "io", "write [io]"},
    {"rules", "rule", "write [[rule]]"},
});

}  // namespace

std::string unknown_key_hint(std::string_view name, std::span<const std::string> keys) {
  const auto has = [&](std::string_view key) { return std::ranges::find(keys, key) != keys.end(); };
  std::string word = lower(name.substr(0, 64));
  std::ranges::replace(word, '-', '_');
  if (has(word)) return fmt::format("did you mean '{}'?", word);
  for (const Synonym& synonym : synonyms) {
    if (synonym.word != word || !has(synonym.key)) continue;
    if (!synonym.hint.empty()) return std::string(synonym.hint);
    return fmt::format("did you mean '{}'?", synonym.key);
  }
  const auto nearest = nearest_name(word, keys);
  return nearest ? fmt::format("did you mean '{}'?", *nearest) : "";
}

}  // namespace rdtd
