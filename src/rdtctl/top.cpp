// top: what the groups use, refreshed. On something that is no terminal, and with --json, one table
// and the end.
#include <curses.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <thread>

#include "output.hpp"
#include "usage.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

struct Row {
  Usage usage;
  size_t tasks = 0;
};

// A column, the key that sorts by it, and the order of two rows, largest first but for names.
struct TopColumn {
  const char* title;
  const char* name;
  char key;
  int width;  // 0: what is left
  std::string (*text)(const Row&);
  bool (*before)(const Row&, const Row&);
};

constexpr std::array columns = {
    TopColumn{"GROUP", "group", 'g', 0, [](const Row& row) { return row.usage.group; },
              [](const Row& a, const Row& b) { return a.usage.group < b.usage.group; }},
    TopColumn{"DOMAIN", "domain", 'n', 8,
              [](const Row& row) {
                return row.usage.domain ? to_string(*row.usage.domain) : std::string("all");
              },
              [](const Row& a, const Row& b) { return a.usage.domain < b.usage.domain; }},
    TopColumn{"TASKS", "tasks", 't', 8, [](const Row& row) { return std::to_string(row.tasks); },
              [](const Row& a, const Row& b) { return a.tasks > b.tasks; }},
    TopColumn{"OCCUPANCY", "occupancy", 'o', 12,
              [](const Row& row) { return occupancy_text(row.usage.occupancy); },
              [](const Row& a, const Row& b) { return a.usage.occupancy > b.usage.occupancy; }},
    TopColumn{"TOTAL", "total", 'b', 15, [](const Row& row) { return rate_text(row.usage.total); },
              [](const Row& a, const Row& b) { return a.usage.total > b.usage.total; }},
    TopColumn{"LOCAL", "local", 'l', 15, [](const Row& row) { return rate_text(row.usage.local); },
              [](const Row& a, const Row& b) { return a.usage.local > b.usage.local; }},
};

class Top {
 public:
  Top(const Context& context, Tree tree, const verbs::TopOptions& options)
      : context_(context), tree_(std::move(tree)), options_(options) {
    for (size_t i = 0; i < columns.size(); i++)
      if (options.sort == columns.at(i).name) sort_ = i;
  }

  // Rates are those since the last call.
  [[nodiscard]] Result<void> refresh() {
    auto now = read_usage(tree_);
    if (!now) return std::unexpected(now.error());
    before_ = now_.counters.empty() ? *now : std::move(now_);
    now_ = std::move(*now);
    arrange();
    return {};
  }

  [[nodiscard]] int once() {
    if (const auto first = refresh(); !first) return report(first.error());
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.interval));
    if (const auto second = refresh(); !second) return report(second.error());
    std::vector<std::vector<std::string>> rows;
    JsonValue json = JsonValue::array();
    for (const Row& row : rows_) {
      std::vector<std::string> cells;
      for (const TopColumn& column : columns) cells.push_back(column.text(row));
      rows.push_back(std::move(cells));
      JsonValue entry = {{"group", row.usage.group}, {"tasks", row.tasks}};
      if (row.usage.domain) entry["domain"] = static_cast<uint32_t>(*row.usage.domain);
      if (row.usage.occupancy) entry["occupancy_bytes"] = *row.usage.occupancy;
      if (row.usage.total) entry["total_bytes_per_second"] = *row.usage.total;
      if (row.usage.local) entry["local_bytes_per_second"] = *row.usage.local;
      json.push_back(std::move(entry));
    }
    if (context_.json != Json::off)
      print_json(context_, {{"interval_seconds", options_.interval}, {"groups", json}});
    else
      print_table(context_,
                  {{"GROUP"},
                   {"DOMAIN", true},
                   {"TASKS", true},
                   {"OCCUPANCY", true},
                   {"TOTAL", true},
                   {"LOCAL", true}},
                  rows);
    return Exit::ok;
  }

  // Until q is pressed.
  [[nodiscard]] int interactive() {
    if (::initscr() == nullptr) return Exit::failed;
    (void)cbreak();
    (void)noecho();
    (void)curs_set(0);
    (void)keypad(stdscr, TRUE);
    using clock = std::chrono::steady_clock;
    const auto interval = std::chrono::duration_cast<clock::duration>(
        std::chrono::duration<double>(options_.interval));
    Result<void> result = refresh();
    auto due = clock::now() + interval;
    while (result) {
      draw();
      timeout(static_cast<int>(std::max<int64_t>(
          0,
          std::chrono::duration_cast<std::chrono::milliseconds>(due - clock::now()).count() + 1)));
      const int key = getch();
      if (key == 'q' || key == 'Q') break;
      if (key != ERR) {
        press(key);
      } else if (clock::now() >= due) {
        result = refresh();
        due = clock::now() + interval;
      }
    }
    (void)endwin();
    return result ? Exit::ok : report(result.error());
  }

 private:
  void arrange() {
    rows_.clear();
    std::map<std::string, size_t> tasks;
    for (Usage& usage :
         usage_between(before_, now_, options_.domains ? Domains::apart : Domains::summed)) {
      if (!tasks.contains(usage.group))
        tasks[usage.group] =
            tree_.read_tasks(usage.directory).value_or(std::vector<pid_t>{}).size();
      const size_t count = tasks[usage.group];
      rows_.push_back({std::move(usage), count});
    }
    std::ranges::stable_sort(rows_, columns.at(sort_).before);
    if (reverse_) std::ranges::reverse(rows_);
  }

  void press(int key) {
    if (key == 'd') options_.domains = !options_.domains;
    if (key == KEY_RESIZE) (void)clear();
    const size_t page = rows_shown();
    if (key == KEY_DOWN) first_++;
    if (key == KEY_UP && first_ > 0) first_--;
    if (key == KEY_NPAGE) first_ += page;
    if (key == KEY_PPAGE) first_ -= std::min(first_, page);
    for (size_t i = 0; i < columns.size(); i++)
      if (key == columns.at(i).key) {
        reverse_ = i == sort_ && !reverse_;
        sort_ = i;
      }
    arrange();
  }

  // As much as the window holds; curses sees to its size.
  void draw() {
    (void)erase();
    const size_t shown = rows_shown();
    first_ = std::min(first_, rows_.size() - std::min(rows_.size(), shown));
    int fixed = 0;
    for (const TopColumn& column : columns) fixed += column.width;
    const int group_width = std::clamp(COLS - fixed - 1, 8, 40);
    put(0, 0,
        fmt::format("rdtctl top: {} groups, {}, every {:g} s, by {}{}", groups(),
                    options_.domains ? "each domain" : "all domains", options_.interval,
                    columns.at(sort_).name, reverse_ ? ", reversed" : ""));
    int left = 0;
    for (size_t i = 0; i < columns.size(); i++) {
      const int width = columns.at(i).width == 0 ? group_width : columns.at(i).width;
      (void)attron(i == sort_ ? A_REVERSE : A_BOLD);
      put(2, left, cell(columns.at(i).title, width, i == 0));
      (void)attroff(A_REVERSE | A_BOLD);
      for (size_t row = 0; row < shown && first_ + row < rows_.size(); row++)
        put(static_cast<int>(row) + 3, left,
            cell(columns.at(i).text(rows_[first_ + row]), width, i == 0));
      left += width;
    }
    if (rows_.size() > shown)
      put(1, 0,
          fmt::format("rows {} to {} of {}, the arrows scroll", first_ + 1,
                      std::min(first_ + shown, rows_.size()), rows_.size()));
    put(LINES - 1, 0,
        "q quit  d domains  sort: g group n domain t tasks o occupancy b total l local");
    (void)wrefresh(stdscr);
  }

  // Between the heading and the keys.
  [[nodiscard]] static size_t rows_shown() { return static_cast<size_t>(std::max(1, LINES - 4)); }

  [[nodiscard]] size_t groups() const {
    std::map<std::string, int> names;
    for (const Row& row : rows_) names[row.usage.group] = 1;
    return names.size();
  }

  [[nodiscard]] static std::string cell(const std::string& text, int width, bool left) {
    const std::string plain = printable(text);
    return left ? fmt::format("{:<{}.{}}", plain, width, width - 1)
                : fmt::format("{:>{}.{}}", plain, width, width - 1);
  }

  // What does not fit is cut at the window's edge.
  static void put(int line, int column, const std::string& text) {
    if (line < 0 || line >= LINES || column >= COLS) return;
    (void)mvaddnstr(line, column, text.c_str(), COLS - column);
  }

  const Context& context_;
  Tree tree_;
  verbs::TopOptions options_;
  size_t sort_ = 0;
  bool reverse_ = false;
  size_t first_ = 0;  // row in the window
  Reading before_, now_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<std::string> verbs::top_columns() {
  std::vector<std::string> names;
  for (const TopColumn& column : columns) names.emplace_back(column.name);
  return names;
}

int verbs::top(const Context& context, const TopOptions& options) {
  auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  const auto counters = tree->read_counters();
  if (!counters) return report(counters.error());
  if (counters->empty()) {
    note("rdtctl: this machine has no monitoring: {}/info/L3_MON is missing\n", context.resctrl);
    return Exit::no_resctrl;
  }
  Top view(context, std::move(*tree), options);
  return context.json != Json::off || ::isatty(STDOUT_FILENO) == 0 || ::isatty(STDIN_FILENO) == 0
             ? view.once()
             : view.interactive();
}

}  // namespace rdtd
