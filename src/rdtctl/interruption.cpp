#include "interruption.hpp"

#include <csignal>
#include <initializer_list>

namespace rdtd {

namespace {

volatile std::sig_atomic_t noted = 0;

}  // namespace

void note_interruptions() {
  struct sigaction action{};
  action.sa_handler = [](int signal) { noted = signal; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction before{};
    (void)::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) (void)::sigaction(signal, &action, nullptr);
  }
}

void note_child_ends() {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  (void)::sigaction(SIGCHLD, &action, nullptr);
}

bool interrupted() { return noted != 0; }

int status_after(int status) {
  constexpr int of_signals = 128;
  return noted == 0 ? status : of_signals + static_cast<int>(noted);
}

}  // namespace rdtd
