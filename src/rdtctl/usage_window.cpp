// The window of `top` and `watch`: what it shows, and the keys.
#include <curses.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>

#include "interruption.hpp"
#include "rdtd/base/text.hpp"
#include "sparkline.hpp"
#include "usage_view.hpp"

namespace rdtd {

namespace {

constexpr int least_share_width = 6, widest_share_bar = 20, usual_bar = 10;
// Names are cut to this many columns before bars are; in a narrow window, to fewer.
constexpr int usual_name = 24, shortest_name = 14, longest_name = 40;
// Room for the last readings.
constexpr int least_window_with_line = 120, shortest_line = 10;
constexpr double shortest_interval = 0.1, longest_interval = 3600;
constexpr short full_color = 1;
constexpr std::chrono::milliseconds until_a_key = std::chrono::hours(1);

std::string cell(const std::string& text, int width, bool left, bool utf8) {
  const std::string plain = printable(text);
  return left ? fmt::format("{:<{}}", shortened(plain, static_cast<size_t>(width - 1), utf8), width)
              : fmt::format("{:>{}.{}}", plain, width, width - 1);
}

// Text that does not fit is cut at the window's edge.
void put(int line, int column, const std::string& text) {
  if (line < 0 || line >= LINES || column >= COLS) return;
  (void)mvaddnstr(line, column, text.c_str(), COLS - column);
}

}  // namespace

// Between the heading and the keys, with a line for the sum.
size_t UsageView::rows_shown() const {
  return static_cast<size_t>(std::max(1, LINES - (total_ ? 5 : 4)));
}

bool UsageView::open_window() {
  // Before curses, which would end the program with 1 at SIGINT and not restore the terminal at
  // SIGQUIT.
  note_interruptions();
  // initscr ends the program where it does not know the terminal.
  SCREEN* const screen = ::newterm(nullptr, stdout, stdin);
  if (screen != nullptr && ::tigetstr("cup") == nullptr) {
    (void)endwin();
    ::delscreen(screen);
    no_window_ = true;
  }
  if (screen == nullptr || no_window_) {
    no_window_ = true;
    const char* const terminal = std::getenv("TERM");
    note("rdtctl: no window on a terminal '{}' (TERM): printing as into a pipe\n",
         terminal == nullptr ? "" : printable(terminal));
    return false;
  }
  (void)cbreak();
  (void)noecho();
  (void)curs_set(0);
  (void)keypad(stdscr, TRUE);
  if (context_.color && has_colors()) {
    (void)start_color();
    (void)use_default_colors();
    colored_ = init_pair(full_color, COLOR_YELLOW, -1) == OK;
  }
  return true;
}

void UsageView::close_window() { (void)endwin(); }

int UsageView::next_key(std::chrono::milliseconds most) const {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + most;
  timeout(0);
  while (true) {
    const int key = getch();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now()).count();
    if (key != ERR || left <= 0 || is_over()) return key;
    // A signal ends this too: of a new size, the next getch() returns KEY_RESIZE.
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, static_cast<int>(std::min<int64_t>(left, glance)));
    if (ready == 1 && input.revents != POLLIN) return 'q';  // the terminal is gone
  }
}

// False once q was pressed, or at a signal.
bool UsageView::wait_for_key(std::chrono::milliseconds wait) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + wait;
  while (paused_ || clock::now() < end) {
    draw();
    const int key = next_key(
        paused_ ? until_a_key : std::chrono::ceil<std::chrono::milliseconds>(end - clock::now()));
    if (key == 'q' || key == 'Q' || interrupted()) return false;
    if (key != ERR) press(key);
  }
  return true;
}

// Until q is pressed.
int UsageView::interactive() {
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
    const int key = next_key(
        paused_ ? until_a_key : std::chrono::ceil<std::chrono::milliseconds>(due() - clock::now()));
    if (key == 'q' || key == 'Q') break;
    if (key != ERR) press(key);
    if (!paused_ && clock::now() >= due()) {
      result = refresh();
      refreshed = clock::now();
    }
  }
  close_window();
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

UsageView::Widths UsageView::widths() const {
  const int share = shares_ ? least_share_width : 0;
  const auto rest = [&](const Widths& widths) {
    int taken = share + 1;
    for (const int width : widths.columns) taken += width;
    return COLS - taken;
  };
  Widths out;
  for (const Column& column : columns_) out.columns.push_back(column.width);
  if (rest(out) < usual_name + (shares_ ? usual_bar : 0))
    for (size_t i = 0; i < columns_.size(); i++) {
      const bool says_nothing = columns_[i].name == "domain" && !options_.domains;
      out.columns[i] = says_nothing ? 0 : columns_[i].least;
    }
  int left = rest(out);
  const int line = left - usual_name - usual_bar - 1;
  if (COLS >= least_window_with_line && line >= shortest_line) {
    out.line = std::min(line, static_cast<int>(RecentReadings::kept));
    left -= out.line + 1;
    for (const Row& row : rows_)
      for (const auto& value : recent_.of(row.usage, static_cast<size_t>(out.line)))
        out.most = std::max(out.most, value.value_or(0));
  }
  if (shares_)
    out.bar = std::clamp(left - usual_name, std::clamp(left - shortest_name, 0, usual_bar),
                         widest_share_bar);
  out.columns.front() = std::clamp(left - out.bar, 8, longest_name);
  return out;
}

// As much as the window holds; curses sees to its size.
void UsageView::draw() {
  (void)erase();
  const size_t shown = rows_shown();
  first_ = std::min(first_, rows_.size() - std::min(rows_.size(), shown));
  put(0, 0,
      fmt::format("rdtctl {}: {}, {}, {}, by {}{}", subject_.verb, counted(groups(), "group"),
                  options_.domains ? "each domain" : "all domains",
                  tree_ ? fmt::format("every {:g} s", options_.interval) : played_.time,
                  columns_[sort_].name,
                  fmt::format("{}{}", reverse_ ? ", reversed" : "", paused_ ? ", paused" : "")));
  if (help_) return draw_help();
  const Widths widths = this->widths();
  draw_heading(widths);
  const size_t end = std::min(rows_.size(), first_ + shown);
  int line = 3;
  for (size_t row = first_; row < end; row++) draw_row(line++, rows_[row], widths);
  if (total_) draw_row(line, *total_, widths);
  if (rows_.size() > shown)
    put(1, 0, fmt::format("rows {} to {} of {}, the arrows scroll", first_ + 1, end, rows_.size()));
  put(LINES - 1, 0, "q quit  ? help  space pause  + - interval  d domains  sort: g n t o b l");
  (void)wrefresh(stdscr);
}

void UsageView::draw_heading(const Widths& widths) const {
  int left = 0;
  for (size_t i = 0; i < columns_.size(); i++) {
    const int width = widths.columns[i];
    (void)attron(i == sort_ ? A_REVERSE : A_BOLD);
    if (width > 0) put(2, left, cell(columns_[i].title, width, i == 0, context_.utf8));
    (void)attroff(A_REVERSE | A_BOLD);
    left += width;
  }
  (void)attron(A_BOLD);
  if (shares_) put(2, left, fmt::format("{:>{}}", "SHARE", widths.bar + least_share_width));
  left += shares_ ? widths.bar + least_share_width : 0;
  const bool traffic = std::string_view(recent_.counter()) == traffic_counter;
  if (widths.line > 0)
    put(2, left + 1,
        fmt::format("{} LAST {}", traffic ? "TOTAL," : "OCCUPANCY,", widths.line)
            .substr(0, static_cast<size_t>(widths.line)));
  (void)attroff(A_BOLD);
}

// The sum, and the name of a group that fills its share, stand out.
void UsageView::draw_row(int line, const Row& row, const Widths& widths) const {
  const bool is_sum = is_total(row);
  const auto style = is_full(row) ? A_BOLD | (colored_ ? COLOR_PAIR(full_color) : 0)
                     : is_sum     ? A_BOLD
                                  : A_NORMAL;
  int left = 0;
  for (size_t i = 0; i < columns_.size(); i++) {
    const int width = widths.columns[i];
    const bool is_name = i == 0;
    if (is_name || is_sum) (void)attron(style);
    if (width > 0) put(line, left, cell(columns_[i].text(row), width, is_name, context_.utf8));
    (void)attrset(A_NORMAL);
    left += width;
  }
  (void)attron(style);
  if (shares_) draw_share(line, left, row, widths.bar);
  (void)attrset(A_NORMAL);
  left += shares_ ? widths.bar + least_share_width : 0;
  if (widths.line == 0 || is_sum) return;
  const auto readings = recent_.of(row.usage, static_cast<size_t>(widths.line));
  (void)mvaddstr(line, left + 1, sparkline(readings, widths.most, context_.utf8).c_str());
}

bool UsageView::is_full(const Row& row) const {
  constexpr double nearly_full = 0.95;
  const auto share = share_of(row);
  const auto used = row.usage.of(occupancy_counter).amount;
  return !is_total(row) && share && used && *used > nearly_full * static_cast<double>(*share);
}

// The cache that the row holds, in parts of what its group may fill.
void UsageView::draw_share(int line, int left, const Row& row, int bar) const {
  const auto share = share_of(row);
  const auto used = row.usage.of(occupancy_counter).amount;
  if (!share || !used) return put(line, left, fmt::format("{:>{}}", "-", bar + least_share_width));
  // Its signs have several bytes each, and it fits.
  (void)mvaddstr(
      line, left,
      (" " + share_text(*used, *share, static_cast<size_t>(bar), context_.utf8)).c_str());
}

void UsageView::draw_help() const {
  static constexpr std::array<const char*, 15> lines = {
      "OCCUPANCY  what the tasks of the group hold in the cache",
      "SHARE      that, in percent of what the group may fill; in total, of the cache",
      "TOTAL      what they move from and to memory",
      "LOCAL      of that, from and to the memory of their own node",
      "LAST       the last readings, where the window has 120 columns",
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
