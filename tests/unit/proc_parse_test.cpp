// The formats of /proc: each parser against a table of texts, valid and malformed.
#include <gtest/gtest.h>

#include "rdtd/proc/parse.hpp"

namespace rdtd::proc {
namespace {

TEST(ProcParse, Cgroup) {
  const struct {
    std::string text, path;
  } rows[] = {
      {"0::/system.slice/redis.service\n", "/system.slice/redis.service"},
      {"0::/\n", "/"},
      {"0::/no newline", "/no newline"},
      {"0::/a:b::c\n", "/a:b::c"},
      {"0::/../..\n", "/../.."},
      // The legacy layout, alone and beside an unused unified hierarchy.
      {"12:cpu,cpuacct:/x\n1:name=systemd:/system.slice/a.service\n", "/system.slice/a.service"},
      {"1:name=systemd:/system.slice/a.service\n0::/\n", "/system.slice/a.service"},
      // The unified hierarchy beside a bare one for containers.
      {"1:name=systemd:/\n0::/system.slice/a.service\n", "/system.slice/a.service"},
      {"1:name=other:/x\n", ""},
      {"", ""},
      {"\n\n", ""},
      {"0", ""},
      {"0:", ""},
      {"0::", ""},
      {"0::relative\n", ""},
      {"/a\n0::/b\n", "/b"},
  };
  for (const auto& row : rows) EXPECT_EQ(parse_cgroup(row.text), row.path) << row.text;
}

TEST(ProcParse, Status) {
  const auto status = parse_status(
      "Name:\tUid:\\n\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t10\nNgid:\t0\nPid:\t11\n"
      "PPid:\t1\nTracerPid:\t0\nUid:\t1000\t1001\t1002\t1003\nGid:\t5\t6\t7\t8\nFDSize:\t64\n");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->parent, 1);
  EXPECT_EQ(status->identity.uid, 1001U);
  EXPECT_EQ(status->identity.gid, 6U);
  const std::string malformed[] = {
      "",
      "\n",
      "PPid:\t1\nUid:\t1\t2\n",
      "PPid:\t1\nUid:\t1\nGid:\t1\t2\n",
      "PPid:\t-1\nUid:\t1\t2\nGid:\t1\t2\n",
      "PPid:\nUid:\t1\t2\nGid:\t1\t2\n",
      "PPid:\t99999999999\nUid:\t1\t2\nGid:\t1\t2\n",
      "PPid: 1\nUid:\t1\t2\nGid:\t1\t2\n",
      "VmPPid:\t1\nUid:\t1\t2\nGid:\t1\t2\n",
  };
  for (const std::string& text : malformed) EXPECT_FALSE(parse_status(text)) << text;
}

TEST(ProcParse, Credentials) {
  const Credentials ids = parse_credentials(
      "Name:\tUid:\\n0\nState:\tS (sleeping)\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t4 24 27 "
      "\n");
  EXPECT_EQ(ids.users, (std::vector<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(ids.groups, (std::vector<uint32_t>{5, 6, 7, 8, 4, 24, 27}));
  EXPECT_TRUE(parse_credentials("Uid:\nGid:\tx\nGroups:\t \nUid: 7").groups.empty());
  EXPECT_TRUE(parse_credentials("Uid:\nGid:\tx\nGroups:\t \nUid: 7").users.empty());
}

TEST(ProcParse, FirstThreadEnded) {
  EXPECT_TRUE(first_thread_ended("Name:\tx\nState:\tZ (zombie)\n"));
  EXPECT_TRUE(first_thread_ended("State:\tX (dead)"));
  EXPECT_FALSE(first_thread_ended("Name:\tState:\\nZ\nState:\tS (sleeping)\n"));
  EXPECT_FALSE(first_thread_ended("State:"));
  EXPECT_FALSE(first_thread_ended(""));
}

TEST(ProcParse, StartTime) {
  const std::string tail = " S 1 10 10 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 222 333\n";
  const struct {
    std::string text;
    std::optional<uint64_t> time;
  } rows[] = {
      {"10 (cat)" + tail, 12345},
      {"10 ()" + tail, 12345},
      {"10 (a) R 1 (b c)" + tail, 12345},
      {"10 (cat) S 1 10 10 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345", 12345},
      {"10 (cat) S 1 10 10 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0", std::nullopt},
      {"10 (cat) S 1 10 10 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 x", std::nullopt},
      {"10 (cat)", std::nullopt},
      {"10 cat" + tail, std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& row : rows) EXPECT_EQ(parse_start_time(row.text), row.time) << row.text;
}

TEST(ProcParse, Pids) {
  const struct {
    std::string text;
    std::vector<pid_t> pids;
  } rows[] = {
      {"", {}},
      {"1 20 300 ", {1, 20, 300}},
      {"1\n20\n300\n", {1, 20, 300}},
      {"3\n0\n3\n", {3, 3}},
      {"7", {7}},
      {"\n\n  \n", {}},
      {"-1 +2 0x3 4x 2147483647 2147483648 99999999999 5", {2147483647, 5}},
  };
  for (const auto& row : rows) EXPECT_EQ(parse_pids(row.text), row.pids) << row.text;
}

TEST(ProcParse, ResctrlGroup) {
  const struct {
    std::string text;
    std::optional<std::string> group;
  } rows[] = {
      {"res:redis\nmon:\n", "redis"}, {"res:redis\nmon:tenant-1\n", "redis/mon_groups/tenant-1"},
      {"res:/\nmon:\n", ""},          {"res:/\nmon:tenant-1\n", "mon_groups/tenant-1"},
      {"res:a b:c\nmon:\n", "a b:c"}, {"res:redis", "redis"},
      {"res:\nmon:\n", std::nullopt}, {"mon:\n", std::nullopt},
      {"res", std::nullopt},          {"", std::nullopt},
  };
  for (const auto& row : rows) EXPECT_EQ(parse_resctrl_group(row.text), row.group) << row.text;
}

// Anything but linear work would take minutes here.
TEST(ProcParse, LongTexts) {
  std::string lines, words, pids;
  for (int i = 0; i < 1'000'000; i++) {
    lines += "1:a:/\n";
    words += "1 ";
    pids += "12\n";
  }
  EXPECT_EQ(parse_cgroup(lines), "");
  EXPECT_EQ(parse_cgroup("0::/" + words), "/" + words);
  EXPECT_FALSE(parse_status(lines));
  EXPECT_EQ(parse_start_time(std::string(1'000'000, ')') + words), 1U);
  EXPECT_EQ(parse_pids(pids).size(), 1'000'000U);
  EXPECT_FALSE(parse_resctrl_group(lines));
}

}  // namespace
}  // namespace rdtd::proc
