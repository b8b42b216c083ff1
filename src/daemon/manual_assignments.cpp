#include "rdtd/daemon/manual_assignments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "rdtd/base/clock.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/ownership.hpp"

namespace rdtd {

namespace {

// A process may give itself any name, lines of this record among them.
std::optional<std::string> name_of(const proc::Process& process) {
  const auto name = process.read_name();
  return name ? std::optional(printable(*name)) : std::nullopt;
}

struct Found {
  std::unique_ptr<proc::Process> process;
  std::string name;
  uint64_t start_time = 0;
};

Result<Found> find_process(const proc::Processes& processes, pid_t pid) {
  auto process = processes.open(pid);
  if (!process) return std::unexpected(process.error());
  const auto name = (*process)->read_name();
  if (!name) return std::unexpected(name.error());
  const auto start_time = (*process)->read_start_time();
  if (!start_time) return std::unexpected(start_time.error());
  return Found{std::move(*process), printable(*name), *start_time};
}

bool has_ended(const proc::Process& process) {
  const auto name = process.read_name();
  return !name && proc::ended(name.error());
}

}  // namespace

ManualAssignments::EntryPtr ManualAssignments::find(pid_t pid) {
  if (count_ == 0) return nullptr;
  EntryPtr entry;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(pid);
    if (found == entries_.end()) return nullptr;
    entry = found->second;
  }
  if (!has_ended(*entry->held.process)) return entry;
  erase(pid, entry->held.process.get());
  return nullptr;
}

std::vector<ManualAssignments::EntryPtr> ManualAssignments::entries() {
  std::vector<EntryPtr> out;
  out.reserve(max_in_all);
  const std::lock_guard lock(mutex_);
  for (const auto& [pid, entry] : entries_) out.push_back(entry);
  return out;
}

void ManualAssignments::erase(pid_t pid, const proc::Process* process) {
  EntryPtr erased;  // destroyed without the lock: that closes a file
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(pid);
  if (found == entries_.end() || found->second->held.process.get() != process) return;
  erased = std::move(found->second);
  entries_.erase(found);
  count_ = entries_.size();
  stored_ = false;
}

void ManualAssignments::insert(Entry entry) {
  const pid_t pid = entry.held.process->pid();
  auto inserted = std::make_shared<const Entry>(std::move(entry));
  const std::lock_guard lock(mutex_);
  entries_[pid].swap(inserted);
  count_ = entries_.size();
  stored_ = false;
}

// A line each: PID START_TIME, "this" program or "all" of the process, GROUP, USER, NAME. Only a
// name may contain spaces. Version 0.2 wrote "next" instead of "all".
Result<void> ManualAssignments::load(const proc::Processes& processes) {
  // Each reading is the only one: one that fails is tried again.
  auto text = record_.read(manual_record);
  if (!text && text.error().code == ENOENT) return {};
  if (!text) text = record_.read(manual_record);
  if (!text) return std::unexpected(text.error());
  Result<void> result;
  for (const std::string_view line : split(*text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 6) continue;
    const auto pid = parse_unsigned<uint32_t>(words[0]);
    const auto start_time = parse_unsigned<uint64_t>(words[1]);
    const auto user = parse_unsigned<uint32_t>(words[4]);
    if (!pid || !start_time || !user) continue;
    auto found = find_process(processes, static_cast<pid_t>(*pid));
    if (!found && !proc::ended(found.error()))
      found = find_process(processes, static_cast<pid_t>(*pid));
    if (!found && !proc::ended(found.error())) result = std::unexpected(found.error());
    if (!found || found->start_time != *start_time) continue;
    const auto recorded = line.substr(static_cast<size_t>(words[5].data() - line.data()));
    const bool through_execs = words[2] != "this";
    // Under another name it is another program.
    if (found->name != recorded && !through_execs) continue;
    insert({{std::move(found->process), std::string(words[3]), *user, through_execs,
             monotonic_nanoseconds()},
            *start_time,
            std::move(found->name)});
  }
  return result;
}

Result<void> ManualAssignments::store() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stored_, true)) return {};
  }
  std::string text;
  for (const EntryPtr& entry : entries())
    text += fmt::format("{} {} {} {} {} {}\n", entry->held.process->pid(), entry->start_time,
                        entry->held.through_execs ? "all" : "this", entry->held.group,
                        entry->held.user, entry->name);
  auto replaced = record_.replace(manual_record, text, 0600);
  if (!replaced) {
    const std::lock_guard lock(mutex_);
    stored_ = false;
  }
  return replaced;
}

std::optional<std::string> ManualAssignments::add(Held held) {
  if (count_ >= max_per_user) drop_ended();
  {
    const std::lock_guard lock(mutex_);
    if (!entries_.contains(held.process->pid())) {
      if (entries_.size() >= max_in_all) return "all users";
      const auto same_user = [&](const auto& entry) {
        return entry.second->held.user == held.user;
      };
      if (held.user != 0 &&
          static_cast<size_t>(std::ranges::count_if(entries_, same_user)) >= max_per_user)
        return "this user";
    }
  }
  const uint64_t start_time = held.process->read_start_time().value_or(0);
  std::string name = name_of(*held.process).value_or("");
  insert({std::move(held), start_time, std::move(name)});
  return std::nullopt;
}

void ManualAssignments::remove(pid_t pid) {
  if (const EntryPtr entry = find(pid)) erase(pid, entry->held.process.get());
}

void ManualAssignments::clear() {
  std::unordered_map<pid_t, EntryPtr> cleared;
  const std::lock_guard lock(mutex_);
  entries_.swap(cleared);
  count_ = 0;
  stored_ = false;
}

std::optional<std::string> ManualAssignments::group_of(pid_t pid) {
  const auto entry = find(pid);
  return entry ? std::optional(entry->held.group) : std::nullopt;
}

std::optional<ManualAssignments::Held> ManualAssignments::held(pid_t pid) {
  const auto entry = find(pid);
  return entry ? std::optional(entry->held) : std::nullopt;
}

bool ManualAssignments::exec(pid_t pid, uint64_t timestamp) {
  const auto entry = find(pid);
  if (!entry) return false;
  // The event waited in the queue while the process was assigned: it is about the program before.
  if (timestamp != 0 && timestamp < entry->held.since) return true;
  if (entry->held.through_execs) return true;
  erase(pid, entry->held.process.get());
  return false;
}

void ManualAssignments::rename(pid_t pid) {
  const auto entry = find(pid);
  if (!entry || entry->held.through_execs) return;  // then its name does not matter
  auto renamed = std::make_shared<Entry>(*entry);
  renamed->name = name_of(*entry->held.process).value_or("");
  EntryPtr replaced = std::move(renamed);
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(pid);
  if (found == entries_.end() || found->second != entry) return;
  found->second.swap(replaced);
  stored_ = false;
}

std::vector<ManualAssignments::Held> ManualAssignments::all() {
  std::vector<Held> out;
  for (const EntryPtr& entry : entries())
    if (has_ended(*entry->held.process))
      erase(entry->held.process->pid(), entry->held.process.get());
    else
      out.push_back(entry->held);
  return out;
}

}  // namespace rdtd
