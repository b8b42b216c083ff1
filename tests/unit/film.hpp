// Film: series of samples of made-up groups, and what the detector says of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/observe/detector.hpp"

namespace rdtd::observe {

inline constexpr double mib = 1 << 20;

// A group in one domain: what it has and does at each second.
struct Actor {
  std::string group;
  std::string ways;                         // "f"
  std::function<double(double)> occupancy;  // MiB
  std::function<double(double)> traffic;    // MiB/s
  uint32_t domain = 0;
};

inline std::function<double(double)> always(double value) {
  return [value](double) { return value; };
}
// `low` before and after the seconds from `from` to `to`, `high` between them.
inline std::function<double(double)> between(double from, double to, double low, double high) {
  return [=](double t) { return t >= from && t < to ? high : low; };
}

// Traffic is counted in domains of these kinds, and occupancy is not.
inline void count_in(const std::vector<std::string>& kinds, Sample& sample) {
  std::vector<DomainCounters> rows;
  for (const std::string& kind : kinds)
    for (DomainCounters row : sample.counters) {
      row.resource = kind;
      row.counters.erase(occupancy_counter);
      rows.push_back(std::move(row));
    }
  sample.counters = std::move(rows);
}

struct Played {
  std::vector<std::string> sentences;
  std::vector<Episode> ended, running;
  std::vector<Stream> streams;
};

class Film {
 public:
  explicit Film(std::vector<Actor> actors, double interval = 1)
      : actors_(std::move(actors)), interval_(interval), bytes_(actors_.size()) {
    header_.interval = interval;
    header_.way_bytes["L3"] = {{DomainId{0}, 1 << 20}, {DomainId{1}, 1 << 20}};
  }
  std::function<void(double, Sample&)> change = [](double, Sample&) {};

  [[nodiscard]] std::vector<Sample> shoot(double seconds) {
    std::vector<Sample> out;
    for (double t = 0; t <= seconds; t += interval_) {
      Sample sample;
      sample.monotonic_usec = 1'000'000 + static_cast<uint64_t>(t * 1e6);
      sample.time_usec = 1'700'000'000'000'000 + static_cast<uint64_t>(t * 1e6);
      for (size_t i = 0; i < actors_.size(); ++i) {
        const Actor& actor = actors_[i];
        bytes_[i] += actor.traffic(t) * mib * interval_;
        sample.counters.push_back(
            {actor.group,
             "L3",
             DomainId{actor.domain},
             {{"llc_occupancy", static_cast<uint64_t>(actor.occupancy(t) * mib)},
              {"mbm_total_bytes", static_cast<uint64_t>(bytes_[i])}}});
        if (out.empty()) sample.schemata[actor.group] = "L3:0-1=" + actor.ways + " MB:0-1=100";
      }
      change(t, sample);
      out.push_back(std::move(sample));
    }
    return out;
  }
  [[nodiscard]] Played play(double seconds) { return play(shoot(seconds)); }
  [[nodiscard]] Played play(const std::vector<Sample>& samples) const {
    Played out;
    Detector detector(header_);
    for (const Sample& sample : samples)
      for (Episode& episode : detector.add(sample)) {
        out.sentences.push_back(sentence(episode));
        out.ended.push_back(std::move(episode));
      }
    out.running = detector.running();
    out.streams = detector.streams();
    return out;
  }
  [[nodiscard]] Header& header() { return header_; }

 private:
  std::vector<Actor> actors_;
  double interval_;
  Header header_;
  std::vector<double> bytes_;
};

// redis has 4 MiB; batch comes at 30 s, and takes 3 MiB until 60 s.
inline Actor victim() { return {"redis", "ff", between(30, 60, 4, 1), between(30, 60, 5, 40)}; }
inline Actor taker() {
  return {"batch", "ff", between(30, 60, 0.5, 3.5), between(30, 60, 0.1, 200)};
}
inline Actor bystander() { return {"web", "ff", always(2), always(8)}; }

}  // namespace rdtd::observe
