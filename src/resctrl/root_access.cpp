#include "rdtd/resctrl/root_access.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "rdtd/base/text.hpp"

namespace rdtd::resctrl {

namespace {

struct Access {
  mode_t mode = 0;
  gid_t group = 0;
  bool operator==(const Access&) const = default;
};

constexpr mode_t closed = 0750;
// kernfs_create_root in fs/kernfs/dir.c
constexpr Access of_the_kernel{0555, 0};

Result<Access> read_access(const Directory& root) {
  struct stat status{};
  if (::fstat(root.fd(), &status) < 0) return errno_error("look at", root.path());
  return Access{status.st_mode & 07777, status.st_gid};
}

// "0555 0". Nobody reads it again after an end of rdtd: one reading that fails is no reason.
Result<std::optional<Access>> read_record(const Directory& state) {
  const auto is_missing = [](const auto& text) { return !text && text.error().code == ENOENT; };
  auto text = state.read(root_access_record);
  if (!text && !is_missing(text)) text = state.read(root_access_record);
  if (is_missing(text)) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  const auto words = split(trim(*text), ' ');
  const auto mode = parse_unsigned<mode_t>(words.front(), 8);
  const auto group = parse_unsigned<gid_t>(words.back());
  // It is there: rdtd has changed something.
  if (words.size() != 2 || !mode || !group) return of_the_kernel;
  return Access{*mode, *group};
}

// The mode first: after an interruption between the two, it shows whose work this is.
Result<void> set_access(const Directory& root, const Access& now, const Access& wanted) {
  if (now.mode != wanted.mode && ::fchmod(root.fd(), wanted.mode) < 0)
    return errno_error("change the mode of", root.path());
  // EPERM: a process without CAP_CHOWN gives only to groups that it is in.
  if (now.group != wanted.group && ::fchown(root.fd(), static_cast<uid_t>(-1), wanted.group) < 0 &&
      errno != EPERM)
    return errno_error("change the group of", root.path());
  return {};
}

}  // namespace

Result<void> admit(Admit who, const Directory& root, const Directory& state,
                   const Result<std::optional<gid_t>>& group) {
  const auto now = read_access(root);
  if (!now) return std::unexpected(now.error());
  // After a new mount the record is of another root.
  const auto record = read_record(state);
  if (!record) return std::unexpected(record.error());
  auto before = *record;
  if (before && now->mode != closed && now->mode != (before->mode | S_IRWXU)) before.reset();
  Access wanted = before.value_or(*now);
  const bool needs_group = who == Admit::group && (wanted.mode & S_IRWXO) != 0;
  if (needs_group)
    wanted = {closed, group ? group->value_or(wanted.group) : now->group};
  else if (who != Admit::before)
    wanted.mode |= S_IRWXU;
  if (!before && wanted != *now)
    if (auto stored =
            state.replace(root_access_record, fmt::format("{:04o} {}\n", now->mode, now->group));
        !stored)
      return stored;
  if (auto set = set_access(root, *now, wanted); !set) return set;
  // The kernel makes it with the root's mode, on a machine that monitors.
  if (const auto mon_groups = root.open_directory("mon_groups"); mon_groups && who != Admit::before)
    (void)::fchmod(mon_groups->fd(), 0755);
  if (who == Admit::before) (void)::unlinkat(state.fd(), root_access_record, 0);
  // The next call gives it its group, or takes that from a root that has another one.
  return needs_group && !group ? std::unexpected(group.error()) : Result<void>();
}

}  // namespace rdtd::resctrl
