#include "file_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "amount_hints.hpp"
#include "names.hpp"
#include "plain_value.hpp"
#include "rdtd/base/text.hpp"
#include "synonyms.hpp"
#include "unknown_key.hpp"
#include "text_check.hpp"

namespace rdtd {

namespace {

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "an array";
    case toml::node_type::string: return "a string";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a float";
    case toml::node_type::boolean: return "a boolean";
    default: return "a date or time";
  }
}

}  // namespace

std::string boolean_hint(const toml::key& key, const toml::node& node) {
  std::optional<std::string_view> meant;
  if (const auto* text = node.as_string())
    meant = text->get() == "true" || text->get() == "false"
                ? std::optional<std::string_view>(text->get())
                : boolean_meant(text->get());
  if (const auto* number = node.as_integer(); number != nullptr && number->get() >> 1 == 0)
    meant = number->get() == 1 ? "true" : "false";
  return meant ? fmt::format("write {} = {}", key.str(), *meant) : "";
}

std::optional<toml::table> FileReader::parse(std::string_view text) const {
  if (auto problem = check_text(path_, text)) {
    diagnostics_->push_back(std::move(*problem));
    return std::nullopt;
  }
  toml::parse_result result = toml::parse(text);
  if (result) return std::move(result).table();
  Location where = at(result.error().source());
  where.width = 1;
  error(where, fmt::format("not TOML: {}", result.error().description()));
  return std::nullopt;
}

// Of [group.a.b]: a table with keys of a group.
static bool looks_like_longer_name(const toml::node& node, const std::vector<std::string>& keys) {
  const toml::table* table = node.as_table();
  return table != nullptr && !table->is_inline() &&
         std::ranges::any_of(*table, [&](const auto& entry) {
           return std::ranges::find(keys, entry.first.str()) != keys.end();
         });
}

// [group."a.b"] of the key b in [group.a].
static std::string with_quoted_name(std::string_view where, std::string_view name) {
  const size_t dot = where.find('.');
  const std::string_view table = where.substr(0, dot + 1);
  return fmt::format("{}\"{}.{}\"]", table, where.substr(dot + 1, where.size() - dot - 2), name);
}

// Of the table b in [group.a], which has keys of a group.
static std::string hint_for_inner_table(const toml::table& table, const std::string& where,
                                        const toml::key& key,
                                        const std::vector<std::string>& keys) {
  const std::string quoted = with_quoted_name(where, key.str());
  // If [group.a] is written too, the keys may have been meant for it.
  const bool has_own = std::ranges::any_of(table, [&](const auto& entry) {
    return std::ranges::find(keys, entry.first.str()) != keys.end();
  });
  if (!has_own) return "a '.' starts a sub-table: write " + quoted;
  std::vector<std::string> inner;
  for (const auto& [name, value] : *table.get_as<toml::table>(key.str())) {
    if (table.contains(name.str())) return "a '.' starts a sub-table: write " + quoted;
    inner.emplace_back(name.str());
  }
  return fmt::format("put {} under {}, or write {}", join(inner, ", "), where, quoted);
}

std::string plain_text(const toml::node& node) {
  if (const auto* string = node.as_string()) return rdtd::quoted(string->get());
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  return "...";
}

// Of the name of a table within [group.NAME], whether it can only be a word for amounts.
static bool is_word_for_amounts(std::string_view word) {
  return is_one_of(
      word, {"limits", "limit", "resources", "resource", "cache", "caches", "allocation",
             "allocations", "amounts", "rdt", "resctrl", "settings", "config", "cat", "qos"});
}

// "write l3 = "4 ways" in [group.a]" of group.l3, a.l3 and cache.l3 in it, and of the same in an
// inline table; empty of a table with other keys, and of [group.a.b], which is a name with a '.'.
static std::string hint_for_own_keys(const toml::table& table, const std::string& where,
                                     const toml::key& key, const std::vector<std::string>& keys) {
  const std::string_view title = where;
  const size_t begin = title.find_first_not_of('['), dot = title.find('.');
  if (begin == 0 || begin == std::string_view::npos) return {};
  const std::string_view kind = title.substr(begin, std::min(dot, title.find(']')) - begin);
  const std::string_view name =
      dot == std::string_view::npos ? kind : title.substr(dot + 1, title.size() - dot - 2);
  const toml::table* inner = table.get_as<toml::table>(key.str());
  if (inner == nullptr || inner->empty()) return {};
  std::vector<std::string> lines, taken;
  bool is_dotted = false;  // "a.l3 = ..." in [group.a] itself
  for (const auto& [inner_key, value] : *inner) {
    const std::string word(inner_key.str());
    if (std::ranges::find(keys, word) == keys.end()) return {};
    if (table.contains(word))
      taken.push_back(fmt::format("'{}'", word));
    else
      lines.push_back(fmt::format("{} = {}", word, plain_text(value)));
    is_dotted |= inner_key.source().begin.line == key.source().begin.line;
  }
  const bool is_own = key.str() == kind || key.str() == name || is_word_for_amounts(key.str());
  // [group.a.a] may be another group.
  if (!is_dotted && (!is_own || !taken.empty())) return {};
  const std::string has =
      taken.empty() ? "" : fmt::format("{} has {} already", where, join(taken, " and "));
  if (lines.empty())
    return fmt::format("{}: remove {}", has, taken.size() == 1 ? "this line" : "these lines");
  if (!has.empty()) return fmt::format("{}: write only {}", has, join(lines, " and "));
  return fmt::format("write {}{}", join(lines, " and "),
                     is_dotted && lines.size() == 1 ? "" : " in " + where);
}

// The name that a table without one has in it: "redis" of [groups.redis], and of [[group]] with
// name = "redis". Of several, the first of the file. A key of groups is no name, and neither is a
// word for the groups themselves: "web" of [resctrl.groups.web].
static std::string_view name_within(const toml::node& node) {
  if (const auto* array = node.as_array(); array != nullptr && !array->empty())
    if (const auto* first = array->front().as_table())
      if (const auto* name = first->get_as<std::string>("name");
          name != nullptr && !name_problem(name->get()))
        return name->get();
  const auto is_table = [](const toml::node& value) {
    return value.is_table() && !value.as_table()->is_inline();
  };
  const auto* table = node.as_table();
  if (table != nullptr)
    for (const auto& [name, value] : *table)
      if (is_word_for_groups(name.str()) && is_table(value))
        if (const std::string_view within = name_within(value); !within.empty()) return within;
  const toml::key* first = nullptr;
  if (table != nullptr)
    for (const auto& [name, value] : *table)
      if (is_table(value) && !name_problem(name.str()) && !is_word_for_groups(name.str()) &&
          (!is_key_of_groups(name.str()) || name.str() == "exclusive") &&
          (first == nullptr || name.source().begin < first->source().begin))
        first = &name;
  return first == nullptr ? "" : first->str();
}

// "c" of [partitions.p.classes.c].
static std::string_view class_within(const toml::node& node, std::string_view partition) {
  const auto* partitions = node.as_table();
  const auto* table = partitions == nullptr ? nullptr : partitions->get_as<toml::table>(partition);
  if (table != nullptr)
    for (const auto& [key, classes] : *table)
      if (is_word_for_groups(key.str()) && classes.is_table())
        for (const auto& [inner, one] : *classes.as_table()) return inner.str();
  return {};
}

// "web" of [unit.web] with group = "a".
static std::string_view rule_within(const toml::node& node) {
  if (const auto* tables = node.as_table())
    for (const auto& [name, value] : *tables)
      if (const auto* table = value.as_table(); table != nullptr && table->contains("group"))
        return name.str();
  return {};
}

// Whether the table has keys that differ in the number at their end only: l3_0 and l3_1.
static bool has_other_number(std::string_view key, const toml::table& table) {
  const auto stem = [](std::string_view name) {
    return name.substr(0, name.find_last_not_of("0123456789") + 1);
  };
  constexpr size_t most = 64;  // each unknown key looks at all
  if (table.size() > most || stem(key) == key || stem(key).size() < 2) return false;
  return std::ranges::count_if(table, [&](const auto& entry) {
           return entry.first.str() != stem(key) && stem(entry.first.str()) == stem(key);
         }) > 1;
}

static UnknownKey described(const toml::key& key, const toml::table& within,
                            std::string_view table_title) {
  const toml::node& node = *within.get(key.str());
  UnknownKey out{.name = key.str(),
                 .is_on = {},
                 .text = {},
                 .texts = {},
                 .table = table_title,
                 .inner_keys = {},
                 .inner_name = name_within(node),
                 .pods = {},
                 .other_end = {},
                 .beside_group = table_title == "[[rule]]" && within.contains("group"),
                 .class_within = class_within(node, name_within(node)),
                 .number = {},
                 .inner_rule = rule_within(node),
                 .is_one_of_several = has_other_number(key.str(), within),
                 .has_name_line = node.is_array(),
                 .pod_namespace = {},
                 .workload = {}};
  // Not for each unknown key of a table that has very many.
  if (table_title == "[[rule]]" && (is_namespace_key(key.str()) || is_workload_key(key.str())))
    for (const auto& [name, value] : within)
      if (const auto* text = value.as_string()) {
        if (is_namespace_key(name.str())) out.pod_namespace = text->get();
        if (is_workload_key(name.str())) out.workload = text->get();
      }
  if (const auto* pod = within.get_as<std::string>("pod")) out.pods.emplace_back(pod->get());
  if (const auto* pods = within.get_as<toml::array>("pod"))
    for (const toml::node& pod : *pods)
      if (const auto* text = pod.as_string()) out.pods.emplace_back(text->get());
  if (const auto* end = within.get_as<std::string>(other_end_of(key.str())))
    out.other_end = end->get();
  if (const auto* boolean = node.as_boolean()) out.is_on = boolean->get();
  if (const auto* string = node.as_string()) out.text = string->get();
  if (const auto* number = node.as_integer(); number != nullptr && number->get() >= 0)
    out.number = std::to_string(number->get());
  const auto* array = node.as_array();
  if (array != nullptr)
    for (const toml::node& one : *array)
      if (const auto* text = one.as_string()) out.texts.emplace_back(text->get());
  if (array != nullptr && out.texts.size() != array->size()) out.texts.clear();
  if (out.texts.size() == 1) out.text = out.texts.front();
  const toml::table* table =
      array != nullptr && !array->empty() ? array->front().as_table() : node.as_table();
  if (table != nullptr)
    for (const auto& [inner, value] : *table) out.inner_keys.push_back(inner.str());
  return out;
}

// Whether what the table holds means something else outside of it: not = { name = "x" }, and min =
// { l3 = "4 ways" }.
static bool changes_meaning(const toml::key& key, const toml::table& table, std::string_view where,
                            const std::vector<std::string>& keys) {
  const std::string hint = unknown_key_hint(described(key, table, where), keys);
  return hint == no_negation || (hint == an_end && !is_word_for_amounts(key.str()));
}

// Whether it is a rule with a name, [rule.web], and not unit.name = "x" or [rule.match].
static bool is_named_rule(const toml::key& key, const toml::node& node) {
  const auto* table = node.as_table();
  return table != nullptr && !table->is_inline() && table->contains("group") &&
         table->begin()->first.source().begin.line != key.source().begin.line;
}

void FileReader::read_table(const toml::table& table, const std::string& where,
                            const Keys& keys) const {
  std::vector<std::string> names;
  for (const auto& [candidate, handler] : keys) names.push_back(candidate);
  for (const auto& [key, node] : table) {
    const std::string_view name = key.str();
    const auto known = std::ranges::find(keys, name, &std::pair<std::string, Handler>::first);
    if (known != keys.end())
      known->second(key, node);
    else if (name.starts_with("x-"))
      continue;
    else if (std::string hint = hint_for_own_keys(table, where, key, names);
             !hint.empty() && !changes_meaning(key, table, where, names))
      error(at(key), fmt::format("unknown key '{}' in {}", name, where), std::move(hint));
    else if (where == "[[rule]]" && is_named_rule(key, node) &&
             !changes_meaning(key, table, where, names))
      error(at(key), fmt::format("unknown key '{}' in {}", name, where), "write [[rule]]");
    else if (looks_like_longer_name(node, names) &&
             (where.starts_with("[group.") || where.starts_with("[partition.")))
      error(at(key), fmt::format("unknown key '{}' in {}", name, where),
            hint_for_inner_table(table, where, key, names));
    else
      error(at(key), fmt::format("unknown key '{}' in {}", name, where),
            unknown_key_hint(described(key, table, where), names));
  }
}

void FileReader::read_named_tables(
    const toml::key& key, const toml::node& node,
    const std::function<void(const toml::key&, const toml::table&)>& entry,
    const std::function<bool(std::string_view)>& is_key) const {
  const toml::table* tables = node.as_table();
  if (const std::string_view named = name_within(node); tables == nullptr && !named.empty())
    return wrong_type(key, node, "a table",
                      fmt::format("write {} in place of [[{}]], without the line of 'name'",
                                  table_title(key.str(), named), key.str()));
  if (tables == nullptr)
    return wrong_type(key, node, "a table", fmt::format("write [{}.NAME]", key.str()));
  // toml++ sorts by name; the order of the file is what counts.
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [name, value] : *tables) entries.emplace_back(&name, &value);
  std::ranges::stable_sort(entries, {}, [this](const auto& e) { return at(*e.first); });
  // A table that maps domains to amounts is not a group either.
  const auto holds_values = [&](const toml::table& table) {
    return table.is_inline() && !table.empty() &&
           std::ranges::none_of(table, [&](const auto& pair) { return is_key(pair.first.str()); });
  };
  for (const auto& [name, value] : entries) {
    const toml::table* table = value->as_table();
    const auto* text = value->as_string();
    if (text != nullptr && lower(name->str()) == "name" && !name_problem(text->get()))
      error(at(*name), fmt::format("the name of the {} belongs in its header", key.str()),
            "write " + table_title(key.str(), text->get()));
    else if ((table == nullptr || holds_values(*table)) && is_key(lower(name->str())))
      error(
          at(*name),
          fmt::format("the name of the {0} is missing: '{1}' is in [{0}]", key.str(), name->str()),
          fmt::format("write [{0}.NAME] instead of [{0}]", key.str()));
    else if (table != nullptr)
      entry(*name, *table);
    else if (!name->str().starts_with("x-"))
      wrong_type(*name, *value, "a table", "write " + table_title(key.str(), name->str()));
  }
}

std::optional<Located<std::string>> FileReader::string(const toml::key& key,
                                                       const toml::node& node) const {
  if (const auto* value = node.as_string()) return Located<std::string>{value->get(), at(node)};
  if (const auto* array = node.as_array(); array != nullptr && array->size() == 1)
    if (const auto* only = array->front().as_string()) {
      wrong_type(key, node, "a string",
                 fmt::format("write {} = {}", key.str(), rdtd::quoted(only->get())));
      return std::nullopt;
    }
  const auto* number = node.as_integer();
  const bool is_text =
      key.str() == "partition" || key.str() == "group" || key.str() == "description";
  wrong_type(key, node, "a string",
             number != nullptr && is_text && number->flags() == toml::value_flags::none
                 ? fmt::format("write {} = \"{}\"", key.str(), number->get())
                 : "");
  return std::nullopt;
}

std::optional<bool> FileReader::boolean(const toml::key& key, const toml::node& node) const {
  if (const auto* value = node.as_boolean()) return value->get();
  wrong_type(key, node, "true or false", boolean_hint(key, node));
  return std::nullopt;
}

// Whether the text behind this key of a condition's table is all that the condition says: not of
// { not = "root" }, { prefix = "web-" } and { image = "nginx" }.
static bool is_plain_value(std::string_view condition, std::string_view word) {
  if (condition == "pod") return false;
  if (is_one_of(word, {"uid", "gid", "id"}))
    return is_one_of(condition, {"user", "user_group"}) || (condition == "vm" && word == "id");
  if (word == "path") return is_one_of(condition, {"exe", "cgroup"});
  return word == condition || is_one_of(word, {"name", "value", "is", "equals"});
}

// pod = "shop/web" of pod = { namespace = "shop", name = "web" }, and cgroup = "/x" of cgroup.path.
static std::string table_as_text(const toml::key& key, const toml::node& node) {
  const auto* table = node.as_table();
  if (table == nullptr) return {};
  const auto text_of = [&](std::string_view name) {
    const auto* text = table->get_as<std::string>(name);
    return text == nullptr ? std::string() : text->get();
  };
  const bool names_pods = std::ranges::all_of(*table, [](const auto& entry) {
    return is_one_of(entry.first.str(), {"namespace", "name"}) && entry.second.is_string();
  });
  if (const std::string space = text_of("namespace");
      key.str() == "pod" && names_pods && !space.empty()) {
    const std::string name = text_of("name");
    return fmt::format("write pod = \"{}/{}\"", space, name.empty() ? "*" : name);
  }
  if (table->size() != 1 || !table->begin()->second.is_string() ||
      !is_plain_value(key.str(), table->begin()->first.str()))
    return {};
  return fmt::format("write {} = {}", key.str(),
                     rdtd::quoted(table->begin()->second.as_string()->get()));
}

// write vm = "100", or "100" within an array.
static std::string number_as_text(const toml::key& key, const toml::node& node,
                                  const toml::node& element) {
  const auto* number = element.as_integer();
  if (number == nullptr || number->flags() != toml::value_flags::none) return {};
  return node.is_array() ? fmt::format("write \"{}\"", number->get())
                         : fmt::format("write {} = \"{}\"", key.str(), number->get());
}

std::vector<Located<std::string>> FileReader::strings(const toml::key& key, const toml::node& node,
                                                      bool numbers) const {
  std::vector<Located<std::string>> out;
  const std::string_view required =
      numbers ? "a name, a number or an array of them" : "a string or an array of strings";
  const auto add = [&](const toml::node& element) {
    if (const auto* value = element.as_string())
      out.push_back({value->get(), at(element)});
    else if (const auto* number = element.as_integer(); number != nullptr && numbers)
      out.push_back({std::to_string(number->get()), at(element)});
    else
      wrong_type(
          key, element, required,
          element.is_table() ? table_as_text(key, element) : number_as_text(key, node, element));
  };
  if (const toml::array* array = node.as_array()) {
    if (array->empty())
      error(at(node), fmt::format("'{}' is an empty array: nothing can match it", key.str()));
    for (const toml::node& element : *array) add(element);
  } else {
    add(node);
  }
  return out;
}

void FileReader::wrong_type(const toml::key& key, const toml::node& node, std::string_view required,
                            std::string hint) const {
  error(at(node), fmt::format("'{}' must be {}, not {}", key.str(), required, type_name(node)),
        std::move(hint));
}

Location FileReader::at(const toml::source_region& source) const {
  Location where{path_, source.begin.line, source.begin.column, 1};
  if (source.end.line == source.begin.line && source.end.column > source.begin.column)
    where.width = source.end.column - source.begin.column;
  return where;
}

void FileReader::warning(Location where, std::string message, std::string hint) const {
  diagnostics_->push_back(
      {Severity::warning, std::move(where), std::move(message), std::move(hint)});
}

void FileReader::error(Location where, std::string message, std::string hint) const {
  diagnostics_->push_back({Severity::error, std::move(where), std::move(message), std::move(hint)});
}

}  // namespace rdtd
