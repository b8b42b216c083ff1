#include "rdtd/policy/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr size_t longest_excerpt = 120;

std::optional<std::string> source_line(const Sources& sources, const Location& where) {
  const auto source = sources.find(where.file);
  if (source == sources.end() || where.line == 0) return std::nullopt;
  std::string_view rest = source->second;
  for (unsigned line = 1; line < where.line; line++) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(end + 1);
  }
  std::string line(rest.substr(0, std::min(rest.find('\n'), longest_excerpt)));
  while (!line.empty() && line.back() == '\r') line.pop_back();
  return printable(line);
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
  const Location& where = diagnostic.where;
  std::string place = where.file;
  if (where.line > 0) place += fmt::format(":{}:{}", where.line, where.column);
  if (!place.empty()) place += ": ";
  const std::string_view severity = diagnostic.severity == Severity::error ? "error" : "warning";
  std::string out = fmt::format("{}{}: {}\n", place, severity, printable(diagnostic.message));
  const std::string hint = printable(diagnostic.hint);
  const auto line = source_line(sources, where);
  if (!line) {
    if (!hint.empty()) out += fmt::format("      | {}\n", hint);
    return out;
  }
  out += fmt::format("{:>5} | {}\n", where.line, *line);
  if (where.column == 0 || where.column > line->size() + 1) return out;
  const size_t room = line->size() + 1 - where.column;
  const size_t tildes = std::min<size_t>(where.width, std::max<size_t>(room, 1)) - 1;
  out += fmt::format("      | {}^{}{}{}\n", std::string(where.column - 1, ' '),
                     std::string(tildes, '~'), hint.empty() ? "" : " ", hint);
  return out;
}

std::string format_diagnostics(std::span<const Diagnostic> diagnostics, const Sources& sources) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) out += format_diagnostic(diagnostic, sources);
  return out;
}

}  // namespace rdtd
