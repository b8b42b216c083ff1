#include "progress.hpp"

#include <gtest/gtest.h>

namespace rdtd {
namespace {

TEST(Progress, AsManyMediansAsFit) {
  const std::vector<std::string> parts = {"alone 1.20 s", "with noise 1.52 s", "in 'web' 1.21 s"};
  EXPECT_EQ(joined_within(parts, 48), "alone 1.20 s, with noise 1.52 s, in 'web' 1.21 s");
  EXPECT_EQ(joined_within(parts, 47), "alone 1.20 s, with noise 1.52 s, ...");
  EXPECT_EQ(joined_within(parts, 36), "alone 1.20 s, with noise 1.52 s, ...");
  EXPECT_EQ(joined_within(parts, 35), "alone 1.20 s, ...");
  EXPECT_EQ(joined_within(parts, 17), "alone 1.20 s, ...");
  EXPECT_EQ(joined_within(parts, 16), "");
  EXPECT_EQ(joined_within({}, 16), "");
}

TEST(Progress, WhatEndedEarlySaysSo) {
  EXPECT_EQ(ended_early(true, 3, 9), "Interrupted: 3 of 9 rounds were measured.");
  EXPECT_EQ(ended_early(false, 3, 9), "A run failed: 3 of 9 rounds were measured.");
}

// The standard error of a test is no terminal.
std::string said_of_two_rounds(double of_long, const std::string& step = "") {
  testing::internal::CaptureStderr();
  Progress progress(6, step, of_long);
  progress.show("alone");
  progress.show("with noise");
  progress.expect_more(4);
  for (size_t round = 1; round <= 2; ++round) {
    progress.show("with noise");
    progress.show("alone");
    progress.clear();
    progress.end_round(round, 2, {"alone 1.20 s", "with noise 1.52 s"});
  }
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, ALineForEachRoundOfALongMeasurement) {
  EXPECT_EQ(said_of_two_rounds(0),
            "4 runs; 0 s left\n"
            "round 1 of 2: alone 1.20 s, with noise 1.52 s; 0 s left\n"
            "round 2 of 2: alone 1.20 s, with noise 1.52 s\n");
  EXPECT_EQ(said_of_two_rounds(60), "");
  EXPECT_EQ(said_of_two_rounds(0, "step 1 of 2: "),
            "step 1 of 2: 4 runs; 0 s left\n"
            "step 1 of 2: round 1 of 2: alone 1.20 s, with noise 1.52 s; 0 s left\n"
            "step 1 of 2: round 2 of 2: alone 1.20 s, with noise 1.52 s\n");
}

}  // namespace
}  // namespace rdtd
