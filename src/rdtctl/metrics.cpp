// metrics: what Prometheus is to know, printed or put into a file.
#include "metrics_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <optional>

#include "print.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

struct Target {
  Directory directory;
  std::string name;
};

Result<Target> target_of(const std::filesystem::path& path) {
  auto directory = Directory::open(path.has_parent_path() ? path.parent_path().string() : ".");
  if (!directory) return std::unexpected(directory.error());
  return Target{std::move(*directory), path.filename().string()};
}

bool is_trusted(uid_t owner) { return owner == 0 || owner == ::geteuid(); }

// Links such as /proc/self/fd/1, which /dev/stdout leads to, are no paths.
bool is_of(const std::string& proc, const Directory& directory) {
  struct stat found{}, root{};
  return ::fstat(directory.fd(), &found) == 0 && ::stat(proc.c_str(), &root) == 0 &&
         found.st_dev == root.st_dev;
}

// The target of a link; nothing if there is no link. A user who may write to a directory can put
// one there: it is followed only if it is the caller's or root's, in a directory that is too, or
// the caller would overwrite what another user chooses.
Result<std::optional<std::filesystem::path>> link_of(const Target& target, const std::string& path,
                                                     const std::string& proc) {
  const auto refused = [&](std::string why) {
    return std::unexpected(Error{"write", path, 0, std::move(why)});
  };
  struct stat found{}, parent{};
  if (::fstatat(target.directory.fd(), target.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) < 0) {
    if (errno == ENOENT) return std::nullopt;
    return errno_error("write", path);
  }
  if (!S_ISLNK(found.st_mode) || is_of(proc, target.directory)) return std::nullopt;
  if (::fstat(target.directory.fd(), &parent) < 0) return errno_error("write", path);
  if (!is_trusted(found.st_uid)) return refused("it is a link of another user");
  if (!is_trusted(parent.st_uid)) return refused("it is a link in a directory of another user");
  std::array<char, PATH_MAX> text{};
  const ssize_t size =
      ::readlinkat(target.directory.fd(), target.name.c_str(), text.data(), text.size());
  if (size < 0) return errno_error("write", path);
  return std::filesystem::path(target.directory.path()) /
         std::string_view(text.data(), static_cast<size_t>(size));
}

// A file is put in place at once, for a collector that may read at any moment. A pipe or a device
// is written to, unless another user may have put it there: one that nobody reads would never end.
Result<void> put(const Target& target, const std::string& text, const std::string& path,
                 const std::string& proc) {
  struct stat found{};
  const bool exists = ::fstatat(target.directory.fd(), target.name.c_str(), &found, 0) == 0;
  const bool plain = !exists || (S_ISREG(found.st_mode) && !is_of(proc, target.directory));
  if (plain) return target.directory.replace(target.name, text);
  if (!is_trusted(found.st_uid))
    return std::unexpected(Error{"write", path, 0, "it belongs to another user"});
  auto written = target.directory.write(target.name, text);
  // Without all of the text.
  if (!written && written.error().operation.starts_with("write '"))
    written.error().operation = "write";
  return written;
}

Result<void> write_file(const std::string& text, const std::string& file, const std::string& proc) {
  constexpr int most_links = 40;  // as the kernel has it
  std::filesystem::path path(file);
  for (int links = 0; links < most_links; ++links) {
    const auto target = target_of(path);
    if (!target) return std::unexpected(target.error());
    auto next = link_of(*target, path.string(), proc);
    if (!next) return std::unexpected(next.error());
    if (!*next) return put(*target, text, path.string(), proc);
    path = std::move(**next);
  }
  return std::unexpected(Error{"write", file, ELOOP, {}});
}

int write_out(const std::string& text, const std::string& file, const std::string& proc) {
  const auto written = write_file(text, file, proc);
  return written ? Exit::ok : report_file(written.error());
}

}  // namespace

int verbs::metrics(const Context& context, const std::string& file) {
  const auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  auto counters = tree->read_counters();
  if (!counters) return report(counters.error());
  MetricsSource source;
  source.counters = std::move(*counters);
  if (auto machine = read_machine(context)) {
    source.capabilities = std::move(machine->capabilities);
    source.snapshot = std::move(machine->snapshot);
  }
  // Of a copied tree there is no daemon; where it does not run here, there is nothing of it to
  // report.
  auto client = context.snapshot_given ? std::unexpected(Client::Failure{}) : Client::connect();
  if (client) {
    // One that does not answer is not asked again: what the kernel counts is not to wait for it.
    if (auto daemon = client->properties()) {
      source.daemon = std::move(*daemon);
      source.locks = client->list_locks().value_or(std::vector<LockStatus>{});
    }
    auto observed = client->observed(UINT64_MAX).value_or(Client::Observed{});
    source.contention = std::move(observed.counts);
    source.guard = std::move(observed.guard);
  }
  const std::string text = metrics_text(source);
  if (!file.empty() && file != "-") return write_out(text, file, context.proc);
  print("{}", text);
  return Exit::ok;
}

}  // namespace rdtd
