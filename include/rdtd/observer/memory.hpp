// Memory: the episodes that rdtd-observer has seen since its start, and how often each pair of
// groups had one. Bounded, whatever the groups do: the pair that had none for longest is forgotten.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "rdtd/model/contention.hpp"
#include "rdtd/observe/episode.hpp"

namespace rdtd {

[[nodiscard]] EpisodeRow row_of(const observe::Episode& episode, bool running);

class Memory {
 public:
  void add(const observe::Episode& episode);
  // Those that ended since then, the oldest first.
  [[nodiscard]] std::vector<EpisodeRow> since(uint64_t usec) const;
  // With those that have not ended, so that a rate of seconds is never more than one a second.
  [[nodiscard]] std::vector<ContentionCount> counts(
      const std::vector<observe::Episode>& running) const;
  // Whether the journal gets this one: one message for each pair of groups and minute.
  [[nodiscard]] bool may_log(const observe::Episode& episode);

 private:
  using Pair = std::tuple<std::string, uint32_t, std::string, std::string, std::string>;
  struct Counted {
    ContentionCount count;
    uint64_t last = 0;  // the number of its last episode
  };
  using Counts = std::map<Pair, Counted>;
  static void make_room(Counts& counts);
  static void count(const EpisodeRow& row, uint64_t number, Counts& counts);

  std::deque<EpisodeRow> episodes_;
  Counts counts_;
  uint64_t number_ = 0;  // of the last episode
  std::map<Pair, uint64_t> logged_usec_;
};

}  // namespace rdtd
