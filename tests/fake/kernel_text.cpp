#include "fake/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <vector>

#include "rdtd/base/text.hpp"

namespace rdtd::fake {

namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool ends_region(char c) { return is_space(c) || c == ',' || c == '\0'; }

// Reads a text character by character; beyond its end there are NULs.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view word) {
    const std::string_view next = text_.substr(at_, word.size());
    const auto same = [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == b;
    };
    if (!std::ranges::equal(next, word, same)) return false;
    at_ += word.size();
    return true;
  }
  void skip_separators() {
    while (peek() != '\0' && ends_region(peek())) at_++;
  }
  // 'N' is the last CPU.
  std::expected<unsigned, int> number(unsigned last) {
    if (peek() == 'N') return at_++, last;
    const size_t begin = at_;
    while (std::isdigit(static_cast<unsigned char>(peek()))) at_++;
    if (at_ == begin) return std::unexpected(EINVAL);
    const auto value = parse_unsigned<uint64_t>(text_.substr(begin, at_ - begin));
    if (!value || *value > INT_MAX) return std::unexpected(EOVERFLOW);
    return static_cast<unsigned>(*value);
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// CPUs first ... last, of which `used` of each `length` are meant.
struct Span {
  unsigned first = 0, last = 0, used = 0, length = 0;
};

std::expected<Span, int> parse_span(Cursor& text, unsigned last_cpu) {
  Span span;
  if (text.take("all")) {
    span.last = last_cpu;
  } else {
    const auto first = text.number(last_cpu);
    if (!first) return std::unexpected(first.error());
    span.first = span.last = *first;
    if (!ends_region(text.peek())) {
      if (!text.take("-")) return std::unexpected(EINVAL);
      const auto last = text.number(last_cpu);
      if (!last) return std::unexpected(last.error());
      span.last = *last;
    }
  }
  span.used = span.length = span.last + 1;
  if (ends_region(text.peek())) return span;
  if (!text.take(":")) return std::unexpected(EINVAL);
  const auto used = text.number(last_cpu);
  if (!used) return std::unexpected(used.error());
  if (!text.take("/")) return std::unexpected(EINVAL);
  const auto length = text.number(last_cpu);
  if (!length) return std::unexpected(length.error());
  span.used = *used;
  span.length = *length;
  return span;
}

}  // namespace

std::string_view strim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<uint64_t> parse_number(std::string_view text, int base) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  const bool prefix =
      text.size() > 1 && text[0] == '0' && std::tolower(static_cast<unsigned char>(text[1])) == 'x';
  const bool digit = text.size() > 2 && std::isxdigit(static_cast<unsigned char>(text[2]));
  if (base == 0) base = prefix && digit ? 16 : text.starts_with('0') ? 8 : 10;
  if (base == 16 && prefix) text.remove_prefix(2);
  return parse_unsigned<uint64_t>(text, base);
}

std::optional<int> parse_int(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) {
    text.remove_prefix(1);
    if (text.starts_with('+')) return std::nullopt;
  }
  const auto value = parse_number(text, 0);
  if (!value || *value > static_cast<uint64_t>(INT_MAX)) return std::nullopt;
  return negative ? -static_cast<int>(*value) : static_cast<int>(*value);
}

std::expected<CpuSet, int> parse_cpulist(std::string_view text, unsigned count) {
  CpuSet cpus;
  Cursor cursor(text);
  while (true) {
    cursor.skip_separators();
    if (cursor.peek() == '\0') return cpus;
    const auto span = parse_span(cursor, count - 1);
    if (!span) return std::unexpected(span.error());
    if (span->first > span->last || span->length == 0 || span->used > span->length)
      return std::unexpected(EINVAL);
    if (span->last >= count) return std::unexpected(ERANGE);
    for (unsigned cpu = span->first; cpu <= span->last; cpu++)
      if ((cpu - span->first) % span->length < span->used) cpus.insert(cpu);
    if (!ends_region(cursor.peek())) return std::unexpected(EINVAL);
  }
}

std::expected<CpuSet, int> parse_cpumask(std::string_view text, unsigned count) {
  CpuSet cpus;
  text = text.substr(0, text.find('\n'));
  unsigned first = 0;
  while (true) {
    while (!text.empty() && ends_region(text.back())) text.remove_suffix(1);
    if (text.empty()) break;
    if (first >= count) return std::unexpected(EOVERFLOW);
    size_t begin = text.size();
    while (begin > 0 && !ends_region(text[begin - 1])) begin--;
    const std::string_view word = text.substr(begin);
    if (!std::ranges::all_of(word, [](unsigned char c) { return std::isxdigit(c) != 0; }))
      return std::unexpected(EINVAL);
    if (word.size() > 8) return std::unexpected(EOVERFLOW);
    const uint32_t bits = *parse_unsigned<uint32_t>(word, 16);
    for (unsigned bit = 0; bit < 32; bit++)
      if ((bits >> bit & 1U) != 0) cpus.insert(first + bit);
    text = text.substr(0, begin);
    first += 32;
  }
  if (!cpus.empty() && *cpus.rbegin() >= count) return std::unexpected(EOVERFLOW);
  return cpus;
}

std::string format_cpumask(const CpuSet& cpus, unsigned count) {
  std::vector<uint32_t> words((count + 31) / 32);
  for (const unsigned cpu : cpus) words[cpu / 32] |= 1U << cpu % 32;
  std::string out;
  for (size_t i = words.size(); i > 0; i--) {
    const size_t bits = i == words.size() && count % 32 != 0 ? count % 32 : 32;
    out += fmt::format("{}{:0{}x}", out.empty() ? "" : ",", words[i - 1], (bits + 3) / 4);
  }
  return out;
}

}  // namespace rdtd::fake
