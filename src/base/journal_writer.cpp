#include "rdtd/base/journal_writer.hpp"

#include <sys/prctl.h>

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace rdtd {

namespace {

size_t bytes_of(const JournalWriter::Message& message) {
  size_t out = 0;
  for (const std::string& field : message) out += field.size();
  return out;
}

}  // namespace

struct JournalWriter::State {
  Send send;
  Lost lost_message;
  std::mutex mutex;
  std::condition_variable work, progress;
  std::deque<Message> waiting;
  size_t bytes = 0;                // of those
  size_t lost = 0;                 // since the last message about that
  uint64_t written = 0, sent = 0;  // messages
  bool stuck = false;
  bool stop = false;

  [[nodiscard]] bool has_work() const { return !waiting.empty() || lost > 0; }
  void run();
};

// The count of what was lost comes after the messages that were kept before, and before any later
// one: until it is sent, later messages are lost too.
void JournalWriter::State::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [this] { return stop || has_work(); });
    if (!has_work()) return;
    const bool is_about_loss = waiting.empty();
    const size_t reported = is_about_loss ? lost : 0;
    const Message message = is_about_loss ? lost_message(reported) : waiting.front();
    lock.unlock();
    send(message);
    lock.lock();
    lost -= reported;
    if (!is_about_loss) {
      waiting.pop_front();
      bytes -= bytes_of(message);
      sent++;
    }
    if (!has_work()) stuck = false;
    progress.notify_all();
  }
}

// A signal that the process waits for must not end it because this thread does not block it.
JournalWriter::JournalWriter(const char* name, Send send, Lost lost)
    : state_(std::make_shared<State>()) {
  state_->send = std::move(send);
  state_->lost_message = std::move(lost);
  sigset_t all;
  sigset_t before;
  (void)::sigfillset(&all);
  (void)::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([state = state_, name] {
      (void)::prctl(PR_SET_NAME, name);
      state->run();
    }).detach();
    has_thread_ = true;
  } catch (const std::system_error&) {
    has_thread_ = false;
  }
  (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

JournalWriter::~JournalWriter() {
  std::unique_lock lock(state_->mutex);
  state_->stop = true;
  state_->work.notify_one();
  if (has_thread_)
    state_->progress.wait_for(lock, last_patience, [this] { return !state_->has_work(); });
}

void JournalWriter::write(Message message) {
  if (!has_thread_) return state_->send(message);
  std::unique_lock lock(state_->mutex);
  const size_t bytes = bytes_of(message);
  const bool full = state_->waiting.size() >= max_messages || state_->bytes + bytes > max_bytes;
  if (full || state_->lost > 0) {
    state_->lost++;
    return;
  }
  state_->waiting.push_back(std::move(message));
  state_->bytes += bytes;
  const uint64_t ticket = ++state_->written;
  state_->work.notify_one();
  if (state_->stuck) return;
  state_->stuck =
      !state_->progress.wait_for(lock, patience, [&] { return state_->sent >= ticket; });
}

}  // namespace rdtd
