// snapshot: a copy of resctrl for --resctrl on another machine.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "verbs.hpp"

namespace rdtd {

namespace {

namespace fs = std::filesystem;

// What cannot be read, as files that are only for writing, is left out.
Result<void> copy(const Directory& from, const Directory& to) {
  const auto entries = from.list();
  if (!entries) return std::unexpected(entries.error());
  for (const Directory::Entry& entry : *entries) {
    if (entry.is_directory) {
      if (::mkdirat(to.fd(), entry.name.c_str(), 0755) != 0)
        return errno_error("make", to.path_of(entry.name));
      const auto source = from.open_directory(entry.name);
      const auto target = to.open_directory(entry.name);
      if (!source && source.error().code == ENOENT) continue;  // a group that was removed meanwhile
      if (!source || !target) return std::unexpected(source ? target.error() : source.error());
      if (auto copied = copy(*source, *target); !copied) return copied;
      continue;
    }
    // The ids of another machine's threads are of no meaning.
    const auto text = entry.name == "tasks" ? Result<std::string>("") : from.read(entry.name);
    if (!text) continue;
    if (auto written = to.replace(entry.name, *text); !written) return written;
  }
  return {};
}

}  // namespace

int verbs::snapshot(const Context& context, const std::string& folder) {
  const auto tree = Tree::open(context.resctrl);
  if (!tree) return report(tree.error());
  std::error_code made;
  if (!fs::create_directory(folder, made)) {
    fmt::print(stderr, "rdtctl: cannot make {}: {}\n", folder,
               made ? made.message() : "it exists already");
    return Exit::failed;
  }
  const auto source = Directory::open(context.resctrl);
  const auto target = Directory::open(folder);
  if (!source || !target) return report(source ? target.error() : source.error());
  if (const auto copied = copy(*source, *target); !copied) return report(copied.error());
  // Which of the groups are rdtd's goes along.
  const auto machine = read_machine(context);
  if (!machine) return report(machine.error());
  fs::create_directory(fs::path(folder) / snapshot_state, made);
  auto state = Directory::open((fs::path(folder) / snapshot_state).string());
  auto ownership = state ? Ownership::load(std::move(*state)) : std::unexpected(state.error());
  if (!ownership) return report(ownership.error());
  for (const std::string& group : machine->snapshot.owned)
    if (const auto added = ownership->add(group); !added) return report(added.error());
  return Exit::ok;
}

}  // namespace rdtd
