#include "amount_meant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "rate_meant.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/toml_text.hpp"

namespace rdtd {

namespace {

constexpr size_t longest_slip = 32;  // nobody's slip is longer

// The parsers ask for what was meant, and what was meant is tried by the parsers: once is enough,
// or a text of many signs would take for ever.
class Guessing {
 public:
  Guessing() : first_(!std::exchange(under_way_, true)) {}
  Guessing(const Guessing&) = delete;
  Guessing& operator=(const Guessing&) = delete;
  ~Guessing() {
    if (first_) under_way_ = false;
  }
  [[nodiscard]] bool first() const { return first_; }

 private:
  static thread_local bool under_way_;
  bool first_;
};

thread_local bool Guessing::under_way_ = false;

// A number with a word behind it.
struct Quantity {
  std::string number;
  std::string word;
};

Quantity split_quantity(std::string_view text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  return {std::string(text.substr(0, end)), std::string(trim(text.substr(end)))};
}

// "f0", "ff", not "bad".
bool is_hexadecimal(std::string_view text) {
  const bool letters_only = text.find_first_of("0123456789") == std::string_view::npos;
  return !text.starts_with("0b") &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         text.find_first_of("abcdef") != std::string_view::npos &&
         (!letters_only || text.find_first_not_of('f') == std::string_view::npos);
}

// "0xf" of "0b1111".
std::optional<std::string> of_binary(std::string_view text) {
  if (!text.starts_with("0b")) return std::nullopt;
  const auto mask = parse_unsigned<uint32_t>(text.substr(2), 2);
  return mask ? std::optional(fmt::format("0x{:x}", *mask)) : std::nullopt;
}

// "4" of "four".
std::optional<size_t> small_number(std::string_view word) {
  constexpr std::array<std::string_view, 9> words = {"zero", "one", "two",   "three", "four",
                                                     "five", "six", "seven", "eight"};
  const auto found = std::ranges::find(words, word);
  return found == words.end() ? std::nullopt : std::optional<size_t>(found - words.begin());
}

// "half", "1/4".
std::optional<std::string> fraction(std::string_view text) {
  if (text == "half") return "50%";
  if (is_one_of(text, {"third", "a third", "one third"})) return "33.3%";
  if (is_one_of(text, {"a tenth", "one tenth"})) return "10%";
  if (text == "quarter") return "25%";
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto part = parse_unsigned<unsigned>(trim(text.substr(0, slash)));
  const auto whole = parse_unsigned<unsigned>(trim(text.substr(slash + 1)));
  if (!part || !whole || *part == 0 || *part > *whole) return std::nullopt;
  return fmt::format("{:.3g}%", 100.0 * *part / *whole);
}

// "50%" of "0.5".
std::optional<std::string> share(const std::string& number) {
  double value = 0;
  const char* const end = number.data() + number.size();
  if (!number.contains('.') || std::from_chars(number.data(), end, value).ptr != end ||
      value <= 0 || value > 1)
    return std::nullopt;
  return fmt::format("{:.4g}%", value * 100);
}

// In KiB, of "262144B". No mask of adjacent ways ends in the digit b.
std::optional<std::string> of_bytes(const std::string& number, std::string_view word) {
  constexpr uint64_t kib = 1024;
  const auto bytes = parse_unsigned<uint64_t>(number);
  if (!bytes || *bytes == 0 || !is_one_of(word, {"b", "byte", "bytes"})) return std::nullopt;
  return fmt::format("{} KiB", (*bytes - 1) / kib + 1);
}

std::string without_invisible(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view first =
        text.substr(0, std::max<size_t>(1, first_character(text).length));
    if (!is_invisible(first)) out += first;
    text.remove_prefix(first.size());
  }
  return out;
}

// "2 ways" of "2 ways or more", ">= 2 ways" and "at least 2 ways".
std::optional<std::string_view> least_meant(std::string_view text) {
  for (const std::string_view sign : {">=", "at least ", "min ", "minimum "})
    if (text.starts_with(sign)) return trim(text.substr(sign.size()));
  for (const std::string_view sign : {" or more", " and more", "+"})
    if (text.ends_with(sign)) return trim(text.substr(0, text.size() - sign.size()));
  return std::nullopt;
}

// "4 ways" of "at most 4 ways" and "<= 4 ways": every amount is a maximum.
std::optional<std::string_view> most_meant(std::string_view text) {
  for (const std::string_view sign : {"<=", "=<", "\u2264", "<", "at most ", "up to ",
                                      "no more than ", "maximum ", "max ", "limit ", "~", "about "})
    if (text.starts_with(sign)) return trim(text.substr(sign.size()));
  return std::nullopt;
}

// "1.5 GB/s" of "1,5 GB/s". Three digits may be thousands.
std::optional<std::string> with_decimal_point(std::string_view text) {
  constexpr std::string_view digits = "0123456789";
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos || comma == 0 || comma != text.rfind(',') ||
      text.contains('.') || text.find_first_not_of(digits) != comma)
    return std::nullopt;
  const size_t end = std::min(text.find_first_not_of(digits, comma + 1), text.size());
  if (end == text.size() || end == comma + 1 || end > comma + 3) return std::nullopt;
  std::string out(text);
  out[comma] = '.';
  return out;
}

// "1024 GiB" of "1 TiB".
std::string in_smaller_unit(const std::string& number, unsigned factor, std::string_view unit) {
  const auto count = parse_unsigned<uint32_t>(number);
  return count ? fmt::format("{} {}", uint64_t{*count} * factor, unit) : number;
}

// "ways 4-7" of "w4-7" and "bits 4-7", "0xf0" of "mask 0xf0".
std::optional<std::string> named_ways(std::string_view text) {
  const auto is_digit = [&](size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9';
  };
  // "w4" may be a number of ways.
  if (text.starts_with('w') && is_digit(1) && text.contains('-'))
    return fmt::format("ways {}", text.substr(1));
  for (const std::string_view word : {"bits ", "bit "})
    if (text.starts_with(word) && is_digit(word.size()))
      return fmt::format("ways {}", text.substr(word.size()));
  constexpr size_t longest_sign = 3;  // " = "
  for (const std::string_view word : {"mask", "cbm", "bitmask"}) {
    const size_t at = text.find("0x");
    if (text.starts_with(word) && at <= word.size() + longest_sign)
      return std::string(text.substr(at));
  }
  return std::nullopt;
}

std::string cache_candidate(std::string_view text) {
  // Of a range, a group gets the upper end: with "..all" that would be the whole cache.
  if (const auto least = least_meant(text)) return cache_candidate(*least);
  if (const auto most = most_meant(text)) return cache_candidate(*most);
  if (const auto point = with_decimal_point(text)) return cache_candidate(*point);
  if (is_one_of(text, {"max", "maximum", "full", "everything", "unlimited", "any", "*"}))
    return "all";
  if (is_one_of(text, {"rest", "remaining", "remain", "others", "leftover"})) return "remainder";
  if (is_one_of(text, {"min", "minimum", "least"})) return "1 way";
  if (const auto percent = fraction(text)) return *percent;
  if (is_one_of(text, {"shared", "share", "common"})) return "all";
  if (auto mask = of_binary(text)) return *std::move(mask);
  if (const auto count = small_number(text.substr(0, text.find(' '))))
    return cache_candidate(
        fmt::format("{}{}", *count, text.substr(std::min(text.find(' '), text.size()))));
  if (text.starts_with("way ")) {
    std::string ways(trim(text.substr(4)));
    if (const size_t to = ways.find(" to "); to != std::string::npos) ways.replace(to, 4, "-");
    return fmt::format("ways {}", ways);
  }
  if (auto ways = named_ways(text)) return *std::move(ways);
  if (text.starts_with("ways=")) return cache_candidate(trim(text.substr(5)));
  const auto [number, word] = split_quantity(text);
  const bool of_all =
      word.starts_with("ways of ") || (word.starts_with("of ") && word.ends_with(" ways"));
  if (is_one_of(word, {"w", "-way", "-ways"}) || of_all) return cache_candidate(number + " ways");
  if (auto size = of_bytes(number, word)) return *std::move(size);
  if (is_hexadecimal(text)) return fmt::format("0x{}", text);
  if (number.empty()) return std::string(text);
  if (word.starts_with('-')) return fmt::format("ways {}", text);
  if (word.empty()) {
    if (auto percent = share(number)) return *std::move(percent);
    const auto value = parse_unsigned<unsigned>(number);
    return value && *value <= 32 ? fmt::format("{} way{}", number, *value == 1 ? "" : "s")
                                 : fmt::format("{}%", number);
  }
  if (is_one_of(word, {"percent", "pct", "per cent"})) return fmt::format("{}%", number);
  if (is_one_of(word, {"k", "kb", "ki", "kib", "kilobytes", "kibibytes"}))
    return fmt::format("{} KiB", number);
  if (is_one_of(word, {"m", "mb", "mi", "mib", "megabytes", "mebibytes"}))
    return fmt::format("{} MiB", number);
  if (is_one_of(word, {"g", "gb", "gi", "gib"})) return fmt::format("{} GiB", number);
  if (is_one_of(word, {"t", "tb", "ti", "tib"})) return in_smaller_unit(number, 1024, "GiB");
  return std::string(text);
}

bool parses(std::string_view text, bool is_cache) {
  return is_cache ? parse_cache_amount(text).has_value() : parse_bandwidth_amount(text).has_value();
}

// "10%-100%", "10% to 100%": the ends of a range.
std::optional<std::string> range_meant(std::string_view text, bool is_cache) {
  for (const std::string_view sign : {"-", " to ", "\u2013", "...", ":", ","}) {
    const size_t at = text.find(sign);
    if (at == std::string_view::npos || at == 0) continue;
    // "10%,50%": not the comma of a number.
    if (sign == "," && !parses(trim(text.substr(0, at)), is_cache)) continue;
    std::string out =
        fmt::format("{}..{}", trim(text.substr(0, at)), trim(text.substr(at + sign.size())));
    if (parses(out, is_cache)) return out;
  }
  return std::nullopt;
}

// "1 GB/s" of "8 Gbps": a small b is a bit.
std::optional<std::string> of_bits(std::string_view text) {
  const auto [number, word] = split_quantity(text);
  double bits = 0;
  const char* const end = number.data() + number.size();
  if (std::from_chars(number.data(), end, bits).ptr != end || number.empty()) return std::nullopt;
  for (const std::string_view unit : {"Gbps", "Gb/s", "Gbit/s", "Mbps", "Mb/s", "Mbit/s"})
    if (word == unit) {
      const bool whole = unit.front() == 'G' && bits >= 8;
      const double bytes = bits / 8 * (unit.front() == 'G' && !whole ? 1000 : 1);
      return fmt::format("{:g} {}B/s", bytes, whole ? 'G' : 'M');
    }
  return std::nullopt;
}

std::string bandwidth_candidate(std::string_view text) {
  if (const auto least = least_meant(text)) return bandwidth_candidate(*least) + "..unlimited";
  if (const auto most = most_meant(text)) return bandwidth_candidate(*most);
  if (const auto point = with_decimal_point(text)) return bandwidth_candidate(*point);
  if (is_one_of(text, {"max", "maximum", "full", "all", "none", "infinity", "no limit"}))
    return "unlimited";
  if (const auto percent = fraction(text)) return *percent;
  if (is_one_of(text, {"min", "minimum", "lowest", "least"})) return "10%";
  const std::string plain = plain_rate(text);
  if (plain != text) return parse_bandwidth_amount(plain) ? plain : bandwidth_candidate(plain);
  auto [number, word] = split_quantity(text);
  if (number.empty()) return std::string(text);
  if (auto percent = word.empty() ? share(number) : std::nullopt) return *std::move(percent);
  if (is_one_of(word, {"", "percent", "pct", "per cent"})) return fmt::format("{}%", number);
  for (const std::string_view per_second : {"/s", "/sec", "ps"})
    if (word.ends_with(per_second)) word.resize(word.size() - per_second.size());
  if (is_one_of(word, {"k", "kb"})) return fmt::format("{} KB/s", number);
  if (is_one_of(word, {"m", "mb"})) return fmt::format("{} MB/s", number);
  if (is_one_of(word, {"g", "gb"})) return fmt::format("{} GB/s", number);
  if (is_one_of(word, {"t", "tb"})) return in_smaller_unit(number, 1000, "GB/s");
  if (word == "tib" || word == "ti") return in_smaller_unit(number, 1024, "GiB/s");
  if (word == "kib" || word == "ki") return fmt::format("{} KiB/s", number);
  if (word == "mib" || word == "mi") return fmt::format("{} MiB/s", number);
  if (word == "gib" || word == "gi") return fmt::format("{} GiB/s", number);
  return std::string(text);
}

// "5..9 ways" of "5 ways" and "9 ways".
std::string range_of(const std::string& first, const std::string& last) {
  const Quantity one = split_quantity(first), other = split_quantity(last);
  const bool of_ways = (one.word == "way" || one.word == "ways") && other.word == "ways";
  return fmt::format("{}..{}", of_ways ? one.number : first, last);
}

// "5 ways" of "5", as an end of a range has it.
std::string with_unit(std::string_view end, bool is_cache) {
  if (end.empty() || end.find_first_not_of("0123456789.") != std::string_view::npos)
    return std::string(end);
  return fmt::format("{}{}", end, is_cache ? " ways" : "%");
}

}  // namespace

std::optional<std::string> amount_of_ends(std::string_view least, std::string_view most,
                                          bool is_cache) {
  const std::string from = with_unit(trim(least), is_cache), to = with_unit(trim(most), is_cache);
  std::string out = from.empty() ? to : from;
  if (!from.empty() && !to.empty())
    out = range_of(from, to);
  else if (to.empty() && !is_cache)
    out = fmt::format("{}..{}", from, from.ends_with('%') ? "100%" : "unlimited");
  return parses(out, is_cache) ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::string> range_below(std::string_view most, bool is_cache) {
  const std::string to = with_unit(trim(most), is_cache);
  const std::string unit = split_quantity(to).word;
  // The least that there is, in the unit of this end.
  const auto firsts = is_cache ? std::vector<std::string>{"1 way", "1 " + unit, "1" + unit}
                               : std::vector<std::string>{"10%", "1%", "1 " + unit};
  for (const std::string& first : firsts)
    if (std::string range = range_of(first, to); parses(range, is_cache)) return range;
  return std::nullopt;
}

std::optional<std::string> domain_table_meant(std::string_view text, bool is_cache) {
  constexpr size_t longest_line = 256;
  const Guessing guessing;
  if (text.size() > longest_line || !guessing.first()) return std::nullopt;
  // "0:f;1:f" has the colon that "L3:0=f;1=f" has in front in place of each '='.
  const char sign_of_domain = text.contains('=') ? '=' : ':';
  std::string_view values = sign_of_domain == ':' ? text : trim(text.substr(text.find(':') + 1));
  while (values.ends_with(';')) values.remove_suffix(1);
  std::vector<std::string> out;
  std::set<uint32_t> named;  // TOML has each key once
  for (const std::string_view entry : split(values, ';')) {
    const size_t sign = entry.find(sign_of_domain);
    if (sign == std::string_view::npos) return std::nullopt;
    const auto domain = parse_unsigned<uint32_t>(trim(entry.substr(0, sign)));
    const std::string_view value = trim(entry.substr(sign + 1));
    const std::string amount = is_cache
                                   ? fmt::format("{}{}", value.starts_with("0x") ? "" : "0x", value)
                                   : fmt::format("{}%", value);
    if (!domain || !(is_cache ? parse_cache_amount(amount) : parse_bandwidth_amount(amount)))
      return std::nullopt;
    if (!named.insert(*domain).second) return std::nullopt;
    out.push_back(fmt::format("\"{}\" = \"{}\"", *domain, amount));
  }
  return inline_table(out);
}

bool is_amount_of_other(std::string_view text, bool is_cache) {
  const Guessing guessing;
  if (text.size() > longest_slip || !guessing.first()) return false;
  if (is_cache) return text.ends_with("/s") && parse_bandwidth_amount(text);
  return (text.starts_with("0x") || text.contains("way")) && parse_cache_amount(text);
}

std::optional<std::string> two_forms_meant(std::string_view text) {
  const Guessing guessing;
  if (text.size() > 2 * longest_slip || !guessing.first()) return std::nullopt;
  for (const std::string_view sign : {",", ";", " or ", "|", " and "}) {
    const size_t at = text.find(sign);
    if (at == std::string_view::npos) continue;
    const std::string_view one = trim(text.substr(0, at)),
                           other = trim(text.substr(at + sign.size()));
    const auto first = parse_bandwidth_amount(one), second = parse_bandwidth_amount(other);
    if (first && second && first->value.index() != second->value.index())
      return fmt::format("[\"{}\", \"{}\"]", one, other);
  }
  return std::nullopt;
}

std::optional<std::string> part_meant(std::string_view text) {
  const size_t dash = text.find('-');
  if (!text.ends_with('%') || dash == std::string_view::npos) return std::nullopt;
  const auto first = parse_unsigned<unsigned>(trim(text.substr(0, dash))),
             last = parse_unsigned<unsigned>(
                 trim(text.substr(dash + 1, text.size() - dash - std::string_view("-%").size())));
  if (!first || !last || *first > *last || *last == 0 || *last > 100) return std::nullopt;
  return fmt::format("{}%", *last - std::max(*first, 1U) + 1);
}

std::optional<std::string> cache_amount_meant(std::string_view text) {
  const Guessing guessing;
  if (text.size() > longest_slip || !guessing.first()) return std::nullopt;
  // "4-7" is more likely a list of ways.
  if (text.find_first_of("%wWkKmM") != std::string_view::npos)
    if (auto range = range_meant(text, true)) return range;
  std::string candidate = cache_candidate(lower(trim(without_invisible(text))));
  if (candidate == text || !parse_cache_amount(candidate)) return std::nullopt;
  return candidate;
}

std::optional<std::string> bandwidth_amount_meant(std::string_view text) {
  const Guessing guessing;
  if (text.size() > longest_slip || !guessing.first()) return std::nullopt;
  if (auto range = range_meant(text, false)) return range;
  if (auto bytes = of_bits(trim(text))) return bytes;
  std::string candidate = bandwidth_candidate(lower(trim(without_invisible(text))));
  if (candidate == text || !parse_bandwidth_amount(candidate)) return std::nullopt;
  return candidate;
}

std::optional<std::string> instead_of_exclusive(std::string_view text) {
  if (text.size() > 2 * longest_slip) return std::nullopt;
  const std::string small = lower(text);
  for (const std::string word : {"exclusive", "exclusively", "dedicated", "reserved"}) {
    if (small == word)
      return "write exclusive = true in [group.NAME], and here how much, such as \"4 ways\"";
    std::string_view amount;
    if (small.ends_with(" " + word)) amount = trim(text.substr(0, text.size() - word.size()));
    if (small.starts_with(word + " ")) amount = trim(text.substr(word.size()));
    if (amount.ends_with(',')) amount.remove_suffix(1);
    if (!amount.empty() && parse_cache_amount(amount))
      return fmt::format("write \"{}\", and exclusive = true in [group.NAME]", amount);
  }
  return std::nullopt;
}

}  // namespace rdtd
