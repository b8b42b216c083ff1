// The ring of recordings: what is written is read again, the oldest goes first, and nothing that
// happens to the disk or to the writer costs more than the last seconds.
#include "rdtd/observer/ring.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

#include "rdtd/observer/reader.hpp"

namespace rdtd {
namespace {

constexpr uint64_t start_usec = 1'700'000'000'000'000;

class RingTest : public testing::Test {
 protected:
  RingTest() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  ~RingTest() override { std::filesystem::remove_all(path_); }

  [[nodiscard]] Directory directory() const { return *Directory::open(path_); }
  [[nodiscard]] static observe::Sample sample(uint64_t second) {
    observe::Sample out;
    out.time_usec = start_usec + second * 1'000'000;
    out.monotonic_usec = second * 1'000'000;
    out.counters = {{"redis", "L3", DomainId{0}, {{"llc_occupancy", second}}}};
    return out;
  }
  // Returns whether all were written.
  bool write(Ring& ring, uint64_t from, uint64_t to) {
    bool all = true;
    for (uint64_t second = from; second < to; ++second) {
      observe::Sample next = sample(second);
      if (ring.begins_file()) next.schemata["redis"] = "L3:0=f";
      all = ring.append(observe::header_line({"host", "6.12", "0.3", 1, {}}), sample_line(next),
                        next.time_usec)
                .has_value() &&
            all;
    }
    return all;
  }
  struct Seen {
    std::vector<uint64_t> seconds;
    std::map<std::string, std::string> schemata;  // of the first
    ReadRecording read;
  };
  [[nodiscard]] Seen read(const Period& period = {}) const {
    Seen out;
    auto result =
        read_ring(directory(), period, [&](const observe::Header&, const observe::Sample& one) {
          if (out.seconds.empty()) out.schemata = one.schemata;
          out.seconds.push_back((one.time_usec - start_usec) / 1'000'000);
        });
    EXPECT_TRUE(result);
    if (result) out.read = std::move(*result);
    return out;
  }
  [[nodiscard]] uint64_t bytes() const {
    uint64_t out = 0;
    for (const auto& file : std::filesystem::directory_iterator(path_)) out += file.file_size();
    return out;
  }
  [[nodiscard]] size_t files() const { return Ring::files(directory())->size(); }

  std::string path_ = "/tmp/rdtd-ring-XXXXXX";
};

std::vector<uint64_t> range(uint64_t from, uint64_t to) {
  std::vector<uint64_t> out;
  for (uint64_t i = from; i < to; ++i) out.push_back(i);
  return out;
}

TEST_F(RingTest, IsReadAsItWasWritten) {
  {
    Ring ring(directory(), 1 << 20);
    EXPECT_TRUE(write(ring, 0, 100));
  }
  const Seen seen = read();
  EXPECT_EQ(seen.seconds, range(0, 100));
  EXPECT_EQ(seen.read.header.host, "host");
  EXPECT_FALSE(seen.read.cut_off);
  EXPECT_TRUE(seen.read.problems.empty());
}

TEST_F(RingTest, OfAPeriod) {
  {
    Ring ring(directory(), 1 << 20);
    EXPECT_TRUE(write(ring, 0, 100));
  }
  const Seen seen = read({start_usec + 40'000'000, start_usec + 50'000'000});
  EXPECT_EQ(seen.seconds, range(40, 51));
  EXPECT_EQ(seen.schemata, (std::map<std::string, std::string>{{"redis", "L3:0=f"}}));
  EXPECT_EQ(read({start_usec + 500'000'000, UINT64_MAX}).seconds, range(0, 0));
  // What comes before it is handed on, and does not count.
  const Seen led = read({start_usec + 40'000'000, start_usec + 50'000'000, 10'000'000});
  EXPECT_EQ(led.seconds, range(30, 51));
  EXPECT_EQ(led.schemata, (std::map<std::string, std::string>{{"redis", "L3:0=f"}}));
  EXPECT_EQ(led.read.samples, 11U);
  EXPECT_EQ(led.read.from_usec, start_usec + 40'000'000);
}

// Samples that cannot be compressed fill it soon.
// When there are samples is known also where none is in the period, from the files at both ends.
TEST_F(RingTest, OfNoPeriod) {
  {
    Ring ring(directory(), 64 << 10);
    EXPECT_TRUE(write(ring, 0, 600));
  }
  for (const Period& period :
       {Period{.since_usec = start_usec + 3600'000'000ULL}, Period{.until_usec = start_usec - 1}}) {
    const Seen seen = read(period);
    EXPECT_EQ(seen.read.samples, 0U);
    ASSERT_TRUE(seen.read.all);
    EXPECT_EQ(seen.read.all->from_usec, read().read.from_usec);
    EXPECT_EQ(seen.read.all->to_usec, start_usec + 599'000'000);
  }
}

TEST_F(RingTest, TheOldestGoes) {
  std::mt19937_64 random(1);
  Ring ring(directory(), 64 << 10);
  for (uint64_t second = 0; second < 2000; ++second) {
    observe::Sample next = sample(second);
    for (int i = 0; i < 4; ++i) next.marks.push_back(std::to_string(random()));
    ASSERT_TRUE(ring.append(observe::header_line({}), sample_line(next), next.time_usec));
    ASSERT_LE(bytes(), uint64_t{68} << 10);
  }
  EXPECT_GT(files(), 4U);
  const Seen seen = read();
  ASSERT_FALSE(seen.seconds.empty());
  EXPECT_GT(seen.seconds.front(), 0U);
  EXPECT_GE(seen.seconds.back(), 1990U);
  EXPECT_EQ(seen.seconds, range(seen.seconds.front(), seen.seconds.back() + 1));
}

// Whoever may write there can make names that are like those of the ring.
TEST_F(RingTest, NamesThatOthersMade) {
  const std::string time(20, '0');
  std::filesystem::create_directory(path_ + "/000000000001-" + time + ".jsonl.zst");
  {
    Ring ring(directory(), 64 << 10);
    EXPECT_TRUE(write(ring, 0, 5));
  }
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(read().seconds, range(0, 5));
  const std::string last = path_ + "/999999999999-" + time + ".jsonl.zst";
  std::ofstream(last).close();
  auto ring = std::make_unique<Ring>(directory(), 64 << 10);
  const observe::Sample next = sample(5);
  const auto done = ring->append(observe::header_line({}), sample_line(next), next.time_usec);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text(), "cannot number a file after " + last +
                                     ": Numerical result out of range (no file has a higher "
                                     "number; remove it)");
  std::filesystem::remove(last);
  EXPECT_TRUE(write(*ring, 5, 7));
  ring.reset();
  EXPECT_EQ(read().seconds, range(0, 7));
}

// Small files take whole blocks, and each start begins one.
TEST_F(RingTest, ManyStarts) {
  for (uint64_t start = 0; start < 300; ++start) {
    Ring ring(directory(), 64 << 20);
    EXPECT_TRUE(write(ring, start, start + 1));
  }
  EXPECT_EQ(files(), 256U);
  EXPECT_EQ(read().seconds, range(44, 300));
  Ring ring(directory(), 64 << 10);
  EXPECT_TRUE(write(ring, 300, 301));
  uint64_t blocks = 0;
  for (const auto& file : std::filesystem::directory_iterator(path_)) {
    struct stat status{};
    ASSERT_EQ(::stat(file.path().c_str(), &status), 0);
    blocks += static_cast<uint64_t>(status.st_blocks);
  }
  EXPECT_LE(blocks * 512, uint64_t{68} << 10);
}

// A day of ten groups in two domains fits in the default of 64 MiB: an hour of counters that change
// by random amounts takes no more than its part of that.
TEST_F(RingTest, ADayFits) {
  std::mt19937_64 random(1);
  const auto number = [&](uint64_t most) {
    return std::uniform_int_distribution<uint64_t>(0, most)(random);
  };
  observe::Sample next;
  for (int group = 0; group < 10; ++group)
    for (const uint32_t domain : {0U, 1U})
      next.counters.push_back({"group-" + std::to_string(group),
                               "L3",
                               DomainId{domain},
                               {{"llc_occupancy", number(1 << 25)},
                                {"mbm_local_bytes", number(1 << 30)},
                                {"mbm_total_bytes", number(1 << 30)}}});
  Ring ring(directory(), 64 << 20);
  for (uint64_t second = 0; second < 3600; ++second) {
    next.time_usec = start_usec + second * 1'000'000 + number(500);
    next.monotonic_usec = second * 1'000'000 + number(500);
    for (DomainCounters& row : next.counters) {
      row.counters["llc_occupancy"] = number(1 << 25) & ~uint64_t{0xffff};
      for (const char* name : {"mbm_local_bytes", "mbm_total_bytes"})
        row.counters[name] = std::get<uint64_t>(row.counters[name]) + (number(1 << 30) & ~0x3fULL);
    }
    ASSERT_TRUE(ring.append(observe::header_line({}), sample_line(next), next.time_usec));
  }
  EXPECT_LE(bytes(), (uint64_t{64} << 20) / 24);
}

// As kill -9 leaves it: the last file at any length.
TEST_F(RingTest, CutOffAnywhere) {
  {
    Ring ring(directory(), 1 << 20);
    EXPECT_TRUE(write(ring, 0, 30));
  }
  const std::string file = path_ + "/" + Ring::files(directory())->front();
  for (auto length = std::filesystem::file_size(file); length-- > 0;) {
    std::filesystem::resize_file(file, length);
    const Seen seen = read();
    ASSERT_EQ(seen.seconds, range(0, seen.seconds.size())) << length;
    if (length == 0) {
      EXPECT_EQ(seen.read.problems, std::vector<std::string>{});
    }
  }
  Ring ring(directory(), 1 << 20);
  EXPECT_TRUE(write(ring, 40, 50));
  ASSERT_TRUE(ring.append("", "", 0));
}

// Without an orderly end, what is older than some seconds is there.
TEST_F(RingTest, IsFlushed) {
  Ring ring(directory(), 1 << 20);
  EXPECT_TRUE(write(ring, 0, 30));
  EXPECT_GE(read().seconds.size(), 24U);
}

TEST_F(RingTest, TheClockIsSetBack) {
  {
    Ring first(directory(), 1 << 20);
    EXPECT_TRUE(write(first, 1000, 1010));
  }
  Ring second(directory(), 1 << 20);
  EXPECT_TRUE(write(second, 0, 20));
  const Seen seen = read();
  EXPECT_EQ(files(), 2U);
  ASSERT_GE(seen.seconds.size(), 20U);
  EXPECT_EQ(seen.seconds.front(), 1000U);
  // What was taken by a clock that was wrong hides nothing.
  EXPECT_GE(read({.until_usec = start_usec + 50'000'000}).seconds.size(), 10U);
  EXPECT_EQ(read({.since_usec = start_usec + 500'000'000}).seconds.size(), 10U);
}

// Within a file, too: its name is the time of its first sample only.
TEST_F(RingTest, TheClockIsSetBackInAFile) {
  Ring ring(directory(), 1 << 20);
  for (uint64_t second = 0; second < 30; ++second) {
    observe::Sample next = sample(second);
    if (second < 10) next.time_usec += 1'000'000'000;
    ASSERT_TRUE(ring.append(observe::header_line({}), sample_line(next), next.time_usec));
  }
  EXPECT_EQ(files(), 1U);
  EXPECT_GE(read({.until_usec = start_usec + 50'000'000}).seconds.size(), 15U);
}

// The monotonic clock begins again with a boot: time goes on, and no rate is across it.
TEST_F(RingTest, AfterABoot) {
  for (const uint64_t boot : {uint64_t{0}, uint64_t{1}}) {
    Ring ring(directory(), 1 << 20);
    for (uint64_t second = 0; second < 10; ++second) {
      observe::Sample next = sample(second);
      next.time_usec += boot * 100'000'000;
      ASSERT_TRUE(ring.append(observe::header_line({}), sample_line(next), next.time_usec));
    }
  }
  std::vector<uint64_t> monotonic, first;
  ASSERT_TRUE(read_ring(directory(), {}, [&](const observe::Header&, const observe::Sample& one) {
    monotonic.push_back(one.monotonic_usec / 1'000'000);
    if (one.first) first.push_back(one.monotonic_usec / 1'000'000);
  }));
  EXPECT_EQ(monotonic, (std::vector<uint64_t>{0,   1,   2,   3,   4,   5,   6,   7,   8,   9,
                                              100, 101, 102, 103, 104, 105, 106, 107, 108, 109}));
  EXPECT_EQ(first, std::vector<uint64_t>{100});
}

// The wall clock is set between two starts in the same boot: 5 s pass, whatever it says.
TEST_F(RingTest, TheClockIsSetBetweenTwoFilesOfABoot) {
  struct Row {
    const char* what;
    std::string boots[2];
    int64_t ahead[2];  // seconds
    std::vector<uint64_t> first;
  };
  constexpr int64_t years = -static_cast<int64_t>(start_usec / 1'000'000), month = 2'600'000;
  for (const Row& row : {Row{"from 1970", {"", ""}, {years, 0}, {14}},
                         Row{"from 1970, known boot", {"a", "a"}, {years, 0}, {}},
                         Row{"from a month ago", {"a", "a"}, {-month, 0}, {}},
                         Row{"to a month ago", {"a", "a"}, {0, -month}, {}},
                         Row{"to a month ago, unknown boot", {"a", ""}, {0, -month}, {14}},
                         Row{"not at all", {"", ""}, {0, 0}, {}}}) {
    for (const size_t start : {size_t{0}, size_t{1}}) {
      Ring ring(directory(), 1 << 20);
      for (uint64_t second = 14 * start; second < 10 + 14 * start; ++second) {
        observe::Sample next = sample(second);
        next.time_usec += static_cast<uint64_t>(row.ahead[start] * 1'000'000);
        observe::Header header;
        header.boot = row.boots[start];
        ASSERT_TRUE(ring.append(observe::header_line(header), sample_line(next), next.time_usec));
      }
    }
    std::vector<uint64_t> monotonic, first;
    ASSERT_TRUE(read_ring(directory(), {}, [&](const observe::Header&, const observe::Sample& one) {
      monotonic.push_back(one.monotonic_usec / 1'000'000);
      if (one.first) first.push_back(one.monotonic_usec / 1'000'000);
    }));
    std::vector<uint64_t> expected = range(0, 10);
    std::ranges::copy(range(14, 24), std::back_inserter(expected));
    EXPECT_EQ(monotonic, expected) << row.what;
    EXPECT_EQ(first, row.first) << row.what;
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
}

// Another boot in which the observer starts later than it ended in the one before.
TEST_F(RingTest, AnotherBootThatRunsForLonger) {
  for (const uint64_t boot : {uint64_t{0}, uint64_t{1}}) {
    Ring ring(directory(), 1 << 20);
    observe::Sample next = sample(10 + boot);
    next.time_usec += boot * 100'000'000;
    observe::Header header;
    header.boot = boot == 0 ? "a" : "b";
    ASSERT_TRUE(ring.append(observe::header_line(header), sample_line(next), next.time_usec));
  }
  std::vector<uint64_t> monotonic;
  ASSERT_TRUE(read_ring(directory(), {}, [&](const observe::Header&, const observe::Sample& one) {
    monotonic.push_back(one.monotonic_usec / 1'000'000);
  }));
  EXPECT_EQ(monotonic, (std::vector<uint64_t>{10, 111}));
}

TEST_F(RingTest, ABadFileDoesNotHideTheOthers) {
  {
    Ring ring(directory(), 1 << 20);
    EXPECT_TRUE(write(ring, 0, 10));
  }
  std::ofstream(path_ + "/000000000001-00000000000000000001.jsonl.zst") << "no zstd";
  std::ofstream(path_ + "/notes.txt") << "of somebody";
  const Seen seen = read();
  EXPECT_EQ(seen.seconds, range(0, 10));
  ASSERT_EQ(seen.read.problems.size(), 1U);
  EXPECT_EQ(
      seen.read.problems.front(),
      path_ + "/000000000001-00000000000000000001.jsonl.zst:1: this is not a recording of rdtd");
}

TEST_F(RingTest, ItsFilesJoined) {
  for (const int from : {0, 200}) {
    Ring ring(directory(), 1 << 20);
    EXPECT_TRUE(write(ring, from, from + 200));
  }
  const auto files = Ring::files(directory());
  ASSERT_EQ(files->size(), 2U);
  std::ofstream joined(path_ + "/joined");
  for (const std::string& file : *files) joined << std::ifstream(path_ + "/" + file).rdbuf();
  joined.close();
  size_t gaps = 0;
  const auto use = [&](const observe::Header&, const observe::Sample& sample) {
    gaps += sample.first ? 1 : 0;
  };
  EXPECT_EQ(read_recording(directory(), "joined", {}, use)->samples, 400U);
  EXPECT_EQ(gaps, 0U);
}

TEST_F(RingTest, OneFileByName) {
  {
    Ring ring(directory(), 1 << 20);
    EXPECT_TRUE(write(ring, 0, 10));
  }
  const auto use = [](const observe::Header&, const observe::Sample&) {};
  const std::string name = Ring::files(directory())->front();
  EXPECT_EQ(read_recording(directory(), name, {}, use)->samples, 10U);
  std::ofstream(path_ + "/damaged") << "\x28\xb5\x2f\xfd garbage that is no frame";
  EXPECT_EQ(read_recording(directory(), "damaged", {}, use).error().text(),
            path_ + "/damaged:1: the file is damaged from here on");
  EXPECT_EQ(read_recording(directory(), "nothing", {}, use).error().text(),
            "cannot open " + path_ + "/nothing: No such file or directory");
}

}  // namespace
}  // namespace rdtd
