#include "rdtd/policy/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr size_t longest_excerpt = 120;  // in bytes

// The lines of the policy files. Each file is searched for its line ends once.
class Excerpts {
 public:
  explicit Excerpts(const Sources& sources) : sources_(sources) {}

  [[nodiscard]] std::optional<std::string> line(const Location& where);

 private:
  const Sources& sources_;
  std::map<std::string_view, std::vector<std::string_view>> lines_;
};

std::optional<std::string> Excerpts::line(const Location& where) {
  const auto source = sources_.find(where.file);
  if (source == sources_.end() || where.line == 0) return std::nullopt;
  std::vector<std::string_view>& lines = lines_[source->first];
  if (lines.empty()) lines = split(source->second.text(), '\n');
  if (where.line > lines.size()) return std::nullopt;
  std::string_view line = lines[where.line - 1].substr(0, longest_excerpt);
  while (line.ends_with('\r')) line.remove_suffix(1);
  return printable(line);
}

size_t count_characters(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); count++)
    text.remove_prefix(std::max<size_t>(first_character(text).length, 1));
  return count;
}

std::string format_one(const Diagnostic& diagnostic, Excerpts& excerpts) {
  const Location& where = diagnostic.where;
  std::string place = where.file;
  if (where.line > 0) place += fmt::format(":{}:{}", where.line, where.column);
  if (!place.empty()) place += ": ";
  const std::string_view severity = diagnostic.severity == Severity::error ? "error" : "warning";
  std::string out =
      printable(fmt::format("{}{}: {}", place, severity, with_short_values(diagnostic.message))) +
      '\n';
  const std::string hint = printable(with_short_values(diagnostic.hint));
  const auto line = excerpts.line(where);
  if (line) out += fmt::format("{:>5} | {}\n", where.line, *line);
  const size_t width = line ? count_characters(*line) + 1 : 0;
  if (where.column == 0 || where.column > width) {
    if (!hint.empty()) out += fmt::format("      | {}\n", hint);
    return out;
  }
  const size_t room = std::max<size_t>(width - where.column, 1);
  const size_t tildes = std::min<size_t>(std::max(where.width, 1U), room) - 1;
  out += fmt::format("      | {}^{}{}{}\n", std::string(where.column - 1, ' '),
                     std::string(tildes, '~'), hint.empty() ? "" : " ", hint);
  return out;
}

// With commas between the thousands.
std::string grouped(size_t number) {
  if (number < 1000) return std::to_string(number);
  return fmt::format("{},{:03}", grouped(number / 1000), number % 1000);
}

}  // namespace

bool has_errors(std::span<const Diagnostic> diagnostics) {
  return std::ranges::any_of(diagnostics,
                             [](const Diagnostic& d) { return d.severity == Severity::error; });
}

void sort_by_place(std::vector<Diagnostic>& diagnostics) {
  std::ranges::stable_sort(diagnostics, [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.where, a.message) < std::tie(b.where, b.message);
  });
  const auto repeated = std::ranges::unique(diagnostics);
  diagnostics.erase(repeated.begin(), repeated.end());
}

std::string format_diagnostic(const Diagnostic& diagnostic, const Sources& sources) {
  Excerpts excerpts(sources);
  return format_one(diagnostic, excerpts);
}

std::string format_diagnostics(std::span<const Diagnostic> diagnostics, const Sources& sources) {
  Excerpts excerpts(sources);
  std::string out;
  size_t errors = 0;
  size_t warnings = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    size_t& count = diagnostic.severity == Severity::error ? errors : warnings;
    if (++count <= most_printed) out += format_one(diagnostic, excerpts);
  }
  const auto omitted = [&](size_t count, std::string_view kind) {
    if (count <= most_printed) return;
    const size_t more = count - most_printed;
    out += fmt::format("and {} more {}{}\n", grouped(more), kind, more == 1 ? "" : "s");
  };
  omitted(errors, "error");
  omitted(warnings, "warning");
  return out;
}

}  // namespace rdtd
