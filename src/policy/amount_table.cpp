#include "amount_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "amount_meant.hpp"
#include "plain_value.hpp"
#include "rate_meant.hpp"
#include "rdtd/base/text.hpp"

namespace rdtd {

const DomainAmount* line_for(const AmountTable& table, DomainId domain) {
  const DomainAmount* all = nullptr;
  for (const DomainAmount& line : table) {
    if (line.domains && line.domains->contains(domain)) return &line;
    if (!line.domains) all = &line;
  }
  return all;
}

namespace {

// Of several amounts of a cache: a range, as their text with a ',' between them is one too, or
// those of domains.
std::string cache_amounts_meant(const toml::array& array, bool with_range) {
  constexpr std::string_view example =
      "write { \"0\" = \"4 ways\", \"1\" = \"2 ways\" } for two domains";
  constexpr auto numbers = std::to_array<std::string_view>({"two", "three", "four"});
  if (array.size() < 2 || array.size() > numbers.size() + 1) return std::string(example);
  std::vector<std::string> amounts, lines;
  for (const toml::node& one : array) {
    const auto* text = one.as_string();
    if (text == nullptr || !parse_cache_amount(text->get())) return std::string(example);
    lines.push_back(fmt::format("\"{}\" = {}", amounts.size(), rdtd::quoted(text->get())));
    amounts.push_back(text->get());
  }
  const auto range =
      amounts.size() == 2 && with_range ? cache_amount_meant(join(amounts, ",")) : std::nullopt;
  if (range) return fmt::format("write \"{}\"", *range);
  return fmt::format("write {{ {} }} for {} domains", join(lines, ", "),
                     numbers.at(amounts.size() - 2));
}

// The amount that a number without quotes and unit probably stands for.
std::string amount_meant(Resource resource, const toml::node& node, bool with_range) {
  if (const auto* number = node.as_integer()) {
    const int64_t value = number->get();
    const std::string mask = fmt::format("{:#x}", value);
    const bool is_mask = is_cache(resource) && parse_cache_amount(mask).has_value();
    if (is_mask && number->flags() == toml::value_flags::format_as_hexadecimal)
      return fmt::format("quote it: \"{}\"", mask);
    if (is_mask && number->flags() == toml::value_flags::format_as_binary)
      return fmt::format("write \"{}\"", mask);
    if (value > 0 && value <= 32 && is_cache(resource))
      return fmt::format("write \"{} way{}\"", value, value == 1 ? "" : "s");
    if (value == 0 && !is_cache(resource))
      return "write \"10%\", which is the least of most machines";
    if (value > 0 && value <= 100)
      return fmt::format("write \"{}%\"{}", value,
                         is_cache(resource) ? "" : "; " + rate_of_amd(value));
    if (const auto rate =
            is_cache(resource) ? std::nullopt : rate_without_unit_meant(std::to_string(value)))
      return *rate;
  }
  if (const auto* number = node.as_floating_point(); number != nullptr && std::isinf(number->get()))
    return is_cache(resource) ? "write \"all\"" : "write \"unlimited\"";
  if (node.is_boolean() && !node.value_or(true))
    return fmt::format("write \"{}\" for no limit, or remove this line",
                       is_cache(resource) ? "all" : "unlimited");
  if (const auto* fraction = node.as_floating_point();
      fraction != nullptr && fraction->get() >= 0.001 && fraction->get() <= 1)
    return fmt::format("write \"{:.4g}%\"", fraction->get() * 100);
  if (const auto* array = node.as_array(); is_cache(resource) && array != nullptr)
    if (const auto* only = array->size() == 1 ? array->front().as_string() : nullptr;
        only != nullptr && parse_cache_amount(only->get()))
      return "write " + rdtd::quoted(only->get());
  if (const auto* array = node.as_array(); is_cache(resource) && array != nullptr)
    return cache_amounts_meant(*array, with_range);
  return is_cache(resource) ? "write \"4 ways\" or \"25%\"" : "write \"50%\"";
}

AmountError no_range(const Amount& amount) {
  return {fmt::format("'{}' is a range, which only the l3, l2, mb and smba of a group can have",
                      amount.text),
          "write one amount"};
}

bool takes_range(AmountReader::Holder holder, const Resource& resource) {
  return holder != AmountReader::Holder::other && !is_code_or_data(resource);
}

struct Value {
  const toml::key& key;
  const toml::node& node;
  std::string_view required;  // the types that it may have
};

// An amount of a control: a number, true or false for 1 and 0, or a string.
std::optional<Located<Amount>> read_control_amount(const FileReader& in, const Value& value) {
  const auto& [key, node, required] = value;
  if (const auto* yes = node.as_boolean())
    return Located<Amount>{{Number{yes->get() ? 1U : 0U}, yes->get() ? "true" : "false"},
                           in.at(node)};
  std::string text;
  if (const auto* number = node.as_integer())
    text = std::to_string(number->get());
  else if (const auto* string = node.as_string())
    text = string->get();
  else
    return in.wrong_type(key, node, fmt::format("a number or {}", required)), std::nullopt;
  auto amount = parse_control_amount(text);
  if (amount && amount->least) amount = std::unexpected(no_range(*amount));
  if (amount) return Located<Amount>{std::move(*amount), in.at(node)};
  in.error(in.at(node), std::move(amount.error().message), std::move(amount.error().hint));
  return std::nullopt;
}

std::optional<Located<Amount>> read_one(const FileReader& in, AmountReader::Holder holder,
                                        Resource resource, const Value& value) {
  const auto& [key, node, required] = value;
  const auto* text = node.as_string();
  if (text == nullptr) {
    // Of one domain, two amounts in an array.
    const auto* array = required == "a string" && is_cache(resource) ? node.as_array() : nullptr;
    const auto* first =
        array != nullptr && array->size() > 1 ? array->front().as_string() : nullptr;
    in.wrong_type(key, node, required,
                  first != nullptr && parse_cache_amount(first->get())
                      ? fmt::format("a domain has one amount: write {}", rdtd::quoted(first->get()))
                      : amount_meant(resource, node, takes_range(holder, resource)));
    return std::nullopt;
  }
  auto amount =
      is_cache(resource) ? parse_cache_amount(text->get()) : parse_bandwidth_amount(text->get());
  if (amount && amount->least && !takes_range(holder, resource))
    amount = std::unexpected(no_range(*amount));
  if (amount) return Located<Amount>{std::move(*amount), in.at(node)};
  AmountError& error = amount.error();
  if (holder == AmountReader::Holder::other && is_cache(resource) &&
      is_amount_of_other(text->get(), true))
    error.hint = "it is a bandwidth, which belongs in a [group.NAME]: write \"4 ways\" here";
  if (holder != AmountReader::Holder::default_group && is_cache(resource) &&
      cache_amount_meant(text->get()) == "remainder")
    error.hint = instead_of_remainder;
  in.error(in.at(node), std::move(error.message), std::move(error.hint));
  return std::nullopt;
}

// Whether a machine that does not take the first form takes the second.
bool is_other_form(const Amount& first, const Amount& second) {
  // Of a range, the lower end: the upper one may be "unlimited", which has no unit.
  const Amount::Value &one = first.least.value_or(first.value),
                      &other = second.least.value_or(second.value);
  return one.index() != other.index() && !std::holds_alternative<Unlimited>(one);
}

// An amount, or of bandwidth an array of two forms of it. `of`: nothing for a control. The places
// of the domains are not set.
std::optional<DomainAmount> read_amount(const FileReader& in, AmountReader::Holder holder,
                                        const std::optional<Resource>& of, const Value& value) {
  const toml::array* forms = value.node.as_array();
  if (!of || forms == nullptr || is_cache(*of)) {
    auto amount = of ? read_one(in, holder, *of, value) : read_control_amount(in, value);
    if (!amount) return std::nullopt;
    return DomainAmount{std::nullopt, {}, std::move(*amount)};
  }
  constexpr std::string_view hint = "write [\"50%\", \"8 GB/s\"]";
  if (forms->empty() || forms->size() > 2) {
    in.error(in.at(value.node),
             fmt::format("'{}' has {} amounts; an array holds one amount in two forms",
                         value.key.str(), forms->size()),
             std::string(hint));
    return std::nullopt;
  }
  std::vector<Located<Amount>> read;
  for (const toml::node& form : *forms)
    if (auto amount = read_one(in, holder, *of, {value.key, form, "a string"}))
      read.push_back(std::move(*amount));
  if (read.size() != forms->size()) return std::nullopt;
  if (read.size() == 1) return DomainAmount{std::nullopt, {}, std::move(read.front())};
  if (!is_other_form(read[0].value, read[1].value)) {
    const std::string range = fmt::format("{}..{}", read[0].value.text, read[1].value.text);
    const bool is_range = takes_range(holder, *of) && parse_bandwidth_amount(range);
    in.error(read[1].where,
             fmt::format("'{}' is never used: '{}' is for the same machines", read[1].value.text,
                         read[0].value.text),
             read[0].value.text == read[1].value.text
                 ? fmt::format("write {}", rdtd::quoted(read[0].value.text))
             : is_range ? fmt::format("write \"{}\" for a range", range)
                        : std::string(hint));
    return std::nullopt;
  }
  return DomainAmount{std::nullopt, {}, std::move(read[0]), std::move(read[1])};
}

// The amount that a value stands for whose unit is in its key, or beside it: { ways = 4 }, { mask =
// "0xf" }, { value = 4, unit = "ways" }. Else the example.
std::string amount_of_word(std::string_view word, const toml::table& table, bool cache,
                           std::string_view example) {
  const toml::node& value = *table.get(word);
  const auto* unit = table.get_as<std::string>("unit");
  const auto* number = value.as_integer();
  const auto* string = value.as_string();
  std::string text = string != nullptr ? string->get() : std::string(example);
  if (number != nullptr && word.starts_with("way"))
    text = fmt::format("{} way{}", number->get(), number->get() == 1 ? "" : "s");
  else if (number != nullptr && word.starts_with("percent"))
    text = fmt::format("{}%", number->get());
  else if (number != nullptr && unit != nullptr)
    text = fmt::format("{} {}", number->get(), unit->get());
  const auto parse = cache ? parse_cache_amount : parse_bandwidth_amount;
  if (parse(text)) return text;
  const auto meant = cache ? cache_amount_meant(text) : bandwidth_amount_meant(text);
  return meant && parse(*meant) ? *meant : std::string(example);
}

// The text of the first of these keys that the table has; a number with the unit beside it.
std::string end_of_range(const toml::table& table, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const auto* text = table.get_as<std::string>(key)) return text->get();
    const auto* unit = table.get_as<std::string>("unit");
    if (const auto* number = table.get_as<int64_t>(key))
      return fmt::format("{}{}{}", number->get(), unit == nullptr ? "" : " ",
                         unit == nullptr ? "" : unit->get());
  }
  return {};
}

// Of l3 = { min = "2 ways", max = "4 ways" }, or of one of them.
std::string instead_of_ends(std::string_view key, bool has_range, bool cache,
                            const toml::table& table) {
  const std::string least = end_of_range(table, {"min", "least", "from"});
  const std::string most = end_of_range(table, {"max", "most", "to"});
  if (!has_range) {
    const auto amount = amount_of_ends("", most.empty() ? least : most, cache);
    return fmt::format("write {} = \"{}\"", key, amount.value_or(cache ? "4 ways" : "50%"));
  }
  const auto amount = amount_of_ends(least, most, cache);
  if (!amount && cache) return fmt::format("write {} = \"4 ways\"", key);
  const std::string line = fmt::format("{} = \"{}\"", key, amount.value_or("10%..100%"));
  if (line.contains("..")) return "write a range: " + line;
  return fmt::format("write {}{}", line, most.empty() ? to_keep_others_out : "");
}

// What the table's key 'exclusive' stands for in a group; empty without one.
std::string_view exclusive_meant(const toml::table& table) {
  if (const auto* strict = table.get_as<std::string>("exclusive"))
    return lower(strict->get()) == "strict" ? "\"strict\""
                                            : boolean_meant(strict->get()).value_or("true");
  if (!table.contains("exclusive")) return "";
  return table.at("exclusive").value_or(true) ? "true" : "false";
}

// Of l3 = { ways = 4, exclusive = true }.
std::string with_exclusive(const toml::table& table) {
  const std::string_view meant = exclusive_meant(table);
  return meant.empty() || meant == "false"
             ? ""
             : fmt::format(", and exclusive = {} in the group", meant);
}

// Other tools have the kind of an amount as a key: l3 = { ways = 4 }. `of`: nothing for a control.
std::string instead_of_words(std::string_view word, std::string_view key,
                             AmountReader::Holder holder, const std::optional<Resource>& of,
                             const toml::table& table) {
  const auto is = [word](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
  };
  if (is({"all", "default", "any", "each", "every", "other", "others", "rest"}))
    return "write \"*\" for all domains that have no amount of their own";
  if (const auto list = id_list_meant(word, std::numeric_limits<uint32_t>::max()))
    return fmt::format("write \"{}\"", *list);
  // "socket0", "L3:1"
  const size_t digits = word.find_last_not_of("0123456789") + 1;
  if (digits > 0 && digits < word.size() && parse_unsigned<uint32_t>(word.substr(digits)) &&
      word.find_first_of("-,") == std::string_view::npos)
    return fmt::format("write \"{}\"", word.substr(digits));
  if (!of) return "write \"0\", \"0-1,4\" or \"*\"";
  if (is({"exclusive"}))
    return fmt::format("write exclusive = {} in the group", exclusive_meant(table));
  if (is({"unit"})) return "the unit belongs in the amount: \"4 ways\", \"50%\", \"8 GB/s\"";
  const bool cache = is_cache(*of);
  if (is({"min", "max", "least", "most", "from", "to"}))
    return instead_of_ends(key, takes_range(holder, *of), cache, table);
  const auto written = [&](std::string_view name, std::string_view example) {
    const std::string line =
        fmt::format("{} = {}", name, rdtd::quoted(amount_of_word(word, table, cache, example))) +
        with_exclusive(table);
    const bool has_header =
        !table.is_inline() && table.source().begin.line < table.begin()->first.source().begin.line;
    return !has_header ? "write " + line
                       : fmt::format(
                             "write {} in the group's own table, in place of this "
                             "one",
                             line);
  };
  if (cache && is({"code", "data"}))
    return written(fmt::format("{}{}", key.substr(0, 2), word), "4 ways");
  if (cache && is({"mask", "cbm", "bitmask"})) return written(key, "0xf");
  if (cache && is({"size", "bytes"})) return written(key, "2 MiB");
  if (cache && is({"ways", "way", "count", "unified"})) return written(key, "4 ways");
  if (is({"percent", "percentage", "value", "amount"})) return written(key, "50%");
  return "write \"0\", \"0-1,4\" or \"*\"";
}

}  // namespace

ControlTables AmountReader::read_controls(const FileReader& in, const toml::key& key,
                                          const toml::node& node) {
  ControlTables out;
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    in.wrong_type(key, node, "a table", "write control = { NAME = 1 }");
    return out;
  }
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  for (const auto& [control, value] : *table) {
    const std::string_view name = control.str();
    if (name.empty() || name.size() > Resource::longest_name ||
        name.find_first_not_of(allowed) != std::string_view::npos)
      in.error(in.at(control), fmt::format("'{}' cannot be the name of a control", printable(name)),
               "write the name of a row of schemata");
    else if (parse_resource(name))
      in.error(in.at(control), fmt::format("'{}' has a key of its own", name),
               fmt::format("write {} in [group.NAME]", lower(name)));
    else
      out.emplace(name, read(in, Holder::other, std::nullopt, control, value));
  }
  return out;
}

AmountTable AmountReader::read(const FileReader& in, Holder holder, const Of& resource,
                               const toml::key& key, const toml::node& node) {
  if (const toml::table* table = node.as_table())
    return read_domains(in, holder, resource, key, *table);
  auto amount = read_amount(in, holder, resource,
                            {key, node, "a string or a table that maps domains to amounts"});
  if (!amount) return {};
  amount->domains_where = in.at(node);
  return {std::move(*amount)};
}

AmountTable AmountReader::read_domains(const FileReader& in, Holder holder, const Of& resource,
                                       const toml::key& key, const toml::table& table) {
  AmountTable amounts;
  if (table.empty()) in.error(in.at(table), fmt::format("'{}' names no domain", key.str()));
  std::set<DomainId> named;
  for (const auto& [domain, value] : table) {
    const bool others = domain.str() == "*";
    auto domains =
        others ? std::nullopt : read_domain(in, {domain, key, holder, resource, table}, named);
    if (!others && !domains) continue;
    auto amount = read_amount(in, holder, resource, {domain, value, "a string"});
    if (!amount) continue;
    amount->domains = std::move(domains);
    amount->domains_where = in.at(domain);
    amounts.push_back(std::move(*amount));
  }
  // "*" comes last, whatever the order written: toml++ sorts by key anyway.
  std::ranges::stable_partition(amounts,
                                [](const DomainAmount& line) { return line.domains.has_value(); });
  return amounts;
}

// Nothing if the key is no list of domains, or lists one that is in `named` already.
std::optional<std::set<DomainId>> AmountReader::read_domain(const FileReader& in,
                                                            const DomainKey& what,
                                                            std::set<DomainId>& named) {
  const auto& [domain, key, holder, resource, table] = what;
  const auto ids = parse_id_list(domain.str(), std::numeric_limits<uint32_t>::max());
  if (!ids) {
    in.error(in.at(domain),
             fmt::format("'{}' is not a list of domains: {}", domain.str(), ids.error()),
             instead_of_words(domain.str(), key.str(), holder, resource, table));
    return std::nullopt;
  }
  uint64_t listed = 0;
  for (const std::string_view part : split(domain.str(), ','))
    listed +=
        count_ids(parse_id_list(part, std::numeric_limits<uint32_t>::max()).value_or(IdList{}));
  const uint64_t count = count_ids(*ids);
  if (listed != count) {
    in.error(in.at(domain), fmt::format("'{}' lists a domain twice", domain.str()));
    return std::nullopt;
  }
  if (count > ids_left_) {
    in.error(in.at(domain),
             fmt::format("'{}' is more domains than a policy may list", domain.str()),
             "write \"*\" for all domains");
    return std::nullopt;
  }
  ids_left_ -= count;
  std::set<DomainId> domains;
  for (const IdRange range : *ids)
    for (uint64_t id = range.first; id <= range.last; id++)
      domains.insert(domains.end(), DomainId{static_cast<uint32_t>(id)});
  for (const DomainId id : domains) {
    if (named.insert(id).second) continue;
    in.error(in.at(domain),
             fmt::format("domain {} is listed twice in '{}'", to_string(id), key.str()));
    return std::nullopt;
  }
  return domains;
}

}  // namespace rdtd
