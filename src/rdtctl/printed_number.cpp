#include "printed_number.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd {

namespace {

// Whether a number goes on: "1,234", "1.2M".
bool goes_on(std::string_view rest) {
  const auto is = [&](size_t at, auto kind) {
    return rest.size() > at && kind(static_cast<unsigned char>(rest[at])) != 0;
  };
  if (rest.starts_with(',')) return is(1, [](int c) { return std::isdigit(c); });
  return !rest.empty() && std::string_view("kKMGT").contains(rest[0]) &&
         !is(1, [](int c) { return std::isalpha(c); });
}

}  // namespace

std::expected<double, std::string> printed_number(const std::string& output,
                                                  const std::regex& expression) {
  constexpr size_t longest_line = 8192;
  std::smatch match;
  std::string line;
  for (std::istringstream lines(output); std::getline(lines, line);)
    if (line.size() <= longest_line && std::regex_search(line, match, expression)) break;
  if (match.empty()) return std::unexpected("");
  const size_t group = match.size() > 1 ? 1 : 0;
  if (!match[group].matched) return std::unexpected("");
  // The text that follows in the line may be a part of the number.
  const std::string text(match[group].first, line.cend());
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const auto length = static_cast<size_t>(end - text.c_str());
  const auto matched = static_cast<size_t>(match[group].length());
  if (length == 0 || !std::isfinite(value)) return std::unexpected(match[group].str());
  if (goes_on(std::string_view(text).substr(std::min(length, matched))))
    return std::unexpected(text.substr(0, text.find(' ')));
  return std::strtod(match[group].str().c_str(), nullptr);
}

namespace {

// The first character of a child's result. A child that throws writes nothing.
constexpr char is_number = 'n', is_none = 'e';

[[noreturn]] void write_number(int pipe, const std::string& output, const std::regex& expression) {
  std::string text;
  try {
    const auto found = printed_number(output, expression);
    text = found ? fmt::format("{}{}", is_number, *found) : is_none + found.error();
  } catch (...) {  // nothing of this process may go on in the parent's place
    text.clear();
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(pipe, rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<size_t>(written));
  }
  ::_exit(0);
}

}  // namespace

std::expected<double, std::string> printed_number_within(unsigned seconds,
                                                         const std::string& output,
                                                         const std::regex& expression) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return printed_number(output, expression);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return printed_number(output, expression);
  if (child == 0) {
    sigset_t alarm_only;
    (void)::sigemptyset(&alarm_only);
    (void)::sigaddset(&alarm_only, SIGALRM);
    (void)::sigprocmask(SIG_UNBLOCK, &alarm_only, nullptr);
    (void)::signal(SIGALRM, SIG_DFL);
    (void)::alarm(seconds);
    write_number(writer.get(), output, expression);
  }
  writer = UniqueFd();
  const std::string text = read_all(reader.get(), "a pipe").value_or("");
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
  if (text.empty()) throw std::regex_error(std::regex_constants::error_complexity);
  if (text.front() == is_none) return std::unexpected(text.substr(1));
  return std::strtod(text.c_str() + 1, nullptr);
}

}  // namespace rdtd
