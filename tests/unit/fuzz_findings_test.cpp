// What dev/fuzz found, as rows: each failed before its fix, some only under the sanitizers.
#include <gtest/gtest.h>

#include <map>

#include "rdtd/base/glob.hpp"
#include "rdtd/plan/transition.hpp"
#include "rdtd/proc/parse.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

// The path ends where the search for the second literal segment begins.
TEST(FuzzFindings, PathGlobsSearchAnEmptyPath) {
  struct Row {
    const char *pattern, *path;
    bool matches;
  };
  for (const Row& row : {Row{"/**/b/**/c", "/a/b", false}, Row{"**/b/**", "/a/b", true},
                         Row{"/**/b", "/", false}, Row{"**", "/", true}}) {
    EXPECT_EQ(path_glob_match_ancestor(row.pattern, row.path), row.matches) << row.pattern;
    EXPECT_EQ(path_glob_match(row.pattern, row.path), row.matches) << row.pattern;
  }
}

TEST(FuzzFindings, AStatusHasNoNegativePid) {
  const auto status = [](const std::string& parent) {
    return proc::parse_status("PPid:\t" + parent + "\nUid:\t0\t1\t2\t3\nGid:\t0\t1\t2\t3\n");
  };
  EXPECT_TRUE(status("2147483647"));
  EXPECT_FALSE(status("2147483648"));
  EXPECT_FALSE(status("4294967295"));
}

// Parking 'a' alone does not suffice: the default group has to make room for it too.
TEST(FuzzFindings, GroupsAreParkedBeforeTwoOfThemShareWays) {
  const Capabilities capabilities = test::machine(8, 1);
  const auto l3 = [](const char* mask, Mode mode = Mode::shareable) {
    return test::group_state(std::string("L3:0=") + mask + "\n", mode);
  };
  Snapshot now;
  now.groups = {
      {"", l3("e0")}, {"a", l3("7")}, {"b", l3("10", Mode::exclusive)}, {"old", l3("e0")}};
  const std::vector<WantedGroup> wanted = {
      {"a", l3("30", Mode::exclusive)}, {"new", l3("7")}, {"b", l3("7")}, {"", l3("f")}};
  const Steps steps = transition(capabilities, now, wanted, {}, {"old"});
  std::map<std::string, uint32_t> masks = {{"", 0xe0}, {"a", 0x7}};
  for (const Step& step : steps.steps) {
    const auto* write = std::get_if<WriteSchemata>(&step);
    if (write == nullptr) continue;
    masks[write->group] = write->after.at(Resource::L3).at(DomainId{0});
    EXPECT_EQ(masks.at("") & masks.at("a"), 0U) << format_step(step);
  }
  EXPECT_EQ(masks, (std::map<std::string, uint32_t>{
                       {"", 0xf}, {"a", 0x30}, {"b", 0x7}, {"new", 0x7}, {"old", 0xf}}));
}

}  // namespace
}  // namespace rdtd
