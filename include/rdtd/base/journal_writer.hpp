// JournalWriter: sends messages to the journal from a thread of its own. If the journal takes none
// (its socket is full, journald is stopped or hangs), sd_journal_sendv(3) waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rdtd {

class JournalWriter {
 public:
  using Message = std::vector<std::string>;  // fields, "NAME=value"
  // May wait for as long as it likes.
  using Send = std::function<void(const Message&)>;
  // The message with the number of those that were dropped.
  using Lost = std::function<Message(size_t)>;
  // Waiting messages are dropped beyond these.
  static constexpr size_t max_messages = 1000;
  static constexpr size_t max_bytes = 1 << 20;
  // `write` waits this long at most, so that who looks into the journal after an answer of the
  // daemon finds what it is about. Once it had to wait that long, it does not wait any more until
  // the journal has taken everything.
  static constexpr std::chrono::milliseconds patience{100};
  // Messages that wait when this object goes are sent for this long.
  static constexpr std::chrono::milliseconds last_patience{1000};

  // `name` is that of the thread, of 15 characters at most. Where no thread can be started, `write`
  // sends by itself.
  JournalWriter(const char* name, Send send, Lost lost);
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;
  ~JournalWriter();

  void write(Message message);

 private:
  struct State;
  std::shared_ptr<State> state_;  // the thread's too, which may outlive this object
  bool has_thread_ = false;
};

}  // namespace rdtd
