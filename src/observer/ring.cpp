#include "rdtd/observer/ring.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

constexpr std::string_view suffix = ".jsonl.zst";
// SEQUENCE-TIME: the clock may be set back, and the order stays.
constexpr size_t sequence_digits = 12, time_digits = 20;
constexpr uint64_t highest_sequence = 999'999'999'999;
constexpr size_t stem = sequence_digits + 1 + time_digits;
constexpr uint64_t least_bytes = 64 << 10, most_file_bytes = 4 << 20;
constexpr uint64_t files_per_ring = 16;
// Each start of the program begins one: many starts must not leave very many.
constexpr size_t most_files = 256;
// The most that a kill loses. If data were written more often, the files would be larger.
constexpr uint64_t flush_usec = 5'000'000;
constexpr int level = 6;

// The space that it takes on the disk, which is more than its length where blocks are large.
uint64_t size_of(const Directory& directory, const std::string& name) {
  struct stat status{};
  return ::fstatat(directory.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0
             ? std::max(static_cast<uint64_t>(status.st_size),
                        static_cast<uint64_t>(status.st_blocks) * 512)
             : 0;
}

std::optional<uint64_t> sequence_of(std::string_view file) {
  return parse_unsigned<uint64_t>(file.substr(0, sequence_digits));
}

}  // namespace

void Ring::Free::operator()(ZSTD_CCtx_s* context) const { (void)ZSTD_freeCCtx(context); }

Ring::Ring(Directory directory, uint64_t bytes)
    : directory_(std::move(directory)),
      bytes_(std::max(bytes, least_bytes)),
      file_bytes_(std::min(bytes_ / files_per_ring, most_file_bytes)),
      context_(ZSTD_createCCtx()) {
  (void)ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
}

Ring::~Ring() {
  if (file_) (void)compress({}, Flush::end);
}

uint64_t Ring::begin_usec(std::string_view file) {
  return parse_unsigned<uint64_t>(file.substr(sequence_digits + 1, time_digits)).value_or(0);
}

Result<std::vector<std::string>> Ring::files(const Directory& directory) {
  const auto entries = directory.list();
  if (!entries) return std::unexpected(entries.error());
  std::vector<std::string> out;
  for (const Directory::Entry& entry : *entries)
    if (!entry.is_directory && entry.name.size() == stem + suffix.size() &&
        entry.name.ends_with(suffix) && entry.name[sequence_digits] == '-' &&
        sequence_of(entry.name))
      out.push_back(entry.name);
  return out;
}

// So that there is room for one more.
Result<void> Ring::remove_oldest() {
  const auto all = files(directory_);
  if (!all) return std::unexpected(all.error());
  uint64_t total = 0;
  for (const std::string& name : *all) total += size_of(directory_, name);
  size_t left = all->size();
  for (const std::string& name : *all) {
    if (total + file_bytes_ <= bytes_ && left < most_files) break;
    left--;
    total -= size_of(directory_, name);
    if (::unlinkat(directory_.fd(), name.c_str(), 0) < 0 && errno != ENOENT)
      return std::unexpected(Error{"remove", directory_.path_of(name), errno, {}});
  }
  return {};
}

Result<void> Ring::begin(uint64_t time_usec) {
  if (auto removed = remove_oldest(); !removed) return removed;
  const auto all = files(directory_);
  if (!all) return std::unexpected(all.error());
  const uint64_t last = all->empty() ? 0 : *sequence_of(all->back());
  // A name with one more digit would be none of the ring's: nothing would remove it.
  if (last == highest_sequence)
    return std::unexpected(Error{"number a file after", directory_.path_of(all->back()), ERANGE,
                                 "no file has a higher number; remove it"});
  name_ = fmt::format("{:0{}}-{:0{}}{}", last + 1, sequence_digits, time_usec, time_digits, suffix);
  auto created =
      directory_.open_file(name_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, 0640);
  if (!created) return std::unexpected(created.error());
  file_ = std::move(*created);
  written_ = 0;
  flushed_usec_ = time_usec;
  (void)ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only);
  return {};
}

Result<void> Ring::append(std::string_view header, std::string_view line, uint64_t time_usec) {
  if (file_ && written_ >= file_bytes_) {
    if (auto ended = compress({}, Flush::end); !ended) {
      close();
      return ended;
    }
    close();
  }
  Result<void> done;
  if (!file_) {
    done = begin(time_usec);
    if (done) done = compress(header, Flush::now);
  }
  const bool due = time_usec < flushed_usec_ || time_usec - flushed_usec_ >= flush_usec;
  if (done) done = compress(line, due ? Flush::now : Flush::later);
  if (due) flushed_usec_ = time_usec;
  if (!done) close();
  return done;
}

Result<void> Ring::compress(std::string_view text, Flush flush) {
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  const ZSTD_EndDirective directive = flush == Flush::end   ? ZSTD_e_end
                                      : flush == Flush::now ? ZSTD_e_flush
                                                            : ZSTD_e_continue;
  std::array<char, 16384> buffer{};
  for (;;) {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    const size_t left = ZSTD_compressStream2(context_.get(), &out, &in, directive);
    if (ZSTD_isError(left) != 0)
      return std::unexpected(Error{"compress", directory_.path_of(name_), EIO, {}});
    if (auto wrote = write({buffer.data(), out.pos}); !wrote) return wrote;
    if (directive == ZSTD_e_continue ? in.pos == in.size : left == 0) return {};
  }
}

Result<void> Ring::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(Error{"write", directory_.path_of(name_), errno, {}});
    written_ += static_cast<uint64_t>(count);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

// A file in which nothing could be written is none.
void Ring::close() {
  if (file_ && written_ == 0) (void)::unlinkat(directory_.fd(), name_.c_str(), 0);
  file_ = UniqueFd();
}

}  // namespace rdtd
