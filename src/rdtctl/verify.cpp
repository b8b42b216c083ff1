#include "verify.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "leases.hpp"
#include "status_view.hpp"

namespace rdtd {

namespace {

// Since then, in microseconds of CLOCK_REALTIME.
bool changed_since(const std::string& path, uint64_t time) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return true;
  const auto changed = static_cast<uint64_t>(status.st_mtim.tv_sec) * 1'000'000 +
                       static_cast<uint64_t>(status.st_mtim.tv_nsec) / 1000;
  return changed > time;
}

std::optional<LockTarget> target_of(const LockStatus& lock) {
  const auto resource = parse_resource(lock.resource);
  const auto mask = parse_cbm(lock.mask);
  if (lock.state != "locked" || !resource || !mask) return std::nullopt;
  LockTarget out;
  out.region = {lock.name, *resource, DomainId{lock.domain}, *mask};
  return out;
}

}  // namespace

std::vector<std::string> files_in_force(const ManagerProperties& daemon) {
  std::vector<std::string> out = daemon.config_files;
  std::erase_if(out, [](const std::string& path) { return path.starts_with("lease:"); });
  return out;
}

bool files_have_changed(const ManagerProperties& daemon) {
  return std::ranges::any_of(files_in_force(daemon), [&](const std::string& path) {
    return changed_since(path, daemon.last_reload_timestamp);
  });
}

std::optional<Plan> plan_in_force(const Context& context, const TreeMachine& machine,
                                  const ManagerProperties& daemon) {
  if (files_have_changed(daemon)) return std::nullopt;
  std::vector<PolicyFile> files;
  for (const std::string& path : files_in_force(daemon)) files.push_back(read_policy_file(path));
  std::ranges::move(lease_files(context), std::back_inserter(files));
  auto prepared = prepare_for(machine, files);
  return prepared ? std::optional(std::move(prepared->plan)) : std::nullopt;
}

std::vector<std::string> differences_from(const Capabilities& capabilities, Snapshot now,
                                          const std::vector<Client::GroupRow>& groups,
                                          const std::vector<LockStatus>& locks,
                                          const std::optional<Plan>& in_force) {
  std::vector<GroupTarget> targets;
  for (const Client::GroupRow& group : groups) {
    // Under a policy that divides nothing the default group is others' to set.
    if (groups.size() == 1 && group.asked.empty() && !in_force) continue;
    GroupTarget target;
    target.directory = group_directory(group.name);
    if (groups.size() == 1 && group.asked.empty())
      target.state = now.groups.at(target.directory);
    else
      target.state = {parse_mode(group.mode).value_or(Mode::shareable),
                      schemata_of(group.granted, capabilities),
                      parse_cpu_list(group.cpus).value_or(CpuSet{})};
    if (in_force) {
      const auto planned =
          std::ranges::find(in_force->groups, target.directory, &GroupTarget::directory);
      if (planned != in_force->groups.end()) {
        target.mon_groups = planned->mon_groups;
        target.mon_cpus = planned->mon_cpus;
      }
    }
    targets.push_back(std::move(target));
  }
  std::vector<LockTarget> regions;
  for (const LockStatus& lock : locks)
    if (auto region = target_of(lock)) regions.push_back(std::move(*region));
  take_as_granted(targets, capabilities, now);
  std::vector<std::string> out;
  for (const Difference& difference :
       differences(targets, regions, in_force ? in_force->io : IoTarget{}, now))
    out.push_back(difference.text);
  return out;
}

}  // namespace rdtd
