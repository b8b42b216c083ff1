// Recording: what the groups used over a time, as a file of JSON Lines: a header, then a sample a
// line. The program that writes one may be killed at any moment: the last line may be cut off.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/model/counters.hpp"

namespace rdtd::observe {

struct Header {
  std::string host;     // name of the machine
  std::string kernel;   // release
  std::string version;  // of rdtd
  double interval = 0;  // seconds between samples
  // Size of a way by resource ("L3") and domain, where the kernel tells.
  std::map<std::string, std::map<DomainId, uint64_t>> way_bytes;
  // The ways that I/O devices fill too, as bits.
  std::map<std::string, std::map<DomainId, uint64_t>> io_ways;
  // Bytes/s that a domain can carry, where `rdtctl bench --ceiling` has measured it.
  std::map<std::string, std::map<DomainId, double>> ceilings;
  bool mba_mbps = false;  // resctrl is mounted so: the kernel changes MB by itself
  // The values that MB can have: multiples of `step` from `least` on, per cent or bytes/s. A step
  // of 0: not known.
  struct MbValues {
    bool percent = true;
    double step = 0, least = 0;
    bool operator==(const MbValues&) const = default;
  } mb;
  std::string boot;  // id of the boot, so that a clock that was set is not taken for another one
  bool operator==(const Header&) const = default;
};

// The value that a header has for a domain; nothing for 0.
template <class T>
[[nodiscard]] std::optional<T> of_domain(const std::map<std::string, std::map<DomainId, T>>& all,
                                         const std::string& resource, DomainId domain) {
  const auto domains = all.find(resource);
  if (domains == all.end()) return std::nullopt;
  const auto found = domains->second.find(domain);
  return found == domains->second.end() || found->second <= 0 ? std::nullopt
                                                              : std::optional(found->second);
}

// Marks after which the policy's own amounts are in force.
inline constexpr const char* started_mark = "rdtd-observer was started";
inline constexpr const char* loaded_mark = "the policy was loaded";
inline constexpr const char* read_mark = "rdtd-observer read the policy files again";
inline constexpr const char* guard_ended_mark = "the guard's lease ended";

struct Sample {
  uint64_t time_usec = 0;  // CLOCK_REALTIME
  // CLOCK_BOOTTIME: a time in which the machine slept is one without samples. Rates are between
  // these.
  uint64_t monotonic_usec = 0;
  std::vector<DomainCounters> counters;
  // By group label, of the groups that are new or have other amounts than in the sample before:
  // "L3:0-1=f MB:0-1=100". "" for a group that is gone.
  std::map<std::string, std::string> schemata;
  // Events since the sample before: "the policy was loaded".
  std::vector<std::string> marks;
  // Not written: the sample before is of another file, so that no rate is between the two.
  bool first = false;
  // Not written: the header may be another one than for the sample before.
  bool begins_file = false;
  // Not written: it is before the period that was asked for, and does not count.
  bool leads = false;
};

// No machine has more: a file may have any number.
inline constexpr size_t most_groups = 2000;

// Takes up what the sample says of the amounts in force, by group label. `Kept`: made of the text.
template <class Kept>
void update_schemata(std::map<std::string, Kept>& in_force, const Sample& sample) {
  for (const auto& [group, text] : sample.schemata) {
    if (text.empty())
      in_force.erase(group);
    else if (in_force.size() < most_groups || in_force.contains(group))
      in_force.insert_or_assign(group, Kept(text));
  }
}

struct Recording {
  Header header;
  std::vector<Sample> samples;  // in the order of monotonic_usec
  bool cut_off = false;         // the last line is not whole
};

struct BadRecording {
  size_t line = 0;  // the first is 1
  std::string why;
};

// Each ends in a line break.
[[nodiscard]] std::string header_line(const Header& header);
[[nodiscard]] std::string sample_line(const Sample& sample);

// Reads a recording line by line, so that one of any length takes the memory of a sample.
class RecordingReader {
 public:
  // A line without its line break; nothing for a header, and for a last line that is cut off.
  // `whole`: the line break was there. A header may come again, where files were joined: the sample
  // after it begins a file.
  [[nodiscard]] std::expected<std::optional<Sample>, BadRecording> line(std::string_view text,
                                                                        bool whole);
  [[nodiscard]] const Header& header() const { return header_; }
  [[nodiscard]] bool cut_off() const { return cut_off_; }
  // Of the lines so far, of which the first is the header.
  [[nodiscard]] size_t lines() const { return number_; }

 private:
  Header header_;
  size_t number_ = 0;
  uint64_t last_usec_ = 0;
  bool cut_off_ = false, begins_file_ = false;
};
[[nodiscard]] std::expected<Recording, BadRecording> parse_recording(std::string_view text);

}  // namespace rdtd::observe
