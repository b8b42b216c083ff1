#include "unknown_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "amount_hints.hpp"
#include "names.hpp"
#include "pattern_finding.hpp"
#include "plain_value.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/policy/parse.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "synonyms.hpp"
#include "unit_in_key.hpp"

namespace rdtd {

namespace {

constexpr size_t longest_value = 64;  // that a hint repeats

// Without what separates the words of a name, in small letters: "coreids" for "core_ids" and
// "coreIds".
std::string joined_words(std::string_view name) {
  std::string out = lower(name.substr(0, 64));
  std::erase_if(out, [](char c) { return c == '_' || c == '-'; });
  return out;
}

bool contains(const auto& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

const Synonym* find_synonym(std::string_view word, const auto& has) {
  for (const auto part : {rows_of_rules(), rows_of_others(), rows_of_groups()})
    for (const Synonym& synonym : part)
      if (has(synonym.key) && contains(split(synonym.words, ' '), word)) return &synonym;
  return nullptr;
}

// All keys if a line has room for them, else those that policies have most.
std::string main_keys(std::span<const std::string> keys) {
  constexpr size_t room_for_all = 80;
  if (const std::string all = join(keys, ", "); all.size() <= room_for_all)
    return fmt::format("the keys are {}", all);
  constexpr auto most_used = std::to_array<std::string_view>(
      {"l3", "mb", "exclusive", "cpus", "partition", "description", "group", "unit", "name", "exe",
       "user", "cgroup", "container", "pod"});
  std::string out;
  for (const std::string_view key : most_used)
    if (contains(keys, key)) out += fmt::format("{}{}", out.empty() ? "" : ", ", key);
  return fmt::format("the main keys are {}; see rdtd.toml(5)", out);
}

// ".slice" of the hint for a slice; empty of another hint.
std::string_view type_of_units(std::string_view hint) {
  for (const std::string_view of_type : {of_type_service, of_type_slice, of_type_scope})
    if (hint == of_type) return hint.substr(hint.find('.'), hint.rfind('"') - hint.find('.'));
  return {};
}

// "batch.slice" in quotes of slice = "batch", an array of several; empty of no text.
std::string units_of_type(const UnknownKey& unknown, std::string_view hint) {
  const std::string_view type = type_of_units(hint);
  constexpr size_t most = 8;
  const std::vector<std::string_view> names =
      unknown.texts.empty() ? std::vector{unknown.text} : unknown.texts;
  std::vector<std::string> units;
  for (const std::string_view name : names) {
    if (type.empty() || name.empty() || name.size() > longest_value) return {};
    if (name.contains(' ')) return {};
    std::string_view stem = name;
    if (hint == of_type_service && stem.ends_with(".timer"))
      stem.remove_suffix(std::string_view(".timer").size());
    units.push_back(rdtd::quoted(has_unit_type(lower(stem)) ? std::string(stem)
                                                            : fmt::format("{}{}", stem, type)));
  }
  if (units.size() > most) return {};
  return units.size() == 1 ? units.front() : fmt::format("[{}]", join(units, ", "));
}

// The condition that the value is one of: "name" of binary = "steam", "exe" of program =
// "/usr/bin/tar".
std::string_view condition_meant(std::string_view key, std::string_view text) {
  if ((key != "name" && key != "exe") || text.empty()) return key;
  if (text.contains(" -") || text.contains(" /")) return "cmdline";
  if (text.starts_with('/')) return text.contains(' ') ? key : "exe";
  return text.contains('/') ? key : "name";
}

// The rule of a condition that is in [group.NAME].
std::string rule_of(const UnknownKey& unknown, std::string_view word) {
  constexpr std::string_view title = "[group.";
  const auto is_for_rule = [](std::string_view key) { return key != "l3" && key != "group"; };
  const Synonym* synonym = nullptr;
  for (const Synonym& one : rows_of_rules())
    if (is_for_rule(one.key) && (one.hint.empty() || !type_of_units(one.hint).empty()) &&
        contains(split(one.words, ' '), word))
      synonym = &one;
  const std::string units = synonym == nullptr ? "" : units_of_type(unknown, synonym->hint);
  const bool is_key = std::ranges::any_of(
      condition_kinds, [&](ConditionKind kind) { return to_string(kind) == unknown.name; });
  if (!unknown.table.starts_with(title) || (unknown.text.empty() && units.empty()) ||
      unknown.text.size() > longest_value || (synonym == nullptr && !is_key))
    return std::string(needs_rule);
  const std::string group(
      unknown.table.substr(title.size(), unknown.table.size() - title.size() - 1));
  return fmt::format("write [[rule]] with group = {} and {} = {}", rdtd::quoted(group),
                     is_key ? unknown.name : condition_meant(synonym->key, unknown.text),
                     units.empty() ? rdtd::quoted(unknown.text) : units);
}

// The hint with the value in place of the word that stands for it: pod = "shop/*" of "shop".
std::string with_value(std::string_view hint, const UnknownKey& unknown, std::string_view word) {
  struct Blank {
    std::string_view words;  // keys whose value it is
    std::string_view name;
    std::string_view behind;
  };
  constexpr auto blanks = std::to_array<Blank>({
      {words_for_workloads, "NAME", "*"},
      {"composeservice", "NAME", "*"},
      {"lxc lxd incus", "NAME", "\""},
      {"compose composeproject flatpak app desktop window jar javaclass", "NAME", "*"},
      {"account accounts", "NAME", "\""},
      {"iothread iothreads iothreadid", "ID", "\""},
      {"containerid dockerid job jobs jobid alloc allocid slurmjob", "ID", "*"},
  });
  std::string out(hint);
  const bool is_number =
      unknown.text.empty() && (word.contains("job") || word.contains("step") ||
                               word.starts_with("iothread") || word.starts_with("account"));
  const std::string_view value = is_number ? unknown.number : unknown.text;
  if (value.empty() || name_problem(value)) return out;
  // Slurm has job_12; "*12*" would match user-1200.slice too.
  constexpr std::string_view anywhere = "*ID*";
  if (const size_t at = out.find(anywhere);
      word != "nomadjob" && !word.contains("array") && hint == of_a_scheduler && is_digits(value))
    return out.replace(at, anywhere.size(),
                       fmt::format("{}_{}", word.contains("step") ? "step" : "job", value));
  for (const auto& [words, name, behind] : blanks)
    if (const size_t at = out.find(fmt::format("{}{}", name, behind));
        at != std::string::npos && contains(split(words, ' '), word))
      out.replace(at, name.size(), value);
  return out;
}

// pod = "shop/*" of namespace = "shop", with one of several; "" of a text that is none.
std::string pods_of_namespaces(const UnknownKey& unknown) {
  constexpr size_t most = 8;
  if (unknown.texts.size() > most) return {};
  constexpr std::string_view in_globs = "*?[]";
  std::vector<std::string> pods;
  for (const std::string_view space :
       unknown.texts.empty() ? std::vector{unknown.text} : unknown.texts) {
    std::string plain(space);
    std::erase_if(plain, [&](char c) { return in_globs.contains(c); });
    if (space.empty() || space.size() > longest_value || (!plain.empty() && name_problem(plain)))
      return {};
    pods.push_back(fmt::format("\"{}/*\"", space));
  }
  if (pods.size() == 1) return "write pod = " + pods.front();
  return fmt::format("write pod = [{}]", join(pods, ", "));
}

// pod = "shop/web*" of namespace = "shop" and deployment = "web".
std::string pods_of_workload(const UnknownKey& unknown) {
  if (name_problem(unknown.pod_namespace) || name_problem(unknown.workload)) return {};
  return fmt::format("write pod = \"{}/{}*\" in place of both", unknown.pod_namespace,
                     unknown.workload);
}

// pod = "shop/web-*" of namespace = "shop" beside pod = "web-*".
std::string hint_for_namespace(const UnknownKey& unknown) {
  if (unknown.pods.empty()) {
    std::string pods = pods_of_workload(unknown);
    if (pods.empty()) pods = pods_of_namespaces(unknown);
    return pods.empty() ? std::string(of_namespace) : pods;
  }
  constexpr size_t most = 4;
  const auto has_namespace = [](std::string_view pod) { return pod.contains('/'); };
  if (std::ranges::all_of(unknown.pods, has_namespace))
    return "remove this line: 'pod' has the namespace in front";
  if (unknown.text.empty() || name_problem(unknown.text)) return "write pod = \"NAMESPACE/NAME\"";
  if (unknown.pods.size() > most)
    return fmt::format("write {}/ in front of each pod, and remove this line", unknown.text);
  std::vector<std::string> pods;
  for (const std::string_view pod : unknown.pods)
    pods.push_back(rdtd::quoted(has_namespace(pod) ? std::string(pod)
                                                   : fmt::format("{}/{}", unknown.text, pod)));
  const std::string all = join(pods, ", ");
  return fmt::format("write pod = {} in place of both",
                     pods.size() == 1 ? all : fmt::format("[{}]", all));
}

// cpus = "4-7" of cpu_mask = "f0" and "0xf0", and of the kernel's "1,00000000".
std::string hint_for_cpu_mask(const UnknownKey& unknown) {
  constexpr size_t longest = 1024;
  std::string digits(unknown.text);
  if (const auto number = parse_unsigned<uint64_t>(unknown.number); digits.empty() && number)
    digits = fmt::format("{:x}", *number);
  std::erase(digits, ',');
  if (digits.starts_with("0x")) digits.erase(0, 2);
  CpuSet cpus;
  for (size_t i = 0; i < digits.size() && digits.size() <= longest; i++) {
    const auto bits = parse_unsigned<unsigned>(digits.substr(digits.size() - 1 - i, 1), 16);
    if (!bits) return std::string(of_cpu_mask);
    for (unsigned bit = 0; bit < 4; bit++)
      if ((*bits >> bit & 1) != 0) cpus.insert(static_cast<unsigned>(i) * 4 + bit);
  }
  return cpus.empty() ? std::string(of_cpu_mask)
                      : fmt::format("write cpus = \"{}\"", format_cpu_list(cpus));
}

// The hint for the key's name, made more precise by its value.
std::string hint_by_value(const UnknownKey& unknown, std::string_view word, std::string_view hint,
                          const AmountsOfTable& amounts) {
  if (hint == needs_rule) return rule_of(unknown, word);
  if (hint == of_cpu_mask) return hint_for_cpu_mask(unknown);
  if (hint == resource_keys) {
    const std::vector<std::string> lines(unknown.texts.begin(), unknown.texts.end());
    std::string amount =
        hint_for_amount(lines.empty() ? std::string(unknown.text) : join(lines, "\n"), amounts);
    if (!amount.empty()) return amount;
  }
  if (hint == of_script && !unknown.text.empty() && unknown.text.size() <= longest_value &&
      !unknown.text.ends_with('/') && unknown.text.find_first_of("*?[]") == std::string_view::npos)
    return fmt::format("write cmdline = {}",
                       rdtd::quoted(fmt::format(
                           "*{}*", unknown.text.substr(
                                       unknown.text.contains('/') ? unknown.text.rfind('/') : 0))));
  if (word.starts_with("kthread") || word.starts_with("kernelthread"))
    return unknown.text.empty() && unknown.texts.empty() ? std::string(hint) : did_you_mean("name");
  if (hint == an_end)
    if (std::string end = hint_for_end(unknown, word, amounts); !end.empty()) return end;
  if (word == "groups" && unknown.beside_group) return did_you_mean("user_group");
  if (hint == is_group_of_rule && !unknown.beside_group && !unknown.texts.empty() &&
      !name_problem(unknown.text))
    return fmt::format("write group = \"{}\"", unknown.text);
  if (hint == is_group_of_rule && unknown.beside_group)
    return has_unit_type(unknown.text)
               ? did_you_mean("unit")
               : "'group' has it already: remove this line, or write a condition such as unit";
  if (hint == on_unsupported && unknown.is_on)
    return fmt::format("write unsupported = \"{}\"",
                       (word == "strict") == *unknown.is_on ? "refuse" : "skip");
  if (hint.starts_with("write [[rule]] with") && contains(unknown.inner_keys, "group"))
    return std::string(hint.substr(0, hint.find(", and a [group")));
  if (hint == of_namespace) return hint_for_namespace(unknown);
  if (hint == pattern::every_process && is_one_of(word, {"all", "any"}) && !unknown.is_on)
    return std::string(of_alternatives);
  if (hint == of_kubernetes && is_workload_key(word))
    if (std::string pods = pods_of_workload(unknown); !pods.empty()) return pods;
  if (hint == of_record && parse_cache_amount(unknown.text)) return did_you_mean("record");
  if (const size_t at = hint.find(".NAME]");
      hint.starts_with("write [") && at != std::string_view::npos && !unknown.inner_name.empty())
    return fmt::format("{}.{}{}{}", hint.substr(0, at), toml_key(unknown.inner_name),
                       hint.substr(at + std::string_view(".NAME").size()),
                       unknown.has_name_line ? ", without the line of 'name'" : "");
  if (!type_of_units(hint).empty() && !(unknown.text.empty() && unknown.texts.empty())) {
    const std::string units = units_of_type(unknown, hint);
    return units.empty() ? did_you_mean("unit") : "write unit = " + units;
  }
  if (hint == qos_class)
    if (std::string of_value = hint_for_qos(unknown.text); !of_value.empty()) return of_value;
  if (hint == qos_class && !unknown.text.empty())
    return "rules do not know the QoS of a scheduler, only the classes of Kubernetes: " +
           std::string(qos_class);
  if (hint == commented_out && unknown.is_on && *unknown.is_on != word.starts_with("dis"))
    return "remove this line: what a file of the policy has is in force";
  if (word == "mode" && lower(unknown.text).starts_with("pseudo"))
    return "write [pseudo_lock.NAME] with l2 or l3 in place of the group";
  return with_value(hint, unknown, word);
}

// Of a word for the key, whose value may be one of another.
std::string hint_for_key(const UnknownKey& unknown, std::string_view word, std::string_view key,
                         const AmountsOfTable& amounts) {
  if (std::string line = hint_for_number(unknown, word, key, amounts); !line.empty()) return line;
  if (unknown.table == "[io]" && unknown.is_on)
    return *unknown.is_on ? "remove this line: [io] with l3 is for I/O devices already"
                          : "remove [io]: it sets the ways that I/O devices fill";
  return did_you_mean(condition_meant(key, unknown.text));
}

// Whether it is a table that has what belongs in a [group.NAME].
bool has_keys_of_group(const UnknownKey& unknown) {
  return std::ranges::any_of(unknown.inner_keys, [](std::string_view key) {
    const std::string word = joined_words(key);
    const auto has_word = [&](const Synonym& one) { return contains(split(one.words, ' '), word); };
    return std::ranges::any_of(
               rows_of_others(),
               [&](const Synonym& one) { return one.hint == in_a_group && has_word(one); }) ||
           std::ranges::any_of(rows_of_groups(), [&](const Synonym& one) {
             return one.hint.empty() && (one.key == "l3" || one.key == "mb") && has_word(one);
           });
  });
}

// Whether it is a table that has keys of [daemon] only.
bool has_keys_of_daemon(const UnknownKey& unknown) {
  return !unknown.inner_keys.empty() &&
         std::ranges::all_of(unknown.inner_keys, [](std::string_view key) {
           const auto rows = rows_of_others();
           const auto row = std::ranges::find(rows, it_belongs_in_daemon, &Synonym::hint);
           return contains(split(row->words, ' '), joined_words(key));
         });
}

// [redis] with l3 and mb.
std::string hint_for_group_table(const UnknownKey& unknown, std::span<const std::string> keys) {
  if (!contains(keys, "rule") || !has_keys_of_group(unknown) || name_problem(unknown.name))
    return {};
  return fmt::format("write [group.{}]", toml_key(unknown.name));
}

// [vm.web]: what a condition is named after, as a table at the top.
std::string hint_for_table(const UnknownKey& unknown, std::string_view word,
                           std::span<const std::string> keys) {
  constexpr auto conditions =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"vm", "vm"},
                                                                    {"vms", "vm"},
                                                                    {"pod", "pod"},
                                                                    {"pods", "pod"},
                                                                    {"container", "container"},
                                                                    {"containers", "container"},
                                                                    {"unit", "unit"},
                                                                    {"units", "unit"},
                                                                    {"service", "unit"},
                                                                    {"services", "unit"},
                                                                    {"slice", "unit"},
                                                                    {"scope", "unit"},
                                                                    {"user", "user"},
                                                                    {"cgroup", "cgroup"},
                                                                    {"name", "name"}});
  constexpr size_t longest_first_key = 64;
  if (unknown.inner_keys.empty() || !contains(keys, "rule")) return {};
  const std::string_view first_key = unknown.inner_keys.front();
  if (first_key.size() > longest_first_key || has_keys_of_group(unknown) ||
      contains(unknown.inner_keys, "group"))
    return {};
  const auto* const found =
      std::ranges::find(conditions, word, &std::pair<std::string_view, std::string_view>::first);
  if (found == conditions.end()) return {};
  if (!unknown.inner_rule.empty())
    return fmt::format("write [[rule]] in place of [{}.{}]", unknown.name,
                       toml_key(unknown.inner_rule));
  return fmt::format("write [[rule]] with {} = {}, and a [group.NAME] for its amounts",
                     found->second, rdtd::quoted(std::string(first_key)));
}

// [partitions.p.classes.c] of goresctrl, and [partition.p.group.c].
std::string hint_for_classes(const UnknownKey& unknown) {
  constexpr std::string_view title = "[partition.";
  if (unknown.table.starts_with(title) && is_word_for_groups(unknown.name) &&
      !unknown.inner_name.empty())
    return fmt::format(
        "write [group.{}] with partition = {}", toml_key(unknown.inner_name),
        rdtd::quoted(unknown.table.substr(title.size(), unknown.table.size() - title.size() - 1)));
  if (unknown.name != "partitions" || unknown.class_within.empty() || unknown.inner_name.empty())
    return {};
  return fmt::format("write [partition.{0}], and [group.{1}] with partition = \"{0}\"",
                     toml_key(unknown.inner_name), toml_key(unknown.class_within));
}

// Whether the word is a condition, or stands for one.
bool is_condition(std::string_view word) {
  return std::ranges::any_of(
             condition_kinds,
             [&](ConditionKind kind) { return joined_words(to_string(kind)) == word; }) ||
         std::ranges::any_of(rows_of_rules(), [&](const Synonym& row) {
           return (row.hint.empty() || !type_of_units(row.hint).empty()) &&
                  contains(split(row.words, ' '), word);
         });
}

// Of "no_KEY" in a group or a partition.
std::string hint_without(const UnknownKey& unknown, std::string_view key) {
  constexpr auto off = std::to_array<std::string_view>({"false", "no", "off", "0"});
  if (unknown.is_on == false || contains(off, lower(unknown.text)) || unknown.number == "0")
    return is_boolean_key(key) ? fmt::format("write {} = true", key) : "remove this line";
  if (key != "exclusive") return fmt::format("remove this line, and write no '{}'", key);
  return unknown.table.starts_with("[partition.")
             ? "remove this line: a partition is always exclusive to its groups"
             : fmt::format("remove this line: {}", groups_share);
}

// Of "nonexclusive", and of "except_name" and "user_not" in a rule; "" of other words.
std::string hint_for_negation(const UnknownKey& unknown, std::string_view word,
                              std::span<const std::string> keys) {
  if (word == "inclusive") word = "nonexclusive";
  constexpr auto signs =
      std::to_array<std::string_view>({"not", "non", "no", "un", "except", "exclude", "excluded",
                                       "ignore", "skip", "unless", "without"});
  for (const std::string_view sign : signs)
    for (const std::string_view rest :
         {word.starts_with(sign) ? word.substr(sign.size()) : "",
          word.ends_with(sign) && sign != "no" ? word.substr(0, word.size() - sign.size()) : ""}) {
      if (rest.empty()) continue;
      if (is_condition(rest) && (contains(keys, "name") || contains(keys, "exclusive")))
        return std::string(no_negation);
      const auto key = std::ranges::find(keys, rest, joined_words);
      if (key != keys.end() && contains(keys, "exclusive")) return hint_without(unknown, *key);
    }
  return {};
}

}  // namespace

std::string hint_for_qos(std::string_view word) {
  const std::string small = lower(word);
  if (small == "besteffort") return std::string(qos_class);
  if (small == "burstable") return "write unit = \"kubepods-burstable.slice\"";
  if (small == "guaranteed")
    return "its pods lie directly below kubepods.slice: rules for burstable and besteffort first, "
           "then unit = \"kubepods.slice\"";
  return {};
}

bool is_namespace_key(std::string_view key) {
  return contains(split(words_for_namespace, ' '), joined_words(key));
}

bool is_workload_key(std::string_view key) {
  return contains(split(words_for_workloads, ' '), joined_words(key));
}

bool is_word_for_group_of_rule(std::string_view key) {
  const auto rows = rows_of_rules();
  const auto row = std::ranges::find(rows, is_group_of_rule, &Synonym::hint);
  return contains(split(row->words, ' '), joined_words(key));
}

bool is_word_for_groups(std::string_view name) {
  return name == "group" || contains(split(words_for_groups, ' '), joined_words(name));
}

bool is_key_of_groups(std::string_view word) {
  const auto rows = rows_of_others();
  const auto row = std::ranges::find(rows, in_a_group, &Synonym::hint);
  const std::string joined = joined_words(word);
  return contains(split(row->words, ' '), joined) || joined == "control" || joined == "mbmin" ||
         joined == "monitorcpus";
}

bool is_boolean_key(std::string_view word) {
  return is_one_of(word, {"exclusive", "protected", "adopt", "override"});
}

std::string unknown_key_hint(const UnknownKey& unknown, std::span<const std::string> keys) {
  const std::string_view name = unknown.name;
  const std::string word = joined_words(name);
  if (contains(keys, "rule") && (name == "Unit" || name == "Service" || name == "Install"))
    return std::string(is_unit_file);
  if (contains(keys, "rule") && has_keys_of_daemon(unknown)) return "write [daemon]";
  if (auto hint = hint_for_table(unknown, word, keys); !hint.empty()) return hint;
  if (auto hint = hint_for_classes(unknown); !hint.empty()) return hint;
  if (auto hint = hint_for_unit_in_key(unknown, word, keys, true); !hint.empty()) return hint;
  if (contains(keys, "control"))
    if (auto hint = hint_for_control(unknown); !hint.empty()) return hint;
  for (const std::string& key : keys)
    if (joined_words(key) == word) return did_you_mean(key);
  const auto has = [&](std::string_view key) { return contains(keys, key); };
  if (const Synonym* synonym = find_synonym(word, has))
    return synonym->hint.empty() ? hint_for_key(unknown, word, synonym->key, {unknown, keys})
                                 : hint_by_value(unknown, word, synonym->hint, {unknown, keys});
  if (auto hint = hint_for_negation(unknown, word, keys); !hint.empty()) return hint;
  if (auto hint = hint_for_unit_in_key(unknown, word, keys, false); !hint.empty()) return hint;
  const auto nearest = nearest_name(lower(name.substr(0, 64)), keys);
  if (auto hint = hint_for_group_table(unknown, keys); !hint.empty() && nearest != "group")
    return hint;
  return nearest ? did_you_mean(*nearest) : main_keys(keys);
}

}  // namespace rdtd
