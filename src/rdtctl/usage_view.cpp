#include "usage_view.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <map>

#include "interruption.hpp"
#include "rdtd/base/text.hpp"
#include "recording_source.hpp"
#include "time_point.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd {

namespace {

constexpr std::array<const char*, 3> usual_counters{"llc_occupancy", "mbm_total_bytes",
                                                    "mbm_local_bytes"};

// The key of a counter's amount in JSON.
std::string json_key(const std::string& counter) {
  if (counter == "llc_occupancy") return "occupancy_bytes";
  if (counter == "mbm_total_bytes") return "total_bytes_per_second";
  if (counter == "mbm_local_bytes") return "local_bytes_per_second";
  return kind_of_counter(counter).cumulative ? counter + "_per_second" : counter;
}

// A machine at rest is a table of zeros, in which one that is none stands out.
std::string cell_text(const std::string& counter, const Used& used) {
  std::string text = used_text(counter, used);
  const bool is_zero = used.amount && kind_of_counter(counter).cumulative &&
                       text.find_first_not_of("0.") == text.find_first_of(" /");
  return is_zero ? (used.missing ? "0+" : "0") : text;
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
  return terminal && !no_window_ && context_.json == Json::off && options_.tables == 0;
}

int UsageView::show() {
  if (CacheShares shares(context_, *tree_); shares.any()) shares_ = std::move(shares);
  return status_after(in_window() && open_window() ? interactive() : print_tables());
}

int UsageView::print_tables() {
  const unsigned tables = std::max(options_.tables, 1U);
  int exit = Exit::ok;
  for (unsigned done = 0; done < tables && exit == Exit::ok && !(done > 0 && is_over()); done++) {
    exit = once();
    if (std::fflush(stdout) != 0) return Exit::failed;
    if (tables == UINT_MAX) done = 0;
  }
  return exit;
}

bool UsageView::is_over() const { return interrupted() || (subject_.over && subject_.over()); }

std::vector<std::string> UsageView::column_names() {
  std::vector<std::string> names;
  for (const Column& column : usual_columns()) names.push_back(column.name);
  return names;
}

UsageView::Column UsageView::counter_column(std::string title, std::string name, char key,
                                            int width, int least, const std::string& counter) {
  return {std::move(title),
          std::move(name),
          key,
          width,
          least,
          [counter](const Row& row) { return cell_text(counter, row.usage.of(counter)); },
          [counter](const Row& a, const Row& b) {
            return a.usage.of(counter).amount > b.usage.of(counter).amount;
          }};
}

std::vector<UsageView::Column> UsageView::usual_columns() {
  return {
      {"GROUP", "group", 'g', 0, 0, [](const Row& row) { return row.usage.group; },
       [](const Row& a, const Row& b) { return a.usage.group < b.usage.group; }},
      {"DOMAIN", "domain", 'n', 8, 7, [](const Row& row) { return domain_text(row.usage); },
       [](const Row& a, const Row& b) { return a.usage.domain < b.usage.domain; }},
      {"TASKS", "tasks", 't', 8, 6,
       [](const Row& row) { return row.tasks ? std::to_string(*row.tasks) : "-"; },
       [](const Row& a, const Row& b) { return a.tasks > b.tasks; }},
      counter_column("OCCUPANCY", "occupancy", 'o', 12, 12, "llc_occupancy"),
      counter_column("TOTAL", "total", 'b', 15, 14, "mbm_total_bytes"),
      counter_column("LOCAL", "local", 'l', 15, 14, "mbm_local_bytes"),
  };
}

// With one for each other counter of the machine, in the order of their names.
std::vector<UsageView::Column> UsageView::columns_for(const std::vector<DomainCounters>& counters) {
  std::vector<Column> out = usual_columns();
  std::set<std::string> others;
  for (const DomainCounters& of : counters) {
    for (const auto& [name, value] : of.counters) others.insert(name);
    // "L3" is not named.
    const int resource = of.resource == "L3" ? 0 : static_cast<int>(of.resource.size()) + 5;
    out[1].width = std::max(out[1].width, resource);
    out[1].least = std::max(out[1].least, resource);
  }
  for (const char* usual : usual_counters) others.erase(usual);
  for (const std::string& name : others) {
    std::string title = name;
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
    const int width = static_cast<int>(std::max<size_t>(12, title.size() + 2));
    out.push_back(counter_column(std::move(title), {}, 0, width, width, name));
  }
  return out;
}

JsonValue UsageView::to_json(const Row& row) {
  JsonValue out = {{"group", group_label(row.usage.directory)}};
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
    if (used.reason) out["not_counted"][counter] = to_string(*used.reason);
    if (used.amount && used.missing) out["partial"].push_back(counter);
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
  if (shares_) shares_->read(*tree_, now->counters);
  take(std::move(*now));
  return {};
}

void UsageView::take(Reading now) {
  before_ = now_.counters.empty() ? now : std::move(now_);
  now_ = std::move(now);
  columns_ = columns_for(now_.counters);
  if (in_window()) {
    auto rows = usage_between(before_, now_, Domains::summed);
    std::ranges::move(usage_between(before_, now_, Domains::apart), std::back_inserter(rows));
    recent_.add(rows);
  }
  arrange();
}

int UsageView::once() {
  if (const auto first = refresh(); !first) return report(first.error());
  if (rows_.empty() && !subject_.over) {
    note("rdtctl: no group has counters: {}\n", context_.snapshot_given
                                                    ? "they are not in a copy of resctrl"
                                                    : "'rdtctl doctor' says what the machine has");
    return Exit::no_resctrl;
  }
  for (int left = static_cast<int>(options_.interval * 1000); left > 0; left -= glance) {
    if (is_over()) return Exit::ok;
    (void)::poll(nullptr, 0, std::min(left, glance));
  }
  if (const auto second = refresh(); !second) return report(second.error());
  print_rows();
  return Exit::ok;
}

bool UsageView::is_total(const Row& row) const { return total_ && &row == &*total_; }

std::optional<uint64_t> UsageView::share_of(const Row& row) const {
  if (!shares_) return std::nullopt;
  return is_total(row) ? shares_->whole() : shares_->of(row.usage);
}

std::string UsageView::share_cell(const Row& row) const {
  const auto share = share_of(row);
  const auto used = row.usage.of(occupancy_counter).amount;
  return share && used ? std::string(trim(share_text(*used, *share, 0, context_.utf8))) : "-";
}

void UsageView::print_rows() {
  std::vector<std::vector<std::string>> rows;
  JsonValue json = JsonValue::array();
  for (const Row& row : rows_) {
    std::vector<std::string> cells;
    for (const Column& column : columns_) cells.push_back(column.text(row));
    if (shares_) cells.push_back(share_cell(row));
    rows.push_back(std::move(cells));
    json.push_back(to_json(row));
  }
  std::vector<rdtd::Column> heads;
  for (const Column& column : columns_) heads.push_back({column.title, !heads.empty()});
  if (shares_) heads.push_back({"SHARE", true});
  if (context_.json != Json::off && tree_)
    print_json(context_, {{"interval_seconds", options_.interval}, {"groups", json}});
  else if (context_.json != Json::off)
    print_json(context_, {{"time_usec", played_.time_usec},
                          {"interval_seconds", played_.seconds},
                          {"groups", json}});
  else
    print_table(context_, heads, rows);
}

void UsageView::play_sample(const observe::Sample& sample) {
  // In a window, wait_for_key() ends it.
  if (interrupted() && !played_.window) played_.ended = true;
  // Not before there is one: until then, errors go to the terminal.
  if (!played_.ended && in_window() && !played_.window) played_.window = open_window();
  if (played_.ended) return;
  using clock = std::chrono::steady_clock;
  const clock::time_point at{std::chrono::microseconds(sample.monotonic_usec)};
  if (sample.first) now_ = {};  // no rate is across it
  const bool first = now_.counters.empty();
  const auto passed = first ? clock::duration{} : at - now_.at;
  take({at, sample.counters});
  played_.time = time_text(sample.time_usec);
  played_.time_usec = sample.time_usec;
  played_.seconds = std::chrono::duration<double>(passed).count();
  if (played_.window) {
    const auto most = std::chrono::duration<double>(options_.interval);
    played_.ended = !wait_for_key(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::min<std::chrono::duration<double>>(passed, most)));
    if (played_.ended) close_window();
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
  paused_ = true;
  if (played_.window && !played_.ended && read) (void)wait_for_key({});
  if (played_.window && !played_.ended) close_window();
  if (!read && played_.window) note("rdtctl: {} cannot be read to its end\n", file);
  if (!read) return status_after(read.error());
  const bool empty = !played_.window && played_.tables == 0;
  if (empty && !interrupted()) note("rdtctl: {} has no two samples with counters\n", file);
  return status_after(empty ? Exit::failed : Exit::ok);
}

std::optional<size_t> UsageView::tasks_of(const Usage& usage) const {
  if (!tree_) return std::nullopt;
  return tree_->read_tasks(usage.directory).value_or(std::vector<pid_t>{}).size();
}

// The use of control groups, without their monitoring groups, which are part of it.
void UsageView::add_up(const std::map<std::string, std::optional<size_t>>& tasks) {
  total_.reset();
  const auto all = usage_between(before_, now_, Domains::summed);
  std::set<std::string, std::less<>> control_groups;
  for (const Usage& usage : all)
    if (!is_mon_group(usage.directory)) control_groups.insert(usage.directory);
  Row total;
  total.usage.group = "total";
  size_t rows = 0;
  for (const Usage& usage : all) {
    if (is_mon_group(usage.directory) && control_groups.contains(control_group_of(usage.directory)))
      continue;
    rows++;
    if (const auto found = tasks.find(usage.directory); found != tasks.end() && found->second)
      total.tasks = total.tasks.value_or(0) + *found->second;
    for (const auto& [counter, used] : usage.counters) {
      Used& sum = total.usage.counters[counter];
      if (used.amount) sum.amount = sum.amount.value_or(0) + *used.amount;
      sum.missing = sum.missing || used.missing || !used.amount;
    }
  }
  if (rows > 1) total_ = std::move(total);
}

void UsageView::arrange() {
  rows_.clear();
  std::map<std::string, std::optional<size_t>> tasks;
  for (Usage& usage :
       usage_between(before_, now_, options_.domains ? Domains::apart : Domains::summed)) {
    if (!tasks.contains(usage.directory)) tasks[usage.directory] = tasks_of(usage);
    const auto count = tasks[usage.directory];
    if (!subject_.unit.empty())
      usage.group =
          fmt::format("{}/{}", group_label(control_group_of(usage.directory)), subject_.unit);
    rows_.push_back({std::move(usage), count});
  }
  std::ranges::stable_sort(rows_, columns_[sort_].before);
  if (reverse_) std::ranges::reverse(rows_);
  nest(rows_);
  if (in_window()) add_up(tasks);
}

}  // namespace rdtd
