// World: the daemon's core over the model kernel and processes made of plain values, with a clock
// that moves only when somebody looks at it, unless real_clock is set.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fake/kernel.hpp"
#include "fake/processes.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/daemon/assigner.hpp"
#include "rdtd/daemon/manager.hpp"
#include "rdtd/resctrl/read.hpp"
#include "unit/files.hpp"

namespace rdtd::test {

// Domains with equal shares merged: "L3:0-1=4 ways MB:0=10%".
inline std::string shares_line(const std::vector<Share>& shares) {
  std::map<std::string, std::map<DomainId, std::string>> resources;
  for (const Share& share : shares) resources[share.resource][DomainId{share.domain}] = share.text;
  std::vector<std::string> parts;
  for (const auto& [resource, domains] : resources)
    parts.push_back(resource + ":" + join(merged_domains(domains), ";"));
  return join(parts, " ");
}

class World : public Files {
 protected:
  void SetUp() override { use(kernel.resctrl.machine); }
  // A machine, and a daemon on it that has made nothing yet.
  void use(fake::Machine machine) {
    manager.reset();
    if (!root_.empty()) Files::TearDown();
    // An RMID may be in limbo for seconds; that is not what these tests are about.
    if (machine.num_rmids != 0 && machine.pmgs == 0) machine.num_rmids = 4096;
    kernel.resctrl = fake::Resctrl(std::move(machine));
    Files::SetUp();
    spdlog::set_level(spdlog::level::off);
    start();
  }
  void TearDown() override {
    manager.reset();
    Files::TearDown();
  }

  // A new daemon on the same machine, as after a kill.
  void start() {
    manager.reset();
    manager =
        std::make_unique<Manager>(system(), *Ownership::load(*Directory::open(root_.string())),
                                  *Directory::open(root_.string()));
    manager->connect({.on_drift = [this](const std::string& what) { drift.push_back(what); }});
  }

  System system() {
    return {.resctrl = kernel,
            .processes = processes,
            .policy_files =
                [this] {
                  if (unreadable_policy) return std::vector{*unreadable_policy};
                  return std::vector{PolicyFile{
                      .path = "p.toml", .text = policy, .problem = {}, .for_all = policy_for_all}};
                },
            .read_machine = [this] { return resctrl::read_machine(kernel, {}, cpus, true); },
            .users = [this](const std::vector<UserName>& names) { return ask_users(names); },
            .device_holder = [this](const std::string& lock) -> std::optional<std::string> {
              const auto holder = holders.find(lock);
              return holder == holders.end() ? std::nullopt : std::optional(holder->second);
            },
            .store_device_access = [this](const std::vector<PseudoLock>& locks) -> Result<void> {
              access = locks;
              return {};
            },
            .admit = [this](resctrl::Admit who) -> Result<void> {
              if (no_chmod)
                return std::unexpected(Error{"change the mode of", "resctrl", EROFS, {}});
              admitted = who;
              groups_at_admission = kernel.resctrl.groups.size();
              admissions.push_back(who);
              return {};
            },
            .lock_holder = [] { return std::string("process 812 (pqos)"); },
            .now =
                [this] {
                  if (real_clock) return std::chrono::steady_clock::now() + skew;
                  clock += std::chrono::microseconds(10);
                  return clock;
                },
            .realtime_usec = [] { return uint64_t{1}; }};
  }

  // Lets the daemon work until nothing is due within the time.
  void run(std::chrono::milliseconds time = std::chrono::milliseconds(100)) {
    const auto end = clock + time;
    for (int turn = 0; turn < 10000; turn++) {
      const auto due = manager->next_due();
      if (due > end) break;
      clock = std::max(clock, due);
      manager->step(clock + std::chrono::milliseconds(50));
    }
    clock = std::max(clock, end);
  }
  // As the classifier does on an exec event.
  void place_at_exec(pid_t pid) {
    (void)place_leader({*manager->in_force().table, processes, manager->core().manual}, pid);
  }
  // Each returns the text of the refusal, or "".
  std::string load() {
    return wait([this](Manager::Done done) { manager->start(std::move(done)); });
  }
  std::string reload(const std::string& text) {
    policy = text;
    return wait([this](Manager::Done done) { manager->changes().reload(std::move(done)); });
  }
  // The descriptor goes to `lease_fds`.
  std::string lease(const std::string& name, const std::string& text, uid_t uid = 0) {
    std::string out = "never finished";
    manager->changes().lease(name, text, {.uid = uid, .pid = 1},
                             [&](std::expected<UniqueFd, Refusal> fd) {
                               out = fd ? "" : fd.error().text;
                               if (fd)
                                 lease_fds[name] = std::move(*fd);
                               else
                                 kind = fd.error().kind;
                             });
    run(std::chrono::seconds(5));
    return out;
  }
  template <class Change>
  std::string wait(Change change) {
    std::string out = "never finished";
    change([&out](const std::expected<void, Refusal>& result) {
      out = result ? "" : result.error().text;
    });
    run(std::chrono::seconds(5));
    return out;
  }

  [[nodiscard]] std::string group_of(pid_t tid) const {
    const std::lock_guard lock(kernel.mutex);
    const auto group = kernel.resctrl.group_of(tid);
    return group ? group_label(*group) : "none";
  }
  [[nodiscard]] std::string schemata(const std::string& group) const {
    const std::lock_guard lock(kernel.mutex);
    const auto text = kernel.resctrl.read(resctrl::file_of(group, "schemata"));
    std::set<Resource> others;
    for (const auto& [resource, control] : kernel.resctrl.machine.controls)
      if (!parse_resource(resource.name())) others.insert(resource);
    return text ? schemata_line(*parse_schemata(*text, others)) : "none";
  }
  // Each group, wherever its ways lie: mode, CPUs, how much it has, and monitoring groups. And the
  // ways of the I/O devices.
  [[nodiscard]] std::string tree() const {
    std::set<std::string> out;
    for (const fake::Group& group : kernel.resctrl.groups) {
      std::string line = fmt::format("{}: {}", group_label(group.name), to_string(group.mode));
      if (!is_pseudo(group.mode)) line += fmt::format(" {}", format_cpu_list(group.cpus));
      const auto text = kernel.resctrl.read(resctrl::file_of(group.name, "schemata"));
      if (const auto parsed = parse_schemata(text.value_or("")))
        for (const auto& [resource, values] : *parsed)
          for (const auto& [domain, value] : values)
            line += fmt::format(" {}", is_cache(resource) ? Cbm{value}.count() : value);
      for (const auto& mon : group.mon_groups)
        line += fmt::format(" {}({})", mon.name, format_cpu_list(mon.cpus));
      out.insert(line);
    }
    out.insert("I/O: " + kernel.resctrl.read("info/L3/io_alloc_cbm").value_or("none"));
    return fmt::format("{}", fmt::join(out, "\n"));
  }
  std::vector<UserAnswer> ask_users(const std::vector<UserName>& names) {
    user_questions++;
    std::vector<UserAnswer> out;
    for (const UserName& name : names) {
      const auto user = users.find(name.name);
      if (no_users)
        out.push_back(std::unexpected(Error{"look up", name.name, EIO, {}}));
      else if (name.kind == UserName::Kind::user && user != users.end())
        out.emplace_back(user->second);
      else
        out.emplace_back(std::nullopt);
    }
    return out;
  }
  [[nodiscard]] std::vector<std::string> problems() const {
    return manager->answers().properties().problems;
  }
  [[nodiscard]] std::string warnings() const { return manager->answers().check()->warnings; }
  [[nodiscard]] std::string state() const { return manager->answers().properties().state; }

  fake::Kernel kernel{fake::xeon()};
  fake::Processes processes{kernel};
  CpuSet cpus = {0, 1, 2, 3};  // of the machine, online or not
  std::map<std::string, uid_t> users;
  int user_questions = 0;                      // to the user database
  std::map<std::string, std::string> holders;  // of the devices of regions
  std::vector<PseudoLock> access;              // to these devices, as stored
  std::optional<resctrl::Admit> admitted;      // to reading, by the last change
  std::vector<resctrl::Admit> admissions;      // all of them
  std::size_t groups_at_admission = 0;         // with the default group, at that change
  bool no_chmod = false;                       // of the root of resctrl
  bool no_users = false;                       // the user database does not answer
  std::string policy;
  bool policy_for_all = false;                  // every user may read it
  std::optional<PolicyFile> unreadable_policy;  // instead of `policy`
  std::vector<std::string> drift;
  std::map<std::string, UniqueFd> lease_fds;
  Refusal::Kind kind{};  // of the last refusal of a lease
  bool real_clock = false;
  std::chrono::seconds skew{};  // of the real clock
  std::chrono::steady_clock::time_point clock{std::chrono::hours(1)};
  std::unique_ptr<Manager> manager;
};

inline const std::string redis_policy =
    "[group.redis]\nl3 = \"4 ways\"\nexclusive = true\n[[rule]]\ngroup = \"redis\"\nname = "
    "\"redis-*\"\n";

}  // namespace rdtd::test
