#include "rdtd/base/journal_writer.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "rdtd/base/journal.hpp"

namespace rdtd {
namespace {

// A journal that takes messages only while it is open.
class Journal {
 public:
  void take(const JournalWriter::Message& message) {
    std::unique_lock lock(mutex_);
    begun_++;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    texts_.push_back(message.front());
    changed_.notify_all();
  }
  void set_open(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  void wait_for_begin() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return begun_ > 0; });
  }
  [[nodiscard]] std::vector<std::string> wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return texts_.size() >= count; });
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  size_t begun_ = 0;
  std::vector<std::string> texts_;
};

// Its journal outlives the thread, as the real one does.
std::pair<std::shared_ptr<Journal>, std::unique_ptr<JournalWriter>> make_writer() {
  auto journal = std::make_shared<Journal>();
  auto writer = std::make_unique<JournalWriter>(
      "journal-test", [journal](const JournalWriter::Message& message) { journal->take(message); },
      [](size_t lost) { return JournalWriter::Message{"lost " + std::to_string(lost)}; });
  return {std::move(journal), std::move(writer)};
}

TEST(JournalWriter, HasSentWhenItReturns) {
  const auto [journal, writer] = make_writer();
  for (const char* text : {"a", "b", "c"}) writer->write({text});
  EXPECT_EQ(journal->wait_for(3), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(JournalWriter, DoesNotWaitForAJournalThatTakesNothing) {
  const auto [journal, writer] = make_writer();
  journal->set_open(false);
  writer->write({"first"});
  journal->wait_for_begin();
  for (size_t i = 1; i < JournalWriter::max_messages + 7; i++) writer->write({"more"});
  journal->set_open(true);
  const auto texts = journal->wait_for(JournalWriter::max_messages + 1);
  EXPECT_EQ(texts.front(), "first");
  EXPECT_EQ(texts.back(), "lost 7");
  EXPECT_EQ(texts.size(), JournalWriter::max_messages + 1);
}

TEST(JournalWriter, KeepsFewLargeMessages) {
  const auto [journal, writer] = make_writer();
  journal->set_open(false);
  writer->write({std::string(JournalWriter::max_bytes, 'x')});
  writer->write({"y"});
  writer->write({std::string(JournalWriter::max_bytes + 1, 'z')});
  journal->set_open(true);
  EXPECT_EQ(journal->wait_for(2)[1], "lost 2");
}

// The process ends nevertheless.
TEST(JournalWriter, LeavesWhatNobodyTakes) {
  auto [journal, writer] = make_writer();
  journal->set_open(false);
  writer->write({"never"});
  writer.reset();
  journal->set_open(true);
  EXPECT_EQ(journal->wait_for(1), std::vector<std::string>{"never"});
}

TEST(JournalWriter, SaysWhatIsMissing) {
  EXPECT_EQ(journal_loss(1), "1 message is missing here: the journal took none for a time");
  EXPECT_EQ(journal_loss(12), "12 messages are missing here: the journal took none for a time");
}

}  // namespace
}  // namespace rdtd
