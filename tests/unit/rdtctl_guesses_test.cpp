// Words of verbs that use this machine, or a recording: what they are understood as. The verbs
// themselves would answer before they look at a value, so tests/cli/guesses cannot tell.
#include <gtest/gtest.h>

#include <map>

#include "first_guesses.hpp"
#include "rdtd/base/text.hpp"
#include "words_of_others.hpp"

namespace rdtd::rdtctl_guesses {
namespace {

// The options of each verb; those that take a value end with '='.
const std::map<std::string, std::string, std::less<>> options = {
    {"", "--root= --resctrl= --json --color= -j -q --help"},
    {"assign", "-g= --group= --unit= --runtime --force --help"},
    {"watch", "--pid= --unit= -d= --interval= --domains --help"},
    {"record", "-d= --duration= --interval= --help"},
    {"history", "-S= --since= -U= --until= --replay -g= --group= --html= --help"},
    {"blame", "-S= --since= -U= --until= -g= --group= --help"},
    {"top", "-d= --interval= --domains --sort= -n= -b --play= --help"},
    {"events", "-n= --help"},
    {"plan", "--unified --detailed-exitcode --help"},
};

std::optional<bool> takes_value(std::string_view verb, std::string_view name) {
  const auto found = options.find(verb);
  if (found == options.end()) return std::nullopt;
  const std::string option = option_name(std::string(name));
  if (has_guess(found->second, " ", option + "=")) return true;
  return has_guess(found->second, " ", option) ? std::optional(false) : std::nullopt;
}

struct TypedAndMeant {
  std::string_view typed;
  std::string_view meant;  // a sentence, or the words, with '|' between them
};

constexpr TypedAndMeant rows[] = {
    {"assign -g redis pid:1", "assign|-g|redis|1"},
    {"assign -g redis PID 1", "assign|-g|redis|1"},
    {"assign process 1 group redis", "assign|1|-g|redis"},
    {"assign -gbatch nginx.service", "assign|-g|batch|--unit|nginx.service"},
    {"assign 1 into batch", "assign|1|-g|batch"},
    {"assign batch 1", "assign|-g|batch|1"},
    {"assign --to batch 1", "assign|--group|batch|1"},
    {"assign --pid=1 -g batch", "assign|1|-g|batch"},
    {"assign -g batch --task 1", "assign|-g|batch|1"},
    {"assign 0-3 1234", "assign|-g|0-3|1234"},
    {"assign service 12 13", "assign|-g|service|12|13"},
    {"assign 12 13 pid", "assign|12|13|-g|pid"},
    {"assign vm 1 2 3", "assign|-g|vm|1|2|3"},
    {"assign pod 1 2", "assign|-g|pod|1|2"},
    {"assign cpu 1 2", "assign|-g|cpu|1|2"},
    {"assign user 1 2", "assign|-g|user|1|2"},
    {"assign user 1000 redis",
     "assign takes PIDs or a unit: write a [[rule]] with user = \"1000\""},
    {"assign backup.service batch", "assign|--unit|backup.service|-g|batch"},
    {"assign -g redis --slice user", "assign|-g|redis|--unit=user.slice"},
    {"assign a.service b.service redis", "assign takes one unit: once for each"},
    {"assign -g redis a.service b.service", "assign takes one unit: once for each"},
    {"assign -g redis 1 x.service", "assign takes PIDs or a unit: once for each"},
    {"watch --process 1", "watch|--pid=1"},
    {"watch process 1", "watch|--pid|1"},
    {"watch -n2 redis.service", "watch|-d|2|--unit|redis.service"},
    {"watch -n 2 redis.service", "watch|-d|2|--unit|redis.service"},
    {"top -u redis.service", "watch|--unit|redis.service"},
    {"record --file x.rec -d 1", "record|x.rec|-d|1"},
    {"record x.rec 10", "record|x.rec|-d|10"},
    {"record x.rec -i1", "record|x.rec|--interval|1"},
    {"record -t 10 x.rec", "record|--duration|10|x.rec"},
    {"top -i 5", "top|-d|5"},
    {"top --file busy.rec", "top|--play|busy.rec"},
    {"top -1", "top|-n1"},
    {"events -1", "events|-n1"},
    {"events -20", "events|-n20"},
    {"events --lines 3", "events|-n|3"},
    {"plan -U5", "plan|--unified"},
    {"history --days 2", "history|--since=-2d"},
    {"history --last hour", "history|--since=-1hour"},
    {"history 08:00 - 09:00", "history|--since=08:00|--until=09:00"},
    {"history - 08:00", "history|--until=08:00"},
    {"history redis 08:30-09:30", "history|-g|redis|--since=08:30|--until=09:30"},
    {"history -f nights.rec", "history|nights.rec"},
    {"blame --for 1h", "blame|--since=-1h"},
    {"blame by batch", "blame|-g|batch"},
    {"logs observer redis", "journalctl|-u|rdtd-observer|-g|redis"},
    {"logs rdtd redis", "journalctl|-u|rdtd|-g|redis"},
    {"logs rdtd 20", "journalctl|-u|rdtd|-n|20"},
    {"logs redis", "journalctl|-u|rdtd|-g|redis"},
    {"logs observer -f", "journalctl|-u|rdtd-observer|-f"},
};

TEST(RdtctlGuesses, Words) {
  const KnownOptions known = takes_value;
  for (const TypedAndMeant& row : rows) {
    const auto found = understand(words_in(row.typed), known);
    EXPECT_EQ(!found                   ? found.error()
              : found->program.empty() ? join(found->words, "|")
                                       : join(found->program, "|"),
              row.meant)
        << row.typed;
  }
}

TEST(RdtctlGuesses, VerbsThatChangeNothing) {
  for (const std::string_view verb : {"list", "show", "plan", "check", "import"})
    EXPECT_TRUE(changes_nothing(verb)) << verb;
  for (const std::string_view verb : {"apply", "reload", "reset", "run", "init"})
    EXPECT_FALSE(changes_nothing(verb)) << verb;
}

}  // namespace
}  // namespace rdtd::rdtctl_guesses
