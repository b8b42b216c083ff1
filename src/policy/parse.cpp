#include "rdtd/policy/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "amount_table.hpp"
#include "daemon_table.hpp"
#include "definitions.hpp"
#include "file_reader.hpp"
#include "group_table.hpp"
#include "guard_check.hpp"
#include "io_table.hpp"
#include "lock_table.hpp"
#include "names.hpp"
#include "observer_table.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/guard_status.hpp"
#include "rdtd/model/systemd_unit.hpp"
#include "rdtd/policy/toml_text.hpp"
#include "rule_table.hpp"
#include "shadowed_rules.hpp"

namespace rdtd {

std::string_view to_string(ConditionKind kind) {
  constexpr std::array<std::string_view, condition_kinds.size()> names = {
      "name",      "thread", "exe", "cmdline",   "cgroup", "unit",
      "user_unit", "vm",     "pod", "container", "user",   "user_group"};
  return names.at(static_cast<size_t>(kind));
}

std::string resource_key(Resource resource) { return lower(to_string(resource)); }

std::string complete_unit_name(std::string name) {
  return name.ends_with('*') || has_unit_type(name) ? name : name + ".service";
}

namespace {

// The guard gives way to other leases: when it holds a group depends on the traffic of the moment.
bool is_guard(std::string_view lease) { return lease == lease_file(guard_lease_name, {}).path; }

// Merges the files into one policy.
class Builder {
 public:
  // `alone`: of a lease, without the files that it amends.
  explicit Builder(bool alone = false) : alone_(alone) {}
  void add(const PolicyFile& file);
  ParsedPolicy finish();

 private:
  void read_version(const FileReader& in, const toml::key& key, const toml::node& node);
  [[nodiscard]] FileReader::Keys keys_of_file(const FileReader& in);
  [[nodiscard]] FileReader::Keys keys_of_lease(const FileReader& in, FileReader::Keys keys);
  void add_group(const FileReader& in, const toml::key& key, const toml::table& table);
  void amend_group(const Group& change);
  [[nodiscard]] std::string holder_of(const Group& group) const;
  void add_partition(const FileReader& in, const toml::key& key, const toml::table& table);
  void add_lock(const FileReader& in, const toml::key& key, const toml::table& table);
  void add_io(const FileReader& in, const toml::key& key, const toml::node& node);
  void read_rules(const FileReader& in, const toml::key& key, const toml::node& node);
  void refuse_remainder(const AmountTables& amounts, std::string_view why, std::string_view hint);
  void no_remainder(const AmountTables& amounts);
  void check_group(const Group& group);
  void refuse_foreign_lease(const Rule& rule, const Group& group);
  void check_lock_names();
  void warn_of_empty_partitions();
  void error(const Location& where, std::string message, std::string hint = {});
  template <class T>
  void add_definition(const FileReader& in, Definitions<T>& all, T definition, bool replaces,
                      std::string_view kind);
  std::string did_you_mean(std::string_view name, std::span<const std::string> names);
  std::string hint_for_group(std::string_view name, std::span<const std::string> names);
  std::string hint_for_header(std::string_view name, std::span<const std::string> names);
  std::string hint_for_partition(std::string_view name);
  [[nodiscard]] static std::string add_or_name(std::string_view kind, std::string_view name,
                                               std::span<const std::string> known);

  bool alone_;
  ParsedPolicy out_;
  DaemonReader daemon_{out_.policy.daemon};
  ObserverReader observer_{out_.policy.observer, out_.policy.guard};
  AmountReader amounts_;
  Definitions<Group> groups_;
  Definitions<Partition> partitions_;
  Definitions<PseudoLock> locks_;
  std::map<std::string, GroupCpus> cpus_;  // by group
  std::set<std::string> leases_;           // the paths of those that were read
  size_t comparisons_left_ = 1'000'000;    // for suggestions of names
  size_t vcpus_left_ = most_vcpus_of_policy;
};

void Builder::add(const PolicyFile& file) {
  const Location whole_file{.file = file.path};
  if (file.state == PolicyFile::State::unreadable)
    out_.diagnostics.push_back({Severity::error,
                                whole_file,
                                file.problem,
                                {},
                                file.transient ? Cause::machine : Cause::policy});
  // An editor, a full disk or a crash may have left it so.
  if (file.state == PolicyFile::State::masked && !file.problem.empty())
    out_.diagnostics.push_back({Severity::warning,
                                whole_file,
                                file.problem + ", and masks no other file: remove it, or make it a "
                                               "link to /dev/null",
                                {}});
  if (file.state != PolicyFile::State::active) return;
  out_.policy.sources[file.path] = file.text;
  const FileReader in(file.path, out_.diagnostics);
  const auto table = in.parse(file.text.text());
  if (!table) return;
  if (!file.lease) return in.read_table(*table, "a policy", keys_of_file(in));
  leases_.insert(file.path);
  if (!table->contains("group") && !table->contains("rule"))
    in.error({file.path}, "the lease has neither a group nor a rule");
  in.read_table(*table, "a lease", keys_of_lease(in, keys_of_file(in)));
}

FileReader::Keys Builder::keys_of_file(const FileReader& in) {
  const auto named = [&in](auto read) -> FileReader::Handler {
    return [&in, read](const auto& key, const auto& node) {
      in.read_named_tables(key, node, read,
                           [&](std::string_view name) { return is_group_key(in, name); });
    };
  };
  return {
      {"version", [&, this](const auto& key, const auto& node) { read_version(in, key, node); }},
      {"daemon", [&, this](const auto& key, const auto& node) { daemon_.read(in, key, node); }},
      {"observer", [&, this](const auto& key, const auto& node) { observer_.read(in, key, node); }},
      {"guard",
       [&, this](const auto& key, const auto& node) { observer_.read_guard(in, key, node); }},
      {"group",
       named([&, this](const auto& key, const auto& entry) { add_group(in, key, entry); })},
      {"partition",
       named([&, this](const auto& key, const auto& entry) { add_partition(in, key, entry); })},
      {"pseudo_lock",
       named([&, this](const auto& key, const auto& entry) { add_lock(in, key, entry); })},
      {"io", [&, this](const auto& key, const auto& node) { add_io(in, key, node); }},
      {"rule", [&, this](const auto& key, const auto& node) { read_rules(in, key, node); }}};
}

// The other tables are settings of the machine, which do not come and go with a process.
FileReader::Keys Builder::keys_of_lease(const FileReader& in, FileReader::Keys keys) {
  for (auto& [name, read] : keys)
    if (name == "daemon" || name == "observer" || name == "guard" || name == "partition" ||
        name == "pseudo_lock" || name == "io")
      read = [&in](const toml::key& key, const toml::node&) {
        in.error(in.at(key), fmt::format("'{}' cannot be in a lease", key.str()),
                 "a lease has [group.NAME] and [[rule]] only");
      };
  return keys;
}

void Builder::read_version(const FileReader& in, const toml::key& key, const toml::node& node) {
  const auto* number = node.as_integer();
  if (number == nullptr) return in.wrong_type(key, node, "an integer", "write version = 1");
  if (number->get() != 1)
    in.error(
        in.at(node),
        fmt::format("version {} of the policy language is not known; this rdtd knows version 1",
                    number->get()));
}

template <class T>
void Builder::add_definition(const FileReader& in, Definitions<T>& all, T definition, bool replaces,
                             std::string_view kind) {
  const Located<std::string> name = definition.name;
  if (replaces && !alone_ && !all.contains(name.value) && all.has_plain())
    in.warning(name.where,
               fmt::format("'override' replaces nothing: no file before this one has {} '{}'", kind,
                           name.value),
               all.size() > comparisons_left_ ? "" : did_you_mean(name.value, all.names()));
  if (const T* earlier = all.add(std::move(definition), replaces))
    in.error(name.where,
             fmt::format("{} '{}' is defined twice: here and in {}", kind, name.value,
                         earlier->name.where.text()),
             "'override = true' here would replace that one");
}

void Builder::add_group(const FileReader& in, const toml::key& key, const toml::table& table) {
  const bool in_lease = leases_.contains(in.path());
  GroupTable read = read_group(in, key, table, amounts_, in_lease);
  const Located<std::string>& name = read.group.name;
  if (read.group.amends && !alone_) return amend_group(read.group);
  if (in_lease && read.group.adopt)
    error(name.where, fmt::format("group '{}': a lease cannot take over a group", name.value),
          "adopt = true belongs in a policy file");
  const bool replaces = read.group.replaces;
  const Group* earlier = in_lease && replaces ? groups_.find(name.value) : nullptr;
  if (earlier != nullptr) {
    if (const std::string holder = holder_of(*earlier); !holder.empty() && !is_guard(holder))
      return error(name.where,
                   fmt::format("group '{}' belongs to another lease, in {}", name.value, holder),
                   "a lease can replace groups of policy files only");
    // The amounts that the files give it, and that the guard may ask for, are not known from the
    // lease.
    read.group.unamended = earlier->unamended ? earlier->unamended : earlier->amounts;
  }
  if (!groups_.contains(read.group.name.value) || replaces)
    cpus_[read.group.name.value] = std::move(read.cpus);
  add_definition(in, groups_, std::move(read.group), replaces, "group");
}

// The lease that has defined or amended the group; "" for none.
std::string Builder::holder_of(const Group& group) const {
  if (!group.amended_by.empty()) return group.amended_by;
  return leases_.contains(group.name.where.file) ? group.name.where.text() : "";
}

void Builder::amend_group(const Group& change) {
  const std::string& name = change.name.value;
  Group* group = groups_.find(name);
  if (group == nullptr)
    return error(change.name.where, fmt::format("there is no group '{}' to amend", name),
                 did_you_mean(name, groups_.names()));
  if (const std::string holder = holder_of(*group); !holder.empty() && !is_guard(holder)) {
    if (is_guard(change.name.where.file.text())) return;
    return error(change.name.where,
                 fmt::format("group '{}' belongs to another lease, in {}", name, holder),
                 "a lease can amend groups of policy files only");
  }
  amend(*group, change);
}

void Builder::add_partition(const FileReader& in, const toml::key& key, const toml::table& table) {
  PartitionTable read = read_partition(in, key, table, amounts_);
  add_definition(in, partitions_, std::move(read.partition), read.replaces, "partition");
}

void Builder::add_lock(const FileReader& in, const toml::key& key, const toml::table& table) {
  LockTable read = read_lock(in, key, table, amounts_);
  if (read.complete) add_definition(in, locks_, std::move(read.lock), read.replaces, "pseudo_lock");
}

void Builder::add_io(const FileReader& in, const toml::key& key, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return in.wrong_type(key, node, "a table", "write [io]");
  IoTable read = read_io(in, key, *table, amounts_);
  if (!read.complete) return;
  std::optional<Group>& io = out_.policy.io;
  if (io && !read.replaces)
    return in.error(read.io.name.where,
                    fmt::format("[io] is defined twice: here and in {}", io->name.where.text()),
                    "'override = true' here would replace that one");
  io = std::move(read.io);
}

void Builder::read_rules(const FileReader& in, const toml::key& key, const toml::node& node) {
  const toml::array* rules = node.as_array();
  if (rules == nullptr) return in.wrong_type(key, node, "an array of tables", "write [[rule]]");
  for (const toml::node& rule : *rules) {
    if (const toml::table* table = rule.as_table())
      out_.policy.rules.push_back(read_rule(in, *table, vcpus_left_));
    else
      in.wrong_type(key, rule, "an array of tables", "write [[rule]]");
  }
}

void Builder::error(const Location& where, std::string message, std::string hint) {
  out_.diagnostics.push_back({Severity::error, where, std::move(message), std::move(hint)});
}

// Searching many names for many slips is quadratic: after a while no more are suggested.
std::string Builder::did_you_mean(std::string_view name, std::span<const std::string> names) {
  if (names.size() > comparisons_left_) return {};
  comparisons_left_ -= names.size();
  for (const std::string& known : names)
    if (lower(known) == lower(name)) return rdtd::did_you_mean(known);
  const auto nearest = nearest_name(name, names);
  return nearest ? rdtd::did_you_mean(*nearest) : "";
}

// "web" of "group.web" and "[group.web]", the header of its table; else empty.
static std::string name_in_header(std::string_view kind, std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  if (!text.starts_with(kind) || !text.substr(kind.size()).starts_with('.')) return {};
  const std::string_view name = text.substr(kind.size() + 1);
  return name_problem(name) ? "" : std::string(name);
}

// Of group.NAME in a rule, without a group NAME.
std::string Builder::hint_for_header(std::string_view name, std::span<const std::string> names) {
  if (name == leave_group) return fmt::format("write group = \"{}\"", leave_group);
  if (name == "root") return "write \"default\"";
  if (auto near = did_you_mean(name, names); !near.empty()) return near;
  if (group_name_problem(name)) return add_or_name("group", name, names);
  return fmt::format("write \"{}\", and add [group.{}]", name, toml_key(name));
}

// Of the group of a rule that there is not.
std::string Builder::hint_for_group(std::string_view name, std::span<const std::string> names) {
  if (name == "root" || name == "/") return "the resctrl root is 'default'";
  if ((lower(name) == "cos0" || lower(name) == "clos0") && did_you_mean(name, names).empty())
    return "class 0 is the group 'default' here";
  if (const std::string in_header = name_in_header("group", name);
      groups_.contains(in_header) || in_header == "default")
    return fmt::format("write \"{}\"", in_header);
  else if (!in_header.empty())
    return hint_for_header(in_header, names);
  if (name.find_first_of("/%*") != std::string_view::npos)
    return "a group has a fixed name, and no groups below it";
  if (lower(name) == leave_group) return fmt::format("write group = \"{}\"", leave_group);
  for (const std::string_view word : {"ignore", "none", "skip", "keep", "stay", "nothing"})
    if (name == word && did_you_mean(name, names).empty())
      return "group = \"leave\" leaves processes where they are";
  if (auto near = did_you_mean(name, names); !near.empty()) return near;
  return add_or_name("group", name, names);
}

// Of a name that nothing is a slip of.
std::string Builder::add_or_name(std::string_view kind, std::string_view name,
                                 std::span<const std::string> known) {
  constexpr size_t most_named = 5;
  const auto problem = kind == "group" ? group_name_problem(name) : name_problem(name);
  const std::string add = problem ? "" : fmt::format("add [{}.{}]", kind, toml_key(name));
  // default may be among them twice. Very many rules can name what there is not.
  if (known.size() > most_named + 2) return add;
  std::vector<std::string> own(known.begin(), known.end());
  std::erase(own, "default");
  if (own.empty() || own.size() > most_named) return add;
  const std::string others = own.size() == 1 ? fmt::format("write \"{}\"", own.front())
                                             : fmt::format("name one of {}", join(own, ", "));
  return add.empty() ? others : fmt::format("{}, or {}", add, others);
}

std::string Builder::hint_for_partition(std::string_view name) {
  for (const std::string_view word : {"none", "no", "null", "default", "shared", "all", "any", ""})
    if (lower(name) == word) return "a group without 'partition' is in none: remove this line";
  const std::vector<std::string> names = partitions_.names();
  if (const std::string in_header = name_in_header("partition", name); !in_header.empty()) {
    if (partitions_.contains(in_header)) return fmt::format("write \"{}\"", in_header);
    if (auto near = did_you_mean(in_header, names); !near.empty()) return near;
    return fmt::format("write \"{}\", and add [partition.{}]", in_header, toml_key(in_header));
  }
  if (auto near = did_you_mean(name, names); !near.empty()) return near;
  return add_or_name("partition", name, names);
}

void Builder::refuse_remainder(const AmountTables& amounts, std::string_view why,
                               std::string_view hint) {
  for (const auto& [resource, table] : amounts)
    for (const DomainAmount& line : table)
      if (std::holds_alternative<Remainder>(line.amount.value.value))
        error(line.amount.where, std::string(why),
              fmt::format(fmt::runtime(hint), resource_key(resource)));
}

void Builder::no_remainder(const AmountTables& amounts) {
  refuse_remainder(amounts, "'remainder' is for the default group", instead_of_remainder);
}

void Builder::check_group(const Group& group) {
  const std::string& name = group.name.value;
  const bool has_cache =
      std::ranges::any_of(group.amounts, [](const auto& entry) { return is_cache(entry.first); });
  if (group.exclusive && !group.partition && !has_cache)
    error(group.name.where, fmt::format("exclusive group '{}' has no cache amount", name),
          "write l3 = \"4 ways\"");
  if (name == "default" && group.cpus)
    error(group.cpus->where,
          "'cpus' in [group.default]: the default group has every CPU that no other group has");
  if (group.partition && !partitions_.contains(group.partition->value))
    error(group.partition->where, fmt::format("unknown partition '{}'", group.partition->value),
          hint_for_partition(group.partition->value));
  if (name != "default")
    no_remainder(group.amounts);
  else if (group.exclusive)
    refuse_remainder(group.amounts, "'remainder' is what groups that share may fill",
                     "remove 'exclusive', or name the ways: {} = \"4 ways\"");
}

// A group and a region of one name would be one directory.
void Builder::check_lock_names() {
  std::map<std::string_view, const PseudoLock*> locks;
  for (const PseudoLock& lock : out_.policy.locks) locks.emplace(lock.name.value, &lock);
  for (const Group& group : out_.policy.groups)
    if (const auto lock = locks.find(group.name.value); lock != locks.end())
      error(lock->second->name.where,
            fmt::format("pseudo_lock '{0}' and the group '{0}' in {1} would be one directory of "
                        "resctrl",
                        lock->first, group.name.where.text()),
            "choose another name");
}

void Builder::warn_of_empty_partitions() {
  std::set<std::string_view> named;
  for (const Group& group : out_.policy.groups)
    if (group.partition) named.insert(group.partition->value);
  for (const Partition& partition : out_.policy.partitions)
    if (!named.contains(partition.name.value))
      out_.diagnostics.push_back(
          {Severity::warning, partition.name.where,
           fmt::format("partition '{}' has no groups: nobody fills its ways", partition.name.value),
           fmt::format("write partition = \"{}\" in a [group.NAME]", partition.name.value)});
}

// Each lease can end without the others.
void Builder::refuse_foreign_lease(const Rule& rule, const Group& group) {
  const std::string& definer = group.name.where.file;
  if (leases_.contains(definer) && definer != rule.group.where.file &&
      leases_.contains(rule.group.where.file))
    error(rule.group.where,
          fmt::format("group '{}' belongs to another lease, in {}", group.name.value,
                      group.name.where.text()),
          "a rule of a lease names groups of that lease or of policy files");
}

ParsedPolicy Builder::finish() {
  out_.policy.groups = groups_.take();
  out_.policy.partitions = partitions_.take();
  out_.policy.locks = locks_.take();
  check_lock_names();
  for (const Group& group : out_.policy.groups) check_group(group);
  for (const Partition& partition : out_.policy.partitions) no_remainder(partition.amounts);
  if (out_.policy.io) no_remainder(out_.policy.io->amounts);
  std::ranges::move(divide_cpus(out_.policy.groups, cpus_), std::back_inserter(out_.diagnostics));
  std::map<std::string_view, const Group*> definers;
  for (const Group& group : out_.policy.groups) definers.emplace(group.name.value, &group);
  std::vector<std::string> names = groups_.names();
  names.emplace_back("default");
  for (const Rule& rule : out_.policy.rules) {
    const std::string& name = rule.group.value;
    if (rule.group.where.file.empty() || name == "default" || rule.leaves()) continue;
    if (const auto definer = definers.find(name); definer != definers.end()) {
      refuse_foreign_lease(rule, *definer->second);
      continue;
    }
    if (locks_.contains(name)) {
      error(rule.group.where, fmt::format("'{}' is a pseudo_lock: no process can be in it", name),
            fmt::format("a process maps /dev/pseudo_lock/{}", name));
      continue;
    }
    error(rule.group.where, fmt::format("unknown group '{}'", name), hint_for_group(name, names));
  }
  if (!has_errors(out_.diagnostics)) {
    warn_of_empty_partitions();
    warn_of_shadowed_rules(out_.policy.rules, out_.diagnostics);
    if (!alone_) warn_of_idle_guard(out_.policy, out_.diagnostics);
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

ParsedPolicy parse_lease(const PolicyFile& lease) {
  Builder builder(true);
  builder.add(lease);
  return builder.finish();
}

}  // namespace rdtd
