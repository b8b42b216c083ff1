#include "amount_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "amount_meant.hpp"
#include "amount_words.hpp"
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
    constexpr int64_t most_ways = 20;  // of nearly all processors: more are a percentage
    if (value > 0 && value <= most_ways && is_cache(resource))
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
    return fmt::format("write \"{:.4g}%\"{}", fraction->get() * 100,
                       is_cache(resource) ? "" : rate_in_place_of_share);
  if (const auto* array = node.as_array(); is_cache(resource) && array != nullptr)
    if (const auto* only = array->size() == 1 ? array->front().as_string() : nullptr;
        only != nullptr && parse_cache_amount(only->get()))
      return "write " + rdtd::quoted(only->get());
  if (const auto* array = node.as_array(); is_cache(resource) && array != nullptr)
    return cache_amounts_meant(*array, with_range);
  return is_cache(resource) ? "write \"4 ways\" or \"25%\""
                            : fmt::format("write \"50%\"{}", rate_in_place_of_share);
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
  const auto* array = node.as_array();
  if (auto meant = resource && array != nullptr ? domains_meant(*array, is_cache(*resource))
                                                : std::nullopt) {
    in.wrong_type(key, node, "a string or a table that maps domains to amounts", *std::move(meant));
    return {};
  }
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
             instead_of_words(domain.str(), key.str(), resource && takes_range(holder, *resource),
                              resource, table));
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
