// Ring: the recordings of the last hours in a directory, as files of JSON Lines that zstd(1)
// compresses ("zstdcat *" is all of them). The oldest files go when there is no more room. What was
// written is never touched again: a full disk, or a kill at any moment, costs the last seconds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/unique_fd.hpp"

struct ZSTD_CCtx_s;

namespace rdtd {

class Ring {
 public:
  // `bytes`: that all files together take of the disk, at least 64 KiB.
  Ring(Directory directory, uint64_t bytes);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();

  // Whether the next line begins a file, and `header` is written before it.
  [[nodiscard]] bool begins_file() const { return !file_ || written_ >= file_bytes_; }
  // A line of a sample, with its line break. What fails is tried again with the next one, in
  // another file. `time_usec`: of the sample, CLOCK_REALTIME.
  Result<void> append(std::string_view header, std::string_view line, uint64_t time_usec);

  // The names of the files of a ring, the oldest first.
  [[nodiscard]] static Result<std::vector<std::string>> files(const Directory& directory);
  // When the first sample of a file was taken, at the earliest, from its name; CLOCK_REALTIME.
  [[nodiscard]] static uint64_t begin_usec(std::string_view file);

 private:
  enum class Flush { later, now, end };
  Result<void> begin(uint64_t time_usec);
  Result<void> compress(std::string_view text, Flush flush);
  Result<void> write(std::string_view bytes);
  Result<void> remove_oldest();
  void close();

  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  Directory directory_;
  uint64_t bytes_, file_bytes_;
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  UniqueFd file_;
  std::string name_;
  uint64_t written_ = 0;  // to the file
  uint64_t flushed_usec_ = 0;
};

}  // namespace rdtd
