#include "progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>

#include <algorithm>

#include "output.hpp"
#include "print.hpp"

namespace rdtd {

namespace {

// Asked each time, as people change the size of their window.
size_t terminal_columns(int terminal) {
  constexpr size_t usual = 80, least = 20;
  winsize size{};
  if (::ioctl(terminal, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
  return std::max<size_t>(size.ws_col, least);
}

}  // namespace

std::string joined_within(const std::vector<std::string>& parts, size_t columns) {
  static constexpr std::string_view more = ", ...";
  const std::string all = fmt::format("{}", fmt::join(parts, ", "));
  if (all.size() <= columns) return all;
  std::string out;
  for (const std::string& part : parts) {
    const std::string next = out.empty() ? part : out + ", " + part;
    if (next.size() + more.size() > columns) break;
    out = next;
  }
  return out.empty() ? "" : out + std::string(more);
}

std::string ended_early(bool interrupted, size_t rounds, size_t wanted) {
  return fmt::format("{}: {} of {} rounds were measured.",
                     interrupted ? "Interrupted" : "A run failed", rounds, wanted);
}

void Progress::show(const std::string& condition) {
  std::string line =
      fmt::format("{}run {} of {}, {}{}", step_, done_ + 1, runs_, condition, remaining());
  ++done_;
  if (!terminal_) return;
  // A line that the terminal breaks cannot be overwritten.
  const size_t columns = terminal_columns(STDERR_FILENO) - 1;
  if (line.size() + 2 < columns)
    if (const std::string medians = joined_within(medians_, columns - line.size() - 2);
        !medians.empty())
      line += "; " + medians;
  note("\r{}\033[K", shortened(line, columns, false));
}

void Progress::clear() const {
  if (terminal_) note("\r\033[K");
}

void Progress::expect_more(size_t runs) {
  runs_ = done_ + runs;
  long_ = seconds_left() >= of_long_;
  if (!terminal_ && long_) note("{}{} runs{}\n", step_, runs, remaining());
}

void Progress::end_round(size_t round, size_t rounds, std::vector<std::string> medians) {
  medians_ = std::move(medians);
  if (terminal_ || !long_) return;
  note("{}round {} of {}: {}{}\n", step_, round, rounds,
       fmt::format("{}", fmt::join(medians_, ", ")), round < rounds ? remaining() : "");
}

double Progress::seconds_left() const {
  if (done_ == 0) return 0;
  return seconds_since(began_) * static_cast<double>(runs_ - done_) / static_cast<double>(done_);
}

std::string Progress::remaining() const {
  if (done_ == 0) return "";
  const double seconds = seconds_left();
  return seconds < 100 ? fmt::format("; {:.0f} s left", seconds)
                       : fmt::format("; {:.0f} min left", seconds / 60);
}

}  // namespace rdtd
