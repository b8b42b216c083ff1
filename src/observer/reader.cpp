#include "rdtd/observer/reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "rdtd/observer/ring.hpp"

namespace rdtd {

namespace {

// No machine has so many groups that a sample of them takes more.
constexpr size_t longest_line = 8 << 20;
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd";
// How much the clocks may differ between two samples of one boot.
constexpr uint64_t drift_usec = 2'000'000;
// The year 2017, in which the kernel got resctrl.
constexpr uint64_t unset_usec = 1'500'000'000'000'000;

// Hands on the samples of the period, of all files.
class Output {
 public:
  Output(const Period& period, const UseSample& use) : period_(period), use_(use) {}

  void begin_file() { new_file_ = new_header_ = true; }
  void add(const observe::Header& header, observe::Sample sample) {
    place_in_time(header.boot, sample);
    if (!out.all) out.all = {sample.time_usec, sample.time_usec};
    out.all->to_usec = sample.time_usec;
    observe::update_schemata(schemata_, sample);
    if (sample.time_usec < period_.begin_usec() || sample.time_usec > period_.until_usec) return;
    if (!std::exchange(used_, true)) sample.schemata = schemata_;
    sample.leads = sample.time_usec < period_.since_usec;
    if (!sample.leads) {
      if (out.samples == 0) {
        out.header = header;
        out.from_usec = sample.time_usec;
      }
      out.samples++;
      out.to_usec = sample.time_usec;
    }
    sample.begins_file = std::exchange(new_header_, false);
    use_(header, sample);
  }

  ReadRecording out;

 private:
  // The clock of another boot begins at 0.
  void place_in_time(const std::string& boot, observe::Sample& sample) {
    const uint64_t raw = sample.monotonic_usec;
    if (std::exchange(new_file_, false)) {
      sample.first = last_ && !is_same_boot(boot, sample);
      if (sample.first) offset_ = last_->raw + offset_ + passed_until(sample) - raw;
      boot_ = boot;
    }
    last_ = {raw, sample.time_usec};
    sample.monotonic_usec = raw + offset_;
  }
  [[nodiscard]] bool is_same_boot(const std::string& boot, const observe::Sample& sample) const {
    if (sample.monotonic_usec < last_->raw) return false;
    if (!boot.empty() && !boot_.empty()) return boot == boot_;
    // Unsigned: a file may say anything.
    const uint64_t passed = sample.monotonic_usec - last_->raw;
    const uint64_t by_clock = sample.time_usec - last_->time;
    return std::min(passed - by_clock, by_clock - passed) <= drift_usec;
  }
  // Since the last sample, which may be of another boot. A clock that is behind, or that nobody had
  // set yet, does not say how long that is.
  [[nodiscard]] uint64_t passed_until(const observe::Sample& sample) const {
    if (last_->time > unset_usec && sample.time_usec > last_->time)
      return sample.time_usec - last_->time;
    return sample.monotonic_usec > last_->raw ? sample.monotonic_usec - last_->raw : 1;
  }

  struct Last {
    uint64_t raw = 0, time = 0;
  };
  const Period& period_;
  const UseSample& use_;
  std::map<std::string, std::string> schemata_;  // in force at the sample
  std::optional<Last> last_;
  std::string boot_;     // of the last file
  uint64_t offset_ = 0;  // modulo 2^64
  bool new_file_ = true, new_header_ = true, used_ = false;
};

// The lines of one file.
class Lines {
 public:
  explicit Lines(Output& output) : output_(output) {}

  // Returns the problem, if there is one.
  std::optional<observe::BadRecording> feed(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      line_ += bytes.substr(0, end);
      if (line_.size() > longest_line)
        return observe::BadRecording{reader_.lines() + 1, "the line is too long"};
      if (end == std::string_view::npos) return std::nullopt;
      bytes.remove_prefix(end + 1);
      if (auto bad = use(true)) return bad;
    }
    return std::nullopt;
  }
  std::optional<observe::BadRecording> finish() {
    if (!line_.empty())
      if (auto bad = use(false)) return bad;
    if (reader_.lines() == 0) return observe::BadRecording{1, "the file is empty"};
    output_.out.cut_off = reader_.cut_off();
    return std::nullopt;
  }
  [[nodiscard]] size_t lines() const { return reader_.lines(); }

 private:
  std::optional<observe::BadRecording> use(bool whole) {
    auto sample = reader_.line(std::exchange(line_, {}), whole);
    if (!sample) return sample.error();
    if (*sample && (*sample)->begins_file) output_.begin_file();
    if (*sample) output_.add(reader_.header(), std::move(**sample));
    return std::nullopt;
  }

  Output& output_;
  observe::RecordingReader reader_;
  std::string line_;
};

class Decompressor {
 public:
  // Nothing if the bytes are damaged.
  template <class Use>
  bool feed(std::string_view bytes, const Use& use) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    std::array<char, 65536> buffer{};
    for (ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
         in.pos < in.size || out.pos == out.size;) {
      out.pos = 0;
      const size_t left = ZSTD_decompressStream(context_.get(), &out, &in);
      if (ZSTD_isError(left) != 0) return false;
      if (!use(std::string_view(buffer.data(), out.pos))) return true;
    }
    return true;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { (void)ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
};

std::optional<Unreadable> read_file(const Directory& directory, const std::string& file,
                                    Output& output) {
  const auto opened = directory.open_file(file, O_RDONLY | O_NONBLOCK);
  if (!opened) return Unreadable{.error = opened.error()};
  Lines lines(output);
  std::optional<observe::BadRecording> bad;
  std::optional<Decompressor> compressed;
  std::array<char, 65536> buffer{};
  for (bool is_begin = true; !bad; is_begin = false) {
    const ssize_t count = ::read(opened->get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Unreadable{.error = {"read", directory.path_of(file), errno, {}}};
    if (count == 0) break;
    const std::string_view bytes(buffer.data(), static_cast<size_t>(count));
    if (is_begin && bytes.starts_with(zstd_magic)) compressed.emplace();
    if (!compressed) {
      bad = lines.feed(bytes);
      continue;
    }
    const bool whole = compressed->feed(bytes, [&](std::string_view text) {
      bad = lines.feed(text);
      return !bad;
    });
    if (!whole) bad = observe::BadRecording{lines.lines() + 1, "the file is damaged from here on"};
  }
  if (!bad) bad = lines.finish();
  if (!bad) return std::nullopt;
  return Unreadable{{"read", directory.path_of(file), 0, {}}, bad->line, bad->why};
}

bool is_empty(const Directory& directory, const std::string& file) {
  struct stat status{};
  return ::fstatat(directory.fd(), file.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         status.st_size == 0;
}

// The times of its samples.
std::optional<ReadRecording::Extent> extent_of(const Directory& directory,
                                               const std::string& file) {
  const Period none{.since_usec = UINT64_MAX, .until_usec = 0};
  const UseSample use = [](const auto&, const auto&) {};
  Output output(none, use);
  (void)read_file(directory, file, output);
  return output.out.all;
}

}  // namespace

std::string Unreadable::text() const {
  return why.empty() ? error.text() : fmt::format("{}:{}: {}", error.path, line, why);
}

std::expected<ReadRecording, Unreadable> read_recording(const Directory& directory,
                                                        const std::string& file,
                                                        const Period& period,
                                                        const UseSample& use) {
  Output output(period, use);
  if (auto bad = read_file(directory, file, output)) return std::unexpected(std::move(*bad));
  return std::move(output.out);
}

Result<ReadRecording> read_ring(const Directory& directory, const Period& period,
                                const UseSample& use) {
  const auto files = Ring::files(directory);
  if (!files) return std::unexpected(files.error());
  Output output(period, use);
  for (size_t i = 0; i < files->size(); ++i) {
    const uint64_t begin = Ring::begin_usec((*files)[i]);
    // The last one begins where it ends by the clock of now, and the others where the next begins,
    // unless the clock was set back meanwhile.
    const uint64_t next = i + 1 < files->size() ? Ring::begin_usec((*files)[i + 1]) : 0;
    if (begin > period.until_usec && next >= begin) continue;
    if (next <= period.begin_usec() && next >= begin) continue;
    // One bad file does not hide the others; the oldest may be removed while it is read, and the
    // last has just begun, or its writer was killed then.
    if (const auto bad = read_file(directory, (*files)[i], output);
        bad && bad->error.code != ENOENT &&
        (i + 1 < files->size() || !is_empty(directory, (*files)[i])))
      output.out.problems.push_back(bad->text());
  }
  ReadRecording& out = output.out;
  if (out.samples > 0 || files->empty()) return std::move(out);
  // Files were left out by their names: those at both ends say when there are samples.
  const auto first = extent_of(directory, files->front());
  const auto last = extent_of(directory, files->back());
  if (first || last) out.all = {(first ? first : last)->from_usec, (last ? last : first)->to_usec};
  return std::move(out);
}

}  // namespace rdtd
