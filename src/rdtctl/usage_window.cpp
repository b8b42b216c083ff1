// The window of `top` and `watch`: what it shows, and the keys.
#include <curses.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>

#include "rdtd/base/text.hpp"
#include "usage_view.hpp"

namespace rdtd {

namespace {

constexpr int least_share_width = 6, widest_share_bar = 20;
constexpr int usual_name = 24;  // longer ones make room for bars
constexpr double shortest_interval = 0.1, longest_interval = 3600;

// Between the heading and the keys.
size_t rows_shown() { return static_cast<size_t>(std::max(1, LINES - 4)); }

std::string cell(const std::string& text, int width, bool left) {
  const std::string plain = printable(text);
  return left
             ? fmt::format("{:<{}}", shortened(plain, static_cast<size_t>(width - 1), false), width)
             : fmt::format("{:>{}.{}}", plain, width, width - 1);
}

// Text that does not fit is cut at the window's edge.
void put(int line, int column, const std::string& text) {
  if (line < 0 || line >= LINES || column >= COLS) return;
  (void)mvaddnstr(line, column, text.c_str(), COLS - column);
}

}  // namespace

bool UsageView::open_window() {
  // initscr ends the program where it does not know the terminal.
  if (::newterm(nullptr, stdout, stdin) == nullptr) {
    const char* const terminal = std::getenv("TERM");
    note("rdtctl: the terminal '{}' is not known here: set TERM, or use -b\n",
         terminal == nullptr ? "" : terminal);
    return false;
  }
  (void)cbreak();
  (void)noecho();
  (void)curs_set(0);
  (void)keypad(stdscr, TRUE);
  return true;
}

void UsageView::close_window() { (void)endwin(); }

// False once q was pressed.
bool UsageView::wait_for_key(std::chrono::milliseconds wait) {
  const auto end = std::chrono::steady_clock::now() + wait;
  while (paused_ || std::chrono::steady_clock::now() < end) {
    draw();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          end - std::chrono::steady_clock::now())
                          .count() +
                      1;
    timeout(paused_ ? -1 : static_cast<int>(std::max<int64_t>(left, 0)));
    const int key = getch();
    if (key == 'q' || key == 'Q') return false;
    if (key != ERR) press(key);
  }
  return true;
}

// Until q is pressed.
int UsageView::interactive() {
  if (!open_window()) return Exit::failed;
  if (CacheShares shares(context_, *tree_); shares.any()) shares_ = std::move(shares);
  using clock = std::chrono::steady_clock;
  Result<void> result = refresh();
  auto refreshed = clock::now();
  const auto due = [&] {
    return refreshed + std::chrono::duration_cast<clock::duration>(
                           std::chrono::duration<double>(options_.interval));
  };
  while (result && !is_over()) {
    draw();
    // Nothing is left where drawing took longer than the interval, or where keys came meanwhile.
    const auto left = std::max<int64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(due() - clock::now()).count() + 1, 0);
    timeout(subject_.over && (paused_ || left > glance) ? glance
            : paused_                                   ? -1
                                                        : static_cast<int>(left));
    const int key = getch();
    if (key == 'q' || key == 'Q') break;
    if (key != ERR) press(key);
    if (!paused_ && clock::now() >= due()) {
      result = refresh();
      refreshed = clock::now();
    }
  }
  (void)endwin();
  return result ? Exit::ok : report(result.error());
}

// Between the least and the most of -d.
void UsageView::set_interval(int key) {
  if (key == '+') options_.interval = std::min(options_.interval * 2, longest_interval);
  if (key == '-') options_.interval = std::max(options_.interval / 2, shortest_interval);
}

void UsageView::press(int key) {
  help_ = !help_ && (key == '?' || key == 'h');
  if (key == ' ' || key == 'p') paused_ = !paused_;
  set_interval(key);
  if (key == 'd') options_.domains = !options_.domains;
  if (key == KEY_RESIZE) (void)clear();
  const size_t page = rows_shown();
  if (key == KEY_DOWN) first_++;
  if (key == KEY_UP && first_ > 0) first_--;
  if (key == KEY_NPAGE) first_ += page;
  if (key == KEY_PPAGE) first_ -= std::min(first_, page);
  for (size_t i = 0; i < columns_.size(); i++)
    if (columns_[i].key != 0 && key == columns_[i].key) {
      reverse_ = i == sort_ && !reverse_;
      sort_ = i;
    }
  arrange();
}

// As much as the window holds; curses sees to its size.
void UsageView::draw() {
  (void)erase();
  const size_t shown = rows_shown();
  first_ = std::min(first_, rows_.size() - std::min(rows_.size(), shown));
  int fixed = shares_ ? least_share_width : 0;
  for (const Column& column : columns_) fixed += column.width;
  const int rest = COLS - fixed - 1;
  const int cells = shares_ ? std::clamp(rest - usual_name, 0, widest_share_bar) : 0;
  const int group_width = std::clamp(rest - cells, 8, 40);
  put(0, 0,
      fmt::format("rdtctl {}: {}, {}, {}, by {}{}", subject_.verb, counted(groups(), "group"),
                  options_.domains ? "each domain" : "all domains",
                  tree_ ? fmt::format("every {:g} s", options_.interval) : played_.time,
                  columns_[sort_].name,
                  fmt::format("{}{}", reverse_ ? ", reversed" : "", paused_ ? ", paused" : "")));
  if (help_) return draw_help();
  int left = 0;
  for (size_t i = 0; i < columns_.size(); i++) {
    const int width = columns_[i].width == 0 ? group_width : columns_[i].width;
    (void)attron(i == sort_ ? A_REVERSE : A_BOLD);
    put(2, left, cell(columns_[i].title, width, i == 0));
    (void)attroff(A_REVERSE | A_BOLD);
    for (size_t row = 0; row < shown && first_ + row < rows_.size(); row++)
      put(static_cast<int>(row) + 3, left,
          cell(columns_[i].text(rows_[first_ + row]), width, i == 0));
    left += width;
  }
  if (shares_) draw_shares(left, static_cast<size_t>(cells));
  if (rows_.size() > shown)
    put(1, 0,
        fmt::format("rows {} to {} of {}, the arrows scroll", first_ + 1,
                    std::min(first_ + shown, rows_.size()), rows_.size()));
  put(LINES - 1, 0, "q quit  ? help  space pause  + - interval  d domains  sort: g n t o b l");
  (void)wrefresh(stdscr);
}

// The cache that each row holds, in parts of what its group may fill; bold where that is nearly
// full.
void UsageView::draw_shares(int left, size_t cells) const {
  constexpr double nearly_full = 0.95;
  (void)attron(A_BOLD);
  put(2, left, fmt::format("{:>{}}", "SHARE", cells + least_share_width));
  (void)attroff(A_BOLD);
  for (size_t row = 0; row < rows_shown() && first_ + row < rows_.size(); row++) {
    const Usage& usage = rows_[first_ + row].usage;
    const auto share = shares_->of(usage);
    const auto used = usage.of("llc_occupancy").amount;
    const int line = static_cast<int>(row) + 3;
    if (!share || !used) {
      put(line, left, fmt::format("{:>{}}", "-", cells + least_share_width));
      continue;
    }
    const bool full = *used >= nearly_full * static_cast<double>(*share);
    if (full) (void)attron(A_BOLD);
    // Its signs have several bytes each, and it fits.
    (void)mvaddstr(line, left, (" " + share_text(*used, *share, cells, context_.utf8)).c_str());
    (void)attroff(A_BOLD);
  }
}

void UsageView::draw_help() const {
  static constexpr std::array<const char*, 14> lines = {
      "OCCUPANCY  what the tasks of the group hold in the cache",
      "SHARE      that, in percent of the cache that the group may fill",
      "TOTAL      what they move from and to memory",
      "LOCAL      of that, from and to the memory of their own node",
      "",
      "q          quit",
      "space, p   pause, and go on",
      "+ and -    twice the time between refreshes, and half of it",
      "d          each domain, or their sum",
      "g n t      sort by group, domain or tasks",
      "o b l      sort by occupancy, total or local; again: the other way round",
      "arrows     scroll, as page up and page down do",
      "?, h       this help",
      "any key    back to the table",
  };
  for (size_t i = 0; i < lines.size(); i++) put(static_cast<int>(i) + 2, 0, lines[i]);
  (void)wrefresh(stdscr);
}

size_t UsageView::groups() const {
  std::map<std::string, int> names;
  for (const Row& row : rows_) names[row.usage.group] = 1;
  return names.size();
}

}  // namespace rdtd
