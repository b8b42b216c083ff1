// UsageView: the table of `top` and `watch`: refreshed in a window, or printed once on something
// that is no terminal and with --json. Of the machine as it is, or of a recording.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache_shares.hpp"
#include "output.hpp"
#include "recent_readings.hpp"
#include "rdtd/observe/recording.hpp"
#include "usage.hpp"
#include "verbs.hpp"

namespace rdtd {

// False where the kernel counts nothing, which it says on standard error.
[[nodiscard]] bool monitors(const Context& context, const Tree& tree);

class UsageView {
 public:
  // The subject of the view, requested before each reading.
  struct Subject {
    std::string verb = "top";
    // The unit whose processes the monitoring groups have: it stands in place of their names.
    std::string unit;
    // The directories of the groups to show; nothing: all.
    std::function<Result<std::optional<std::set<std::string>>>()> groups;
    std::function<bool()> over;  // ends the view; empty: never
  };
  // `tree`: nothing for a recording, which has no tasks.
  UsageView(const Context& context, std::optional<Tree> tree, const verbs::TopOptions& options,
            Subject subject);

  // Returns the exit status.
  [[nodiscard]] int show();
  // The samples of a file, as fast as they were taken but with the interval of the options between
  // them at most; without a terminal, all tables one after the other.
  [[nodiscard]] int play(const std::string& file);
  // Of --sort.
  [[nodiscard]] static std::vector<std::string> column_names();

 private:
  static constexpr int glance = 200;  // milliseconds between looks at whether the view is over

  struct Row {
    Usage usage;
    std::optional<size_t> tasks = {};  // a recording has none
  };
  // A column, the key that sorts by it, and the order of two rows, largest first but for names.
  struct Column {
    std::string title;
    std::string name;  // of --sort; empty: a counter that only some machines have
    char key = 0;
    int width = 0;  // 0: the rest of the window
    int least = 0;  // width in a narrow window
    std::function<std::string(const Row&)> text;
    std::function<bool(const Row&, const Row&)> before;
  };
  [[nodiscard]] static Column counter_column(std::string title, std::string name, char key,
                                             int width, int least, const std::string& counter);
  [[nodiscard]] static std::vector<Column> usual_columns();
  [[nodiscard]] static std::vector<Column> columns_for(const std::vector<DomainCounters>& counters);
  [[nodiscard]] static JsonValue to_json(const Row& row);

  [[nodiscard]] Result<void> refresh();
  void take(Reading now);
  [[nodiscard]] bool in_window() const;
  // False, with a note, if the terminal has no windows: then there is none from now on.
  [[nodiscard]] bool open_window();
  static void close_window();
  // A key; ERR after that long, if the view is over, and at a signal.
  [[nodiscard]] int next_key(std::chrono::milliseconds most) const;
  [[nodiscard]] bool wait_for_key(std::chrono::milliseconds wait);
  void play_sample(const observe::Sample& sample);
  [[nodiscard]] int print_tables();
  [[nodiscard]] int once();
  [[nodiscard]] std::string share_cell(const Row& row) const;
  void print_rows();
  [[nodiscard]] int interactive();
  static void nest(std::vector<Row>& rows);
  void arrange();
  // `tasks`: of each group, by its directory.
  void add_up(const std::map<std::string, std::optional<size_t>>& tasks);
  [[nodiscard]] std::optional<size_t> tasks_of(const Usage& usage) const;
  void press(int key);
  void set_interval(int key);
  void draw();
  void draw_help() const;
  // The widths of what a row has: of the columns, 0 if there is no room for one, of the bar of its
  // share, and of its last readings.
  struct Widths {
    std::vector<int> columns;
    int bar = 0, line = 0;
    double most = 0;  // of the last readings: all rows have the same scale
  };
  [[nodiscard]] Widths widths() const;
  [[nodiscard]] size_t rows_shown() const;
  [[nodiscard]] bool is_total(const Row& row) const;
  [[nodiscard]] std::optional<uint64_t> share_of(const Row& row) const;
  [[nodiscard]] bool is_full(const Row& row) const;
  void draw_heading(const Widths& widths) const;
  void draw_row(int line, const Row& row, const Widths& widths) const;
  void draw_share(int line, int left, const Row& row, int bar) const;
  [[nodiscard]] size_t groups() const;
  [[nodiscard]] bool is_over() const;

  const Context& context_;
  std::optional<Tree> tree_;
  verbs::TopOptions options_;
  Subject subject_;
  std::vector<Column> columns_;
  size_t sort_ = 0;
  bool reverse_ = false;
  size_t first_ = 0;  // row in the window
  bool paused_ = false, help_ = false;
  bool no_window_ = false, colored_ = false;
  Reading before_, now_;
  std::optional<CacheShares> shares_;  // of the machine as it is
  RecentReadings recent_;
  // Of a recording.
  struct Played {
    std::string time;  // of the sample
    uint64_t time_usec = 0;
    double seconds = 0;  // since the one before
    bool window = false, ended = false;
    unsigned tables = 0;  // printed
  } played_;
  std::vector<Row> rows_;
  std::optional<Row> total_;  // of several control groups
};

}  // namespace rdtd
