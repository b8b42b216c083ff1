#include "lock_table.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "amount_meant.hpp"
#include "names.hpp"
#include "rdtd/base/text.hpp"
#include "plain_value.hpp"

namespace rdtd {

namespace {

constexpr const char* example = R"(write l2 = { "1" = "256 KiB" })";

// A name or number of a user or group. udev finds the number of a name (udev(7), OWNER).
std::optional<Located<std::string>> read_identity(const FileReader& in, const toml::key& key,
                                                  const toml::node& node) {
  const auto* number = node.as_integer();
  if (number == nullptr && !node.is_string()) {
    in.wrong_type(key, node, "a name or a number");
    return std::nullopt;
  }
  const Located<std::string> out{
      number == nullptr ? node.as_string()->get() : std::to_string(number->get()), in.at(node)};
  const std::string_view kind = key.str() == "owner" ? "user" : "user group";
  if (out.value.empty() || out.value.starts_with('-') ||
      out.value.find_first_not_of(name_characters) != std::string::npos) {
    const size_t colon = out.value.find(':');  // "root:root" of chown
    std::string hint;
    if (key.str() == "owner" && colon != std::string::npos && colon > 0)
      hint = "write owner = " + rdtd::quoted(out.value.substr(0, colon));
    if (!hint.empty() && colon + 1 < out.value.size())
      hint += ", and group = " + rdtd::quoted(out.value.substr(colon + 1));
    in.error(out.where, fmt::format("'{}' is no {}", printable(out.value), kind), std::move(hint));
    return std::nullopt;
  }
  return out;
}

// "0660": what chmod(1) takes, without the special bits.
std::optional<unsigned> read_mode(const FileReader& in, const toml::key& key,
                                  const toml::node& node) {
  constexpr unsigned all_permissions = 0777;
  constexpr size_t longest = 4;
  constexpr const char* hint = "write \"0660\"";
  if (!node.is_string()) {
    const auto* number = node.as_integer();
    const bool is_octal =
        number != nullptr && number->flags() == toml::value_flags::format_as_octal;
    const std::string digits = number == nullptr ? ""
                               : is_octal        ? fmt::format("{:o}", number->get())
                                                 : std::to_string(number->get());
    const auto meant = parse_unsigned<unsigned>(digits, 8);
    const bool is_mode = meant && *meant <= all_permissions && digits.size() < longest;
    in.wrong_type(key, node, "a string", is_mode ? fmt::format("write \"{:04o}\"", *meant) : hint);
    return std::nullopt;
  }
  const std::string& text = node.as_string()->get();
  const auto mode = parse_unsigned<unsigned>(text, 8);
  if (mode && *mode <= all_permissions && text.size() <= longest) return mode;
  in.error(in.at(node),
           fmt::format("'{}' is not a mode: octal digits, at most 0777", printable(text)), hint);
  return std::nullopt;
}

// Whether the table asks for one amount in one domain of one cache.
bool check_region(const FileReader& in, const PseudoLock& lock) {
  const std::string what = fmt::format("pseudo_lock '{}'", lock.name.value);
  if (lock.amounts.empty()) {
    in.error(lock.name.where, what + " has no cache amount", example);
    return false;
  }
  if (lock.amounts.size() > 1) {
    in.error(lock.name.where, what + " names two caches; a region is in one", example);
    return false;
  }
  const AmountTable& table = lock.amounts.begin()->second;
  if (table.empty()) return false;  // which was reported
  const DomainAmount& line = table.front();
  if (table.size() > 1 || !line.domains || line.domains->size() != 1) {
    in.error(line.domains_where, what + " must name one domain; a region is in exactly one",
             fmt::format("write {} = {{ \"{}\" = {} }}", resource_key(lock.amounts.begin()->first),
                         to_string(line.domains && !line.domains->empty() ? *line.domains->begin()
                                                                          : DomainId{}),
                         rdtd::quoted(line.amount.value.text)));
    return false;
  }
  if (!std::holds_alternative<All>(line.amount.value.value) &&
      !std::holds_alternative<Remainder>(line.amount.value.value))
    return true;
  in.error(line.amount.where,
           fmt::format("'{}' cannot be locked: a region leaves ways to the groups",
                       line.amount.value.text),
           "write \"2 ways\" or \"256 KiB\"");
  return false;
}

// Of size = "256K" with level and domain, as keys of their own; empty without a size.
std::string region_meant(const toml::table& table) {
  const auto* size = table.get_as<std::string>("size");
  if (size == nullptr) return {};
  for (const std::string_view cache : {"l2", "l3"})
    if (table.contains(cache)) return fmt::format("remove this line: '{}' has the size", cache);
  const auto meant = parse_cache_amount(size->get()) ? std::optional(size->get())
                                                     : cache_amount_meant(size->get());
  if (!meant) return {};
  // Of "l3" or "all" in their place, nobody knows which region is meant.
  const auto number = [&](std::string_view key, int64_t otherwise) {
    return table.contains(key) ? table.at(key).value_exact<int64_t>().value_or(-1) : otherwise;
  };
  const int64_t level = number("level", 2), domain = number("domain", 0);
  if ((level != 2 && level != 3) || domain < 0) return {};
  std::vector<std::string> keys = {"size"};
  for (const std::string_view key : {"level", "domain"})
    if (table.contains(key)) keys.emplace_back(key);
  return fmt::format("write l{} = {{ \"{}\" = \"{}\" }} in place of {}", level, domain, *meant,
                     join(keys, ", "));
}

}  // namespace

std::string device_of_lock(std::string_view name) {
  return fmt::format("/dev/pseudo_lock/{}", name);
}

LockTable read_lock(const FileReader& in, const toml::key& key, const toml::table& table,
                    AmountReader& amounts) {
  LockTable out;
  PseudoLock& lock = out.lock;
  lock.name = {std::string(key.str()), in.at(key)};
  check_name(in, "pseudo_lock", lock.name);
  FileReader::Keys keys = {
      {"owner", [&](const auto& k, const auto& n) { lock.owner = read_identity(in, k, n); }},
      {"group", [&](const auto& k, const auto& n) { lock.user_group = read_identity(in, k, n); }},
      {"mode",
       [&](const auto& k, const auto& n) { lock.mode = read_mode(in, k, n).value_or(0600); }},
      {"override",
       [&](const auto& k, const auto& n) { out.replaces = in.boolean(k, n).value_or(false); }}};
  for (const Resource resource : {Resource::L2, Resource::L3})
    keys.emplace_back(resource_key(resource), [&, resource](const auto& k, const auto& n) {
      lock.amounts[resource] = amounts.read(in, AmountReader::Holder::other, resource, k, n);
    });
  if (std::string hint = region_meant(table); !hint.empty()) {
    const auto entry = table.find("size");
    in.error(in.at(entry->first),
             fmt::format("unknown key 'size' in {}", table_title("pseudo_lock", key.str())),
             std::move(hint));
    return out;
  }
  const size_t before = in.problems();
  in.read_table(table, table_title("pseudo_lock", key.str()), keys);
  out.complete = in.problems() == before && check_region(in, lock);
  return out;
}

}  // namespace rdtd
