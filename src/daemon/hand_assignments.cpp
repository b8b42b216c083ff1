#include "rdtd/daemon/hand_assignments.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/ownership.hpp"

namespace rdtd {

namespace {

// A process may give itself any name, lines of this record among them.
std::optional<std::string> name_of(const Process& process) {
  const auto name = process.read_name();
  return name ? std::optional(printable(*name)) : std::nullopt;
}

}  // namespace

HandAssignments::Held* HandAssignments::find(pid_t pid) {
  const auto found = held_.find(pid);
  if (found == held_.end()) return nullptr;
  if (found->second.process.read_name()) return &found->second;
  erase(found);
  return nullptr;
}

void HandAssignments::erase(Map::iterator position) {
  held_.erase(position);
  count_ = held_.size();
  stored_ = false;
}

void HandAssignments::insert(Held held) {
  const pid_t pid = held.process.pid();
  held_.insert_or_assign(pid, std::move(held));
  count_ = held_.size();
  stored_ = false;
}

void HandAssignments::drop_ended() {
  for (auto position = held_.begin(); position != held_.end();) {
    const auto next = std::next(position);
    if (!position->second.process.read_name()) erase(position);
    position = next;
  }
}

Result<void> HandAssignments::load(const ProcFs& proc) {
  const auto text = record_.read(hand_record);
  if (!text && text.error().code == ENOENT) return {};
  if (!text) return std::unexpected(text.error());
  const std::lock_guard lock(mutex_);
  for (const std::string_view line : split(*text, '\n')) {
    const auto words = split(line, ' ');
    const auto pid = parse_unsigned<uint32_t>(words[0]);
    const auto start_time = words.size() > 4 ? parse_unsigned<uint64_t>(words[1]) : std::nullopt;
    if (!pid || !start_time) continue;
    auto process = proc.open(static_cast<pid_t>(*pid));
    const auto name = process ? name_of(*process) : std::nullopt;
    if (!name || process->read_start_time() != *start_time) continue;
    const std::string_view recorded =
        line.substr(static_cast<size_t>(words[4].data() - line.data()));
    const bool for_next_program = words[2] == "next";
    // Under another name it is another program: the one that was meant, or the one after.
    if (*name != recorded && !for_next_program) continue;
    insert({std::move(*process), *start_time, *name, std::string(words[3]),
            for_next_program && *name == recorded});
  }
  return {};
}

Result<void> HandAssignments::store() {
  // A line each: PID START_TIME, "next" or "this" program, GROUP, NAME. A name may have spaces, a
  // group has none.
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    if (stored_) return {};
    for (const auto& [pid, held] : held_)
      text += fmt::format("{} {} {} {} {}\n", pid, held.start_time,
                          held.for_next_program ? "next" : "this", held.group, held.name);
    stored_ = true;
  }
  auto replaced = record_.replace(hand_record, text);
  if (!replaced) {
    const std::lock_guard lock(mutex_);
    stored_ = false;
  }
  return replaced;
}

bool HandAssignments::add(Process process, std::string group, bool for_next_program) {
  const std::lock_guard lock(mutex_);
  if (held_.size() >= most) drop_ended();
  if (held_.size() >= most && !held_.contains(process.pid())) return false;
  const uint64_t start_time = process.read_start_time();
  std::string name = name_of(process).value_or("");
  insert({std::move(process), start_time, std::move(name), std::move(group), for_next_program});
  return true;
}

void HandAssignments::remove(pid_t pid) {
  const std::lock_guard lock(mutex_);
  if (const auto found = held_.find(pid); found != held_.end()) erase(found);
}

void HandAssignments::clear() {
  const std::lock_guard lock(mutex_);
  held_.clear();
  count_ = 0;
  stored_ = false;
}

bool HandAssignments::hold(pid_t pid) {
  if (count_ == 0) return false;
  const std::lock_guard lock(mutex_);
  return find(pid) != nullptr;
}

bool HandAssignments::exec(pid_t pid) {
  if (count_ == 0) return false;
  const std::lock_guard lock(mutex_);
  Held* held = find(pid);
  if (held == nullptr) return false;
  if (!held->for_next_program) {
    erase(held_.find(pid));
    return false;
  }
  std::string name = name_of(held->process).value_or("");
  // While the name is still the old one, this is the event of its own start, come late.
  if (name == held->name) return true;
  held->for_next_program = false;
  held->name = std::move(name);
  stored_ = false;
  return true;
}

void HandAssignments::rename(pid_t pid) {
  if (count_ == 0) return;
  const std::lock_guard lock(mutex_);
  Held* held = find(pid);
  // While an exec is awaited the new name may be that of the program that it has begun already.
  if (held == nullptr || held->for_next_program) return;
  held->name = name_of(held->process).value_or("");
  stored_ = false;
}

std::vector<std::pair<pid_t, std::string>> HandAssignments::all() {
  const std::lock_guard lock(mutex_);
  drop_ended();
  std::vector<std::pair<pid_t, std::string>> out;
  for (const auto& [pid, held] : held_) out.emplace_back(pid, held.group);
  return out;
}

std::optional<std::string> HandAssignments::group_of(pid_t pid) {
  const std::lock_guard lock(mutex_);
  const Held* held = find(pid);
  return held == nullptr ? std::nullopt : std::optional(held->group);
}

}  // namespace rdtd
