// snapshot: a copy of resctrl for --resctrl on another machine.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "rdtd/resctrl/members.hpp"
#include "rdtd/resctrl/ownership.hpp"
#include "rdtd/resctrl/read.hpp"
#include "print.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

namespace fs = std::filesystem;

// Threads of this machine mean nothing elsewhere; devices in a group do.
std::string without_threads(std::string_view tasks) {
  std::string out;
  for (const unsigned iommu_group : resctrl::parse_members(tasks).iommu_groups)
    out += resctrl::iommu_group_word(iommu_group) + "\n";
  return out;
}

// Leaves out what cannot be read: files that can only be written, and of a pseudo-locked group the
// directory of its monitoring groups, which the kernel closes to all but root.
Result<void> copy(const Directory& from, const Directory& to) {
  const auto entries = from.list();
  if (!entries) return std::unexpected(entries.error());
  for (const Directory::Entry& entry : *entries) {
    if (entry.is_directory) {
      if (::mkdirat(to.fd(), entry.name.c_str(), 0755) != 0)
        return errno_error("make", to.path_of(entry.name));
      const auto source = from.open_directory(entry.name);
      const auto target = to.open_directory(entry.name);
      // ENOENT: a group that was removed meanwhile.
      if (!source && (source.error().code == ENOENT || source.error().code == EACCES)) continue;
      if (!source || !target) return std::unexpected(source ? target.error() : source.error());
      if (auto copied = copy(*source, *target); !copied) return copied;
      continue;
    }
    auto text = from.read(entry.name);
    if (entry.name == "tasks") text = without_threads(text.value_or(""));
    if (!text) continue;
    if (auto written = to.replace_by_umask(entry.name, *text); !written) return written;
  }
  return {};
}

Result<Directory> make_directory(const Directory& parent, const std::string& name) {
  if (::mkdirat(parent.fd(), name.c_str(), 0755) != 0)
    return errno_error("make", parent.path_of(name));
  return parent.open_made(name);
}

// Removes the content of the directory, by its descriptor: the name may be another one's by now.
void empty(const Directory& directory) {
  const auto entries = directory.list();
  if (!entries) return;
  for (const Directory::Entry& entry : *entries) {
    if (entry.is_directory)
      if (const auto below = directory.open_directory(entry.name); below) empty(*below);
    (void)::unlinkat(directory.fd(), entry.name.c_str(), entry.is_directory ? AT_REMOVEDIR : 0);
  }
}

Result<void> fill(const Context& context, const TreeMachine& machine, const Directory& target) {
  const auto source = Directory::open_untrusted(context.resctrl);
  if (!source) return std::unexpected(source.error());
  if (auto copied = copy(*source, target); !copied) return copied;
  // The record says which of the groups are rdtd's. A copy of a copy has one already.
  if (::mkdirat(target.fd(), snapshot_state, 0755) != 0 && errno != EEXIST)
    return errno_error("make", target.path_of(snapshot_state));
  auto state = target.open_directory(snapshot_state);
  auto ownership = state ? Ownership::load(std::move(*state)) : std::unexpected(state.error());
  if (!ownership) return std::unexpected(ownership.error());
  const std::vector<std::string> owned(machine.snapshot.owned.begin(),
                                       machine.snapshot.owned.end());
  if (auto recorded = ownership->expect(owned); !recorded) return recorded;
  // resctrl has no file for these three facts; a copy needs one for each.
  if (const auto locking = machine.capabilities.pseudo_locking)
    if (auto written =
            target.replace_by_umask(resctrl::pseudo_locking_file, *locking ? "1\n" : "0\n");
        !written)
      return written;
  if (const auto& cpus = machine.snapshot.possible_cpus)
    if (auto written =
            target.replace_by_umask(resctrl::possible_cpus_file, format_cpu_list(*cpus) + "\n");
        !written)
      return written;
  return target.replace_by_umask(resctrl::mount_options_file,
                                 format_mount_options(machine.mount) + "\n");
}

// Names of something else than a directory; empty for one of a directory.
std::string why_no_directory(const std::string& name) {
  if (name == "-") return "name one";
  for (const std::string_view suffix :
       {".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tar"})
    if (name.ends_with(suffix) && name.size() > suffix.size()) {
      const std::string stem = name.substr(0, name.size() - suffix.size());
      return fmt::format("rdtctl snapshot {0}, then tar -{1}f {2} {0}", stem,
                         suffix.ends_with("gz") ? "cz" : "ca", name);
    }
  return {};
}

}  // namespace

// The copy gets its name when it is complete: a failed attempt leaves nothing that the next one
// would find in its way.
int verbs::snapshot(const Context& context, const std::string& directory) {
  if (const std::string why = why_no_directory(directory); !why.empty()) {
    note("rdtctl: '{}': snapshot makes a directory: {}\n", directory, why);
    return Exit::usage;
  }
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  fs::path target = fs::path(directory).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // "DIR/"
  std::error_code failure;
  const fs::file_type present = fs::symlink_status(target, failure).type();
  if (present != fs::file_type::not_found)
    return report_file(
        {"make", directory, present == fs::file_type::none ? failure.value() : EEXIST, {}});
  const fs::path above = target.has_parent_path() ? target.parent_path() : ".";
  const auto parent = Directory::open_untrusted(above.string());
  if (!parent) return report_file({"make", directory, parent.error().code, {}});
  const std::string temporary = fmt::format(".rdtctl-{}.new", ::getpid());
  const auto made = make_directory(*parent, temporary);
  if (!made) return report_file({"make", directory, made.error().code, made.error().detail});
  Result<void> done = fill(context, *machine, *made);
  if (done &&
      ::renameat(parent->fd(), temporary.c_str(), parent->fd(), target.filename().c_str()) != 0)
    done = errno_error("make", directory);
  if (done) return Exit::ok;
  empty(*made);
  (void)::unlinkat(parent->fd(), temporary.c_str(), AT_REMOVEDIR);
  return report_file(done.error());
}

}  // namespace rdtd
