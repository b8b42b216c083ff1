// The answer about the pseudo-locked regions: those of the policy in force, and those that left it
// and cannot be undone yet.
#include <fmt/format.h>

#include <algorithm>

#include "rdtd/daemon/answers.hpp"
#include "rdtd/model/footprint.hpp"

namespace rdtd {

namespace {

LockStatus status_of(const PseudoLock& lock) {
  const auto or_root = [](const auto& name) { return name ? name->value : "root"; };
  return {.name = lock.name.value,
          .resource = std::string(to_string(lock.resource())),
          .domain = static_cast<uint32_t>(lock.domain()),
          .asked = lock.line().amount.value.text,
          .device = device_of_lock(lock.name.value),
          .owner = or_root(lock.owner),
          .user_group = or_root(lock.user_group),
          .mode = fmt::format("{:04o}", lock.mode)};
}

// The ways that the region has now. One whose domain was offline has lost them.
void add_place(const std::string& name, const Machine& machine, LockStatus& out) {
  for (const auto& [resource, masks] : machine.snapshot.groups.at(name).schemata)
    for (const auto& [domain, bits] : masks) {
      const Cbm mask{bits};
      out.resource = to_string(resource);
      out.domain = static_cast<uint32_t>(domain);
      out.mask = to_string(mask);
      const auto cache = machine.capabilities.caches.find(resource);
      if (cache == machine.capabilities.caches.end()) continue;
      const auto bytes = cache->second.way_bytes.find(domain);
      if (bytes != cache->second.way_bytes.end()) out.bytes = bytes->second * mask.count();
    }
}

class LockLister {
 public:
  LockLister(const InForce& in_force, const Problems& problems, const Machine& machine)
      : in_force_(in_force),
        problems_(problems),
        machine_(machine),
        own_(machine.snapshot.own_locks()),
        differences_(differences({}, in_force.locks, {}, machine.snapshot)) {}

  std::vector<LockStatus> run() {
    for (const PseudoLock& lock : in_force_.policy.locks) add(lock);
    for (const MissingPart& part : in_force_.missing)
      if (part.lock && !part.lock->amounts.empty() && !is_listed(part.lock->name.value))
        add(*part.lock);
    for (const std::string& name : own_)
      if (!is_listed(name)) {
        out_.push_back({.name = name, .device = device_of_lock(name)});
        wait(out_.back());
      }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_listed(const std::string& name) const {
    return std::ranges::find(out_, name, &LockStatus::name) != out_.end();
  }
  [[nodiscard]] const MissingPart* part_of(const std::string& name) const {
    const auto part = std::ranges::find_if(in_force_.missing, [&](const MissingPart& one) {
      return one.lock && one.lock->name.value == name;
    });
    return part == in_force_.missing.end() ? nullptr : &*part;
  }

  // It is locked, but not as the policy asks.
  void wait(LockStatus& out) const {
    const MissingPart* part = part_of(out.name);
    add_place(out.name, machine_, out);
    out.state = "waiting";
    out.reason = part == nullptr ? "it is undone once nobody has its device open" : part->reason;
  }

  void add(const PseudoLock& lock) {
    LockStatus& out = out_.emplace_back(status_of(lock));
    const auto target = std::ranges::find_if(
        in_force_.locks, [&](const LockTarget& one) { return one.region.group == out.name; });
    const bool planned = target != in_force_.locks.end();
    if (planned) {
      out.mask = to_string(target->region.mask);
      out.bytes = target->bytes;
    }
    const MissingPart* part = part_of(out.name);
    const bool exists = std::ranges::find(own_, out.name) != own_.end();
    if (part != nullptr && exists) return wait(out);
    out.state = planned && stands(target->region, machine_.snapshot) ? "locked" : "missing";
    if (out.state == "locked") return;
    const auto difference = std::ranges::find(differences_, out.name, &Difference::group);
    out.reason = problems_.public_text(DriftCheck::lock_key + out.name);
    if (part != nullptr)
      out.reason = part->reason;
    else if (!planned)
      out.reason = "not available on this machine";
    else if (out.reason.empty() && difference != differences_.end())
      out.reason = difference->text;
  }

  const InForce& in_force_;
  const Problems& problems_;
  const Machine& machine_;
  std::vector<std::string> own_;
  std::vector<Difference> differences_;
  std::vector<LockStatus> out_;
};

}  // namespace

std::expected<std::vector<LockStatus>, Refusal> Answers::list_locks() {
  const auto begin = core_.system.now();
  if (locks_of_ != core_.state.in_force) locks_.forget();
  if (const auto& known = locks_.at(begin)) return *known;
  const auto machine = core_.applier.read_machine();
  if (!machine) return std::unexpected(refusal(machine.error()));
  locks_of_ = core_.state.in_force;
  return locks_.keep(LockLister(in_force(), core_.problems, *machine).run(), begin,
                     core_.system.now());
}

}  // namespace rdtd
