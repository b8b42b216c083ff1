#include "usage_view.hpp"

#include <curses.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>

#include "rdtd/base/text.hpp"
#include "recording_source.hpp"
#include "time_point.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

namespace {

constexpr int glance = 200;  // milliseconds between looks at whether the view is over

constexpr std::array<const char*, 3> usual_counters{"llc_occupancy", "mbm_total_bytes",
                                                    "mbm_local_bytes"};

// The key of a counter's amount in JSON.
std::string json_key(const std::string& counter) {
  if (counter == "llc_occupancy") return "occupancy_bytes";
  if (counter == "mbm_total_bytes") return "total_bytes_per_second";
  if (counter == "mbm_local_bytes") return "local_bytes_per_second";
  return kind_of_counter(counter).cumulative ? counter + "_per_second" : counter;
}

// Between the heading and the keys.
size_t rows_shown() { return static_cast<size_t>(std::max(1, LINES - 4)); }

std::string cell(const std::string& text, int width, bool left) {
  const std::string plain = printable(text);
  return left
             ? fmt::format("{:<{}}", shortened(plain, static_cast<size_t>(width - 1), false), width)
             : fmt::format("{:>{}.{}}", plain, width, width - 1);
}

// What does not fit is cut at the window's edge.
void put(int line, int column, const std::string& text) {
  if (line < 0 || line >= LINES || column >= COLS) return;
  (void)mvaddnstr(line, column, text.c_str(), COLS - column);
}

}  // namespace

bool monitors(const Context& context, const Tree& tree) {
  const auto counted = resctrl::monitoring_directories(tree.filesystem());
  if (counted && !counted->empty()) return true;
  const auto info = tree.filesystem().list("info");
  if (!info && info.error().code != ENOENT) return true;
  note("rdtctl: this machine has no monitoring: no directory of {}/info ends in _MON\n",
       context.resctrl);
  return false;
}

UsageView::UsageView(const Context& context, std::optional<Tree> tree,
                     const verbs::TopOptions& options, Subject subject)
    : context_(context),
      tree_(std::move(tree)),
      options_(options),
      subject_(std::move(subject)),
      columns_(usual_columns()) {
  for (size_t i = 0; i < columns_.size(); i++)
    if (options.sort == columns_[i].name) sort_ = i;
}

bool UsageView::in_window() const {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDIN_FILENO) == 1;
  return terminal && context_.json == Json::off && options_.tables == 0;
}

int UsageView::show() {
  if (in_window()) return interactive();
  const unsigned tables = std::max(options_.tables, 1U);
  int exit = Exit::ok;
  for (unsigned done = 0; done < tables && exit == Exit::ok && !(done > 0 && is_over()); done++) {
    exit = once();
    if (std::fflush(stdout) != 0) return Exit::failed;
    if (tables == UINT_MAX) done = 0;
  }
  return exit;
}

std::vector<std::string> UsageView::column_names() {
  std::vector<std::string> names;
  for (const Column& column : usual_columns()) names.push_back(column.name);
  return names;
}

UsageView::Column UsageView::counter_column(std::string title, std::string name, char key,
                                            int width, const std::string& counter) {
  return {std::move(title),
          std::move(name),
          key,
          width,
          [counter](const Row& row) { return used_text(counter, row.usage.of(counter)); },
          [counter](const Row& a, const Row& b) {
            return a.usage.of(counter).amount > b.usage.of(counter).amount;
          }};
}

std::vector<UsageView::Column> UsageView::usual_columns() {
  return {
      {"GROUP", "group", 'g', 0, [](const Row& row) { return row.usage.group; },
       [](const Row& a, const Row& b) { return a.usage.group < b.usage.group; }},
      {"DOMAIN", "domain", 'n', 8, [](const Row& row) { return domain_text(row.usage); },
       [](const Row& a, const Row& b) { return a.usage.domain < b.usage.domain; }},
      {"TASKS", "tasks", 't', 8,
       [](const Row& row) { return row.tasks ? std::to_string(*row.tasks) : "-"; },
       [](const Row& a, const Row& b) { return a.tasks > b.tasks; }},
      counter_column("OCCUPANCY", "occupancy", 'o', 12, "llc_occupancy"),
      counter_column("TOTAL", "total", 'b', 15, "mbm_total_bytes"),
      counter_column("LOCAL", "local", 'l', 15, "mbm_local_bytes"),
  };
}

// With one for each other counter of the machine, in the order of their names.
std::vector<UsageView::Column> UsageView::columns_for(const std::vector<DomainCounters>& counters) {
  std::vector<Column> out = usual_columns();
  std::set<std::string> others;
  for (const DomainCounters& of : counters) {
    for (const auto& [name, value] : of.counters) others.insert(name);
    out[1].width = std::max(out[1].width, static_cast<int>(of.resource.size()) + 5);
  }
  for (const char* usual : usual_counters) others.erase(usual);
  for (const std::string& name : others) {
    std::string title = name;
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
    const int width = static_cast<int>(std::max<size_t>(12, title.size() + 2));
    out.push_back(counter_column(std::move(title), {}, 0, width, name));
  }
  return out;
}

JsonValue UsageView::to_json(const Row& row) {
  JsonValue out = {{"group", row.usage.group}};
  if (row.tasks) out["tasks"] = *row.tasks;
  if (row.usage.domain) {
    out["resource"] = row.usage.domain->first;
    out["domain"] = static_cast<uint32_t>(row.usage.domain->second);
  }
  for (const auto& [counter, used] : row.usage.counters) {
    if (used.amount && kind_of_counter(counter).cumulative)
      out[json_key(counter)] = *used.amount;
    else if (used.amount)
      out[json_key(counter)] = whole(*used.amount);
    else if (used.reason)
      out["not_counted"][counter] = to_string(*used.reason);
  }
  return out;
}

// Puts each monitoring group below its control group, if that has a row.
void UsageView::nest(std::vector<Row>& rows) {
  using Place = std::pair<std::string_view, std::optional<std::pair<std::string, DomainId>>>;
  const auto place = [](const Row& row) {
    return Place{control_group_of(row.usage.directory), row.usage.domain};
  };
  std::map<Place, std::vector<const Row*>> below;
  std::set<Place> parents;
  for (const Row& row : rows)
    if (!is_mon_group(row.usage.directory)) parents.insert(place(row));
  for (const Row& row : rows)
    if (is_mon_group(row.usage.directory) && parents.contains(place(row)))
      below[place(row)].push_back(&row);
  std::vector<Row> out;
  for (const Row& row : rows) {
    const bool child = is_mon_group(row.usage.directory);
    if (child && parents.contains(place(row))) continue;
    out.push_back(row);
    if (const auto children = below.find(place(row)); !child && children != below.end())
      for (const Row* one : children->second) out.push_back(*one);
  }
  rows = std::move(out);
}

// Rates are those since the last call.
Result<void> UsageView::refresh() {
  const auto groups =
      subject_.groups ? subject_.groups() : Result<std::optional<std::set<std::string>>>();
  if (!groups) return std::unexpected(groups.error());
  auto now = read_usage(*tree_);
  if (!now) return std::unexpected(now.error());
  if (*groups)
    std::erase_if(now->counters,
                  [&](const DomainCounters& of) { return !(*groups)->contains(of.group); });
  take(std::move(*now));
  return {};
}

void UsageView::take(Reading now) {
  before_ = now_.counters.empty() ? now : std::move(now_);
  now_ = std::move(now);
  columns_ = columns_for(now_.counters);
  arrange();
}

int UsageView::once() {
  if (const auto first = refresh(); !first) return report(first.error());
  for (int left = static_cast<int>(options_.interval * 1000); left > 0; left -= glance) {
    if (is_over()) return Exit::ok;
    (void)::poll(nullptr, 0, std::min(left, glance));
  }
  if (const auto second = refresh(); !second) return report(second.error());
  if (rows_.empty() && !subject_.over) {
    note("rdtctl: no group has counters: see 'rdtctl info'\n");
    return Exit::no_resctrl;
  }
  print_rows();
  return Exit::ok;
}

void UsageView::print_rows() {
  std::vector<std::vector<std::string>> rows;
  JsonValue json = JsonValue::array();
  for (const Row& row : rows_) {
    std::vector<std::string> cells;
    for (const Column& column : columns_) cells.push_back(column.text(row));
    rows.push_back(std::move(cells));
    json.push_back(to_json(row));
  }
  std::vector<rdtd::Column> heads;
  for (const Column& column : columns_) heads.push_back({column.title, !heads.empty()});
  if (context_.json != Json::off)
    print_json(context_, {{"interval_seconds", options_.interval}, {"groups", json}});
  else
    print_table(context_, heads, rows);
}

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

// False once q was pressed.
bool UsageView::wait_for_key(std::chrono::milliseconds wait) {
  const auto end = std::chrono::steady_clock::now() + wait;
  while (played_.paused || std::chrono::steady_clock::now() < end) {
    draw();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          end - std::chrono::steady_clock::now())
                          .count() +
                      1;
    timeout(played_.paused ? -1 : static_cast<int>(std::max<int64_t>(left, 0)));
    const int key = getch();
    if (key == 'q' || key == 'Q') return false;
    if (key == ' ') played_.paused = !played_.paused;
    if (key != ERR) press(key);
  }
  return true;
}

void UsageView::play_sample(const observe::Sample& sample) {
  // Not before there is one: until then, errors go to the terminal.
  if (!played_.ended && in_window() && !played_.window)
    played_.ended = !(played_.window = open_window());
  if (played_.ended) return;
  using clock = std::chrono::steady_clock;
  const clock::time_point at{std::chrono::microseconds(sample.monotonic_usec)};
  if (sample.first) now_ = {};  // no rate is across it
  const bool first = now_.counters.empty();
  const auto passed = first ? clock::duration{} : at - now_.at;
  take({at, sample.counters});
  played_.time = time_text(sample.time_usec);
  if (played_.window) {
    const auto most = std::chrono::duration<double>(options_.interval);
    played_.ended = !wait_for_key(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::min<std::chrono::duration<double>>(passed, most)));
    if (played_.ended) (void)endwin();
  } else if (!first) {
    if (context_.json == Json::off) print("{}{}\n", played_.tables > 0 ? "\n" : "", played_.time);
    print_rows();
    played_.ended = ++played_.tables == options_.tables;
  }
}

int UsageView::play(const std::string& file) {
  const auto read = read_samples(
      context_, {.file = file, .since = {}, .until = {}},
      [&](const observe::Header&, const observe::Sample& sample) { play_sample(sample); });
  // The last one stays.
  played_.paused = true;
  if (played_.window && !played_.ended && read) (void)wait_for_key({});
  if (played_.window && !played_.ended) (void)endwin();
  if (!read && played_.window) note("rdtctl: {} cannot be read to its end\n", file);
  if (!read) return read.error();
  if (in_window()) return played_.window ? Exit::ok : Exit::failed;
  if (played_.tables == 0) note("rdtctl: {} has no two samples with counters\n", file);
  return played_.tables == 0 ? Exit::failed : Exit::ok;
}

// Until q is pressed.
int UsageView::interactive() {
  if (!open_window()) return Exit::failed;
  using clock = std::chrono::steady_clock;
  const auto interval =
      std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(options_.interval));
  Result<void> result = refresh();
  auto due = clock::now() + interval;
  while (result && !is_over()) {
    draw();
    // Nothing is left where drawing took longer than the interval, or where keys came meanwhile.
    const auto left = std::max<int64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(due - clock::now()).count() + 1, 0);
    timeout(static_cast<int>(subject_.over ? std::min<int64_t>(left, glance) : left));
    const int key = getch();
    if (key == 'q' || key == 'Q') break;
    if (key != ERR) press(key);
    if (clock::now() >= due) {
      result = refresh();
      due = clock::now() + interval;
    }
  }
  (void)endwin();
  return result ? Exit::ok : report(result.error());
}

void UsageView::arrange() {
  rows_.clear();
  std::map<std::string, std::optional<size_t>> tasks;
  for (Usage& usage :
       usage_between(before_, now_, options_.domains ? Domains::apart : Domains::summed)) {
    if (tree_ && !tasks.contains(usage.group))
      tasks[usage.group] = tree_->read_tasks(usage.directory).value_or(std::vector<pid_t>{}).size();
    const auto count = tasks[usage.group];
    rows_.push_back({std::move(usage), count});
  }
  std::ranges::stable_sort(rows_, columns_[sort_].before);
  if (reverse_) std::ranges::reverse(rows_);
  nest(rows_);
}

void UsageView::press(int key) {
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
  int fixed = 0;
  for (const Column& column : columns_) fixed += column.width;
  const int group_width = std::clamp(COLS - fixed - 1, 8, 40);
  put(0, 0,
      fmt::format("rdtctl {}: {}, {}, {}, by {}{}", subject_.verb, counted(groups(), "group"),
                  options_.domains ? "each domain" : "all domains",
                  tree_ ? fmt::format("every {:g} s", options_.interval)
                        : played_.time + (played_.paused ? ", paused" : ""),
                  columns_[sort_].name, reverse_ ? ", reversed" : ""));
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
  if (rows_.size() > shown)
    put(1, 0,
        fmt::format("rows {} to {} of {}, the arrows scroll", first_ + 1,
                    std::min(first_ + shown, rows_.size()), rows_.size()));
  put(LINES - 1, 0,
      std::string(tree_ ? "" : "space pause  ") +
          "q quit  d domains  sort: g group n domain t tasks o occupancy b total l local");
  (void)wrefresh(stdscr);
}

size_t UsageView::groups() const {
  std::map<std::string, int> names;
  for (const Row& row : rows_) names[row.usage.group] = 1;
  return names.size();
}

}  // namespace rdtd
