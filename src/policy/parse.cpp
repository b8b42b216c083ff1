#include "rdtd/policy/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "file_reader.hpp"
#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/systemd_unit.hpp"

namespace rdtd {

std::string_view to_string(ConditionKind kind) {
  constexpr std::array<std::string_view, 9> names = {
      "name", "thread", "exe", "cmdline", "cgroup", "unit", "user_unit", "user", "user_group"};
  return names.at(static_cast<size_t>(kind));
}

std::string resource_key(Resource resource) {
  std::string key(to_string(resource));
  std::ranges::transform(key, key.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return key;
}

std::string complete_unit_name(std::string name) {
  return name.ends_with('*') || has_unit_type(name) ? name : name + ".service";
}

namespace {

// The longest comm there is: the kernel cuts what is longer (TASK_COMM_LEN, 16 with its NUL).
constexpr size_t longest_comm = 15;

constexpr std::array condition_kinds = {
    ConditionKind::name,      ConditionKind::thread, ConditionKind::exe,
    ConditionKind::cmdline,   ConditionKind::cgroup, ConditionKind::unit,
    ConditionKind::user_unit, ConditionKind::user,   ConditionKind::user_group};

// Names that resctrl itself uses in its root.
constexpr std::array<std::string_view, 12> reserved_names = {
    "info",      "mon_groups", "mon_data", "schemata",   "tasks",     "cpus",
    "cpus_list", "mode",       "size",     "ctrl_hw_id", "mon_hw_id", "mon_features"};

// The '\' in "\x2d" is part of a unit's name as systemd writes it, and not the glob's.
std::string keep_unit_escapes(std::string_view pattern) {
  std::string out;
  for (size_t at = 0; at < pattern.size(); at++) {
    out += pattern[at];
    if (pattern[at] != '\\' || at + 1 == pattern.size()) continue;
    const bool of_systemd = at + 3 < pattern.size() && pattern[at + 1] == 'x' &&
                            parse_unsigned<unsigned>(pattern.substr(at + 2, 2), 16);
    out += of_systemd ? '\\' : pattern[++at];
  }
  return out;
}

// Merges the files into one policy.
class Builder {
 public:
  void add(const PolicyFile& file);
  ParsedPolicy finish();

 private:
  void read_version(const FileReader& in, const toml::key& key, const toml::node& node);
  void read_daemon(const FileReader& in, const toml::key& key, const toml::node& node);
  void read_group(const FileReader& in, const toml::key& key, const toml::table& table);
  void read_partition(const FileReader& in, const toml::key& key, const toml::table& table);
  void read_rules(const FileReader& in, const toml::key& key, const toml::node& node);
  void read_rule(const FileReader& in, const toml::table& table);
  void check_pattern(const FileReader& in, ConditionKind kind, Located<std::string>& pattern);
  AmountTable read_amounts(const FileReader& in, Resource resource, const toml::key& key,
                           const toml::node& node);
  void refuse_remainder(const AmountTables& amounts);
  void check_group(const Group& group);
  template <class T>
  void add_definition(const FileReader& in, std::vector<T>& all, T definition, bool replaces,
                      std::string_view kind);

  ParsedPolicy out_;
  std::map<std::string, Location> daemon_keys_;
};

void Builder::add(const PolicyFile& file) {
  if (file.state == PolicyFile::State::unreadable)
    out_.diagnostics.push_back({Severity::error, {file.path}, file.problem, {}});
  if (file.state != PolicyFile::State::active) return;
  out_.policy.sources[file.path] = file.text;
  const FileReader in(file.path, out_.diagnostics);
  const auto table = in.parse(file.text);
  if (!table) return;
  const auto refuse_lock = [&](const toml::key& key, const toml::table&) {
    in.error(in.at(key),
             fmt::format("[pseudo_lock.{}]: this version of rdtd makes no pseudo-locked regions",
                         key.str()));
  };
  in.read_table(
      *table, "a policy",
      {{"version", [&](const auto& key, const auto& node) { read_version(in, key, node); }},
       {"daemon", [&](const auto& key, const auto& node) { read_daemon(in, key, node); }},
       {"group",
        [&](const auto& key, const auto& node) {
          in.read_named_tables(
              key, node, [&](const auto& name, const auto& entry) { read_group(in, name, entry); });
        }},
       {"partition",
        [&](const auto& key, const auto& node) {
          in.read_named_tables(key, node, [&](const auto& name, const auto& entry) {
            read_partition(in, name, entry);
          });
        }},
       {"pseudo_lock",
        [&](const auto& key, const auto& node) { in.read_named_tables(key, node, refuse_lock); }},
       {"rule", [&](const auto& key, const auto& node) { read_rules(in, key, node); }}});
}

void Builder::read_version(const FileReader& in, const toml::key& key, const toml::node& node) {
  const auto* number = node.as_integer();
  if (number == nullptr) return in.wrong_type(key, node, "an integer");
  if (number->get() != 1)
    in.error(
        in.at(node),
        fmt::format("version {} of the policy language is not known; this rdtd knows version 1",
                    number->get()));
}

void Builder::read_daemon(const FileReader& in, const toml::key& key, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return in.wrong_type(key, node, "a table: write [daemon]");
  DaemonSettings& settings = out_.policy.daemon;
  const auto choice = [&](const toml::key& k, const toml::node& n,
                          const std::vector<std::string>& choices) -> std::optional<std::string> {
    const auto text = in.string(k, n);
    if (!text) return std::nullopt;
    if (std::ranges::find(choices, text->value) != choices.end()) return text->value;
    const auto nearest = nearest_name(text->value, choices);
    in.error(text->where,
             fmt::format("'{}' in [daemon] is one of {}, not '{}'", k.str(), join(choices, ", "),
                         text->value),
             nearest ? fmt::format("did you mean '{}'?", *nearest) : "");
    return std::nullopt;
  };
  const auto once = [&](FileReader::Handler handler) -> FileReader::Handler {
    return [&, handler](const toml::key& k, const toml::node& n) {
      const auto [earlier, is_new] = daemon_keys_.emplace(k.str(), in.at(k));
      if (!is_new)
        return in.error(in.at(k), fmt::format("'{}' in [daemon] is set twice: here and in {}",
                                              k.str(), earlier->second.text()));
      handler(k, n);
    };
  };
  in.read_table(*table, "[daemon]",
                {{"log_level", once([&](const auto& k, const auto& n) {
                    if (auto level = choice(k, n, {"debug", "info", "warning", "error"}))
                      settings.log_level = *level;
                  })},
                 {"on_stop", once([&](const auto& k, const auto& n) {
                    if (auto word = choice(k, n, {"keep", "remove"}))
                      settings.on_stop = *word == "keep" ? OnStop::keep : OnStop::remove;
                  })},
                 {"drift", once([&](const auto& k, const auto& n) {
                    if (auto word = choice(k, n, {"restore", "report"}))
                      settings.drift = *word == "restore" ? OnDrift::restore : OnDrift::report;
                  })},
                 {"reconcile_interval", once([&](const auto& k, const auto& n) {
                    const auto text = in.string(k, n);
                    if (!text) return;
                    if (const auto span = parse_duration(text->value))
                      settings.reconcile_interval = *span;
                    else
                      in.error(text->where, span.error());
                  })}});
}

AmountTable Builder::read_amounts(const FileReader& in, Resource resource, const toml::key& key,
                                  const toml::node& node) {
  const auto parse = is_cache(resource) ? parse_cache_amount : parse_bandwidth_amount;
  AmountTable amounts;
  std::set<DomainId> named;
  bool rest_named = false;
  const auto add = [&](DomainAmount line, const toml::key& k, const toml::node& n) {
    const auto* text = n.as_string();
    if (text == nullptr)
      return in.wrong_type(k, n,
                           &n == &node ? "a string or a table from domain to amount" : "a string");
    auto amount = parse(text->get());
    if (!amount) return in.error(in.at(n), amount.error());
    line.amount = {std::move(*amount), in.at(n)};
    amounts.push_back(std::move(line));
  };
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    add({std::nullopt, in.at(node), {}}, key, node);
    return amounts;
  }
  if (table->empty()) in.error(in.at(node), fmt::format("'{}' names no domain", key.str()));
  for (const auto& [domain, value] : *table) {
    if (domain.str() == "*") {
      rest_named = true;
      add({std::nullopt, in.at(domain), {}}, domain, value);
      continue;
    }
    const auto ids = parse_cpu_list(domain.str());
    if (!ids || ids->empty()) {
      in.error(
          in.at(domain),
          fmt::format("'{}' is not a domain; write a cache id, a list of them (\"0-1,4\") or \"*\"",
                      domain.str()));
      continue;
    }
    std::set<DomainId> domains;
    for (const unsigned id : *ids) {
      domains.insert(DomainId{id});
      if (!named.insert(DomainId{id}).second)
        in.error(in.at(domain), fmt::format("domain {} stands twice in '{}'", id, key.str()));
    }
    add({std::move(domains), in.at(domain), {}}, domain, value);
  }
  // The rest last, whatever the order written: toml++ sorts by key anyway.
  if (rest_named)
    std::ranges::stable_partition(
        amounts, [](const DomainAmount& line) { return line.domains.has_value(); });
  return amounts;
}

template <class T>
void Builder::add_definition(const FileReader& in, std::vector<T>& all, T definition, bool replaces,
                             std::string_view kind) {
  const auto earlier = std::ranges::find_if(
      all, [&](const T& other) { return other.name.value == definition.name.value; });
  if (earlier != all.end() && !replaces)
    return in.error(definition.name.where,
                    fmt::format("{} '{}' is defined twice: here and in {}", kind,
                                definition.name.value, earlier->name.where.text()),
                    "'override = true' here would replace that one");
  if (earlier != all.end()) all.erase(earlier);
  all.push_back(std::move(definition));
}

void Builder::read_group(const FileReader& in, const toml::key& key, const toml::table& table) {
  Group group{.name = {std::string(key.str()), in.at(key)},
              .amounts = {},
              .exclusive = false,
              .partition = {},
              .cpus = {},
              .description = {}};
  const std::string& name = group.name.value;
  if (std::ranges::find(reserved_names, name) != reserved_names.end())
    in.error(group.name.where,
             fmt::format("a group cannot be named '{}': resctrl uses that name itself", name));
  else if (name.empty() || name.size() > 255 || name.starts_with('.') ||
           name.find_first_of("/\n") != std::string::npos)
    in.error(group.name.where, fmt::format("'{}' cannot be a group's name: it is the name of a "
                                           "directory, without '/' or a leading dot",
                                           name));
  bool replaces = false;
  FileReader::Keys keys = {
      {"exclusive",
       [&](const auto& k, const auto& n) { group.exclusive = in.boolean(k, n).value_or(false); }},
      {"partition", [&](const auto& k, const auto& n) { group.partition = in.string(k, n); }},
      {"description",
       [&](const auto& k, const auto& n) {
         if (auto text = in.string(k, n)) group.description = text->value;
       }},
      {"override",
       [&](const auto& k, const auto& n) { replaces = in.boolean(k, n).value_or(false); }},
      {"cpus", [&](const auto& k, const auto& n) {
         const auto text = in.string(k, n);
         if (!text) return;
         const auto cpus = parse_cpu_list(text->value);
         if (!cpus || cpus->empty())
           return in.error(text->where,
                           fmt::format("'{}' is not a CPU list; write \"0-3,8\"", text->value));
         group.cpus = {*cpus, text->where};
       }}};
  for (const Resource resource : all_resources)
    keys.emplace_back(resource_key(resource), [&, resource](const auto& k, const auto& n) {
      group.amounts[resource] = read_amounts(in, resource, k, n);
    });
  in.read_table(table, fmt::format("[group.{}]", name), keys);
  add_definition(in, out_.policy.groups, std::move(group), replaces, "group");
}

void Builder::read_partition(const FileReader& in, const toml::key& key, const toml::table& table) {
  Partition partition{.name = {std::string(key.str()), in.at(key)}, .amounts = {}};
  bool replaces = false;
  FileReader::Keys keys = {{"override", [&](const auto& k, const auto& n) {
                              replaces = in.boolean(k, n).value_or(false);
                            }}};
  for (const Resource resource : all_resources)
    if (is_cache(resource))
      keys.emplace_back(resource_key(resource), [&, resource](const auto& k, const auto& n) {
        partition.amounts[resource] = read_amounts(in, resource, k, n);
      });
  const std::string name = partition.name.value;
  const size_t before = out_.diagnostics.size();
  in.read_table(table, fmt::format("[partition.{}]", name), keys);
  if (partition.amounts.empty() && out_.diagnostics.size() == before)
    in.error(partition.name.where, fmt::format("partition '{}' names no cache amount", name));
  add_definition(in, out_.policy.partitions, std::move(partition), replaces, "partition");
}

void Builder::read_rules(const FileReader& in, const toml::key& key, const toml::node& node) {
  const toml::array* rules = node.as_array();
  if (rules == nullptr) return in.wrong_type(key, node, "an array of tables: write [[rule]]");
  for (const toml::node& rule : *rules) {
    if (const toml::table* table = rule.as_table())
      read_rule(in, *table);
    else
      in.wrong_type(key, rule, "tables: write [[rule]]");
  }
}

void Builder::read_rule(const FileReader& in, const toml::table& table) {
  Rule rule;
  rule.where = in.at(table);
  rule.where.width = std::min(rule.where.width, 8U);  // "[[rule]]"
  bool has_group = false;
  const size_t before = out_.diagnostics.size();
  FileReader::Keys keys = {
      {"group",
       [&](const auto& k, const auto& n) {
         has_group = true;
         if (auto name = in.string(k, n)) rule.group = *name;
       }},
      {"monitor", [&](const auto& k, const auto&) {
         in.error(in.at(k), "'monitor': this version of rdtd makes no monitoring groups");
       }}};
  for (const ConditionKind kind : condition_kinds)
    keys.emplace_back(to_string(kind), [&, kind](const auto& k, const auto& n) {
      const bool numbers = kind == ConditionKind::user || kind == ConditionKind::user_group;
      Condition condition{kind, in.strings(k, n, numbers)};
      for (Located<std::string>& pattern : condition.patterns) check_pattern(in, kind, pattern);
      rule.conditions.push_back(std::move(condition));
    });
  in.read_table(table, "[[rule]]", keys);
  if (!has_group) in.error(rule.where, "a rule names its group: group = \"NAME\"");
  if (rule.conditions.empty() && out_.diagnostics.size() == before)
    in.error(rule.where,
             "a rule has at least one condition: name, thread, exe, cmdline, cgroup, unit, "
             "user_unit, user or user_group");
  out_.policy.rules.push_back(std::move(rule));
}

void Builder::check_pattern(const FileReader& in, ConditionKind kind,
                            Located<std::string>& pattern) {
  const std::string_view key = to_string(kind);
  std::string& text = pattern.value;
  if (text.empty())
    return in.error(pattern.where, fmt::format("'{}' is empty: nothing can match it", key));
  if (kind == ConditionKind::user || kind == ConditionKind::user_group) return;
  const bool is_path = kind == ConditionKind::exe || kind == ConditionKind::cgroup;
  if (const auto problem = is_path ? path_glob_problem(text) : glob_problem(text))
    return in.error(pattern.where, fmt::format("'{}' is not a glob: {}", text, *problem));
  if ((kind == ConditionKind::name || kind == ConditionKind::thread) && glob_is_literal(text) &&
      text.size() > longest_comm)
    return in.error(
        pattern.where,
        fmt::format("'{}' can never match: the kernel cuts names to 15 characters", text),
        fmt::format("write \"{}\", or use 'exe'", text.substr(0, longest_comm)));
  const bool absolute = text.starts_with('/') || text.starts_with("**/") || text == "**";
  if (kind == ConditionKind::cgroup && !absolute)
    return in.error(pattern.where,
                    fmt::format("'{}' can never match: a cgroup path begins with '/'", text));
  if (kind == ConditionKind::exe && !absolute)
    return in.error(pattern.where,
                    fmt::format("'{}' can never match: an executable's path begins with '/'", text),
                    "'name' is for the bare name");
  while (kind == ConditionKind::cgroup && text.size() > 1 && text.ends_with('/')) text.pop_back();
  if (kind == ConditionKind::exe && text.contains(" -"))
    out_.diagnostics.push_back(
        {Severity::warning, pattern.where,
         fmt::format("'{}' looks like a command with arguments; 'exe' matches the path of the "
                     "executable",
                     text),
         "'cmdline' matches the arguments"});
  if (kind != ConditionKind::unit && kind != ConditionKind::user_unit) return;
  if (text.find_first_of("/ \t") != std::string::npos)
    return in.error(
        pattern.where,
        fmt::format("'{}' can never match: the name of a unit has no '/' and no blank", text),
        text.contains('/') ? "'cgroup' matches a path" : "");
  text = complete_unit_name(keep_unit_escapes(text));
}

void Builder::refuse_remainder(const AmountTables& amounts) {
  for (const auto& [resource, table] : amounts)
    for (const DomainAmount& line : table)
      if (std::holds_alternative<Remainder>(line.amount.value.value))
        out_.diagnostics.push_back({Severity::error, line.amount.where,
                                    "'remainder' is for the default group",
                                    "\"all\" is every way that a group may fill"});
}

void Builder::check_group(const Group& group) {
  const auto error = [&](const Location& where, std::string message, std::string hint = {}) {
    out_.diagnostics.push_back({Severity::error, where, std::move(message), std::move(hint)});
  };
  const std::string& name = group.name.value;
  const bool has_cache =
      std::ranges::any_of(group.amounts, [](const auto& entry) { return is_cache(entry.first); });
  if (group.exclusive && group.partition)
    error(group.name.where,
          fmt::format(
              "group '{}' is in partition '{}', which its groups share: it cannot be exclusive",
              name, group.partition->value));
  else if (group.exclusive && !has_cache)
    error(group.name.where, fmt::format("exclusive group '{}' names no cache amount", name));
  if (name == "default" && group.cpus)
    error(group.cpus->where,
          "'cpus' in [group.default]: the default group has every CPU that no other group has");
  if (group.partition) {
    std::vector<std::string> names;
    for (const Partition& partition : out_.policy.partitions) names.push_back(partition.name.value);
    if (std::ranges::find(names, group.partition->value) == names.end()) {
      const auto nearest = nearest_name(group.partition->value, names);
      error(group.partition->where, fmt::format("unknown partition '{}'", group.partition->value),
            nearest ? fmt::format("did you mean '{}'?", *nearest) : "");
    }
  }
  if (name != "default") refuse_remainder(group.amounts);
}

ParsedPolicy Builder::finish() {
  std::vector<std::string> names = {"default"};
  for (const Group& group : out_.policy.groups) {
    names.push_back(group.name.value);
    check_group(group);
  }
  for (const Partition& partition : out_.policy.partitions) refuse_remainder(partition.amounts);
  for (const Rule& rule : out_.policy.rules) {
    if (rule.group.where.file.empty() || std::ranges::find(names, rule.group.value) != names.end())
      continue;
    const auto nearest = nearest_name(rule.group.value, names);
    out_.diagnostics.push_back({Severity::error, rule.group.where,
                                fmt::format("unknown group '{}'", rule.group.value),
                                nearest ? fmt::format("did you mean '{}'?", *nearest) : ""});
  }
  sort_by_place(out_.diagnostics);
  return std::move(out_);
}

}  // namespace

ParsedPolicy parse_policy(std::span<const PolicyFile> files) {
  Builder builder;
  for (const PolicyFile& file : files) builder.add(file);
  return builder.finish();
}

}  // namespace rdtd
