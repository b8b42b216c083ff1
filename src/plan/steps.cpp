#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "rdtd/plan/plan.hpp"

namespace rdtd {

std::string_view to_string(StepKind kind) {
  constexpr std::array<std::string_view, 5> names = {"create", "schemata", "cpus", "mode",
                                                     "remove"};
  return names.at(static_cast<size_t>(kind));
}

Step inverse(const Step& step) {
  Step out{step.kind, step.group, step.after, step.before};
  if (step.kind == StepKind::create) out.kind = StepKind::remove;
  if (step.kind == StepKind::remove) out.kind = StepKind::create;
  return out;
}

namespace {

// The domains of `to` whose value is another in `from`. A domain that `from` lacks is offline: it
// cannot be written.
Schemata changed_values(const Schemata& from, const Schemata& to) {
  Schemata out;
  for (const auto& [resource, values] : to) {
    const auto old_values = from.find(resource);
    if (old_values == from.end()) continue;
    for (const auto& [domain, value] : values)
      if (const auto old_value = old_values->second.find(domain);
          old_value != old_values->second.end() && old_value->second != value)
        out[resource][domain] = value;
  }
  return out;
}

Schemata values_at(const Schemata& from, const Schemata& places) {
  Schemata out;
  for (const auto& [resource, values] : places)
    for (const auto& [domain, value] : values)
      if (const auto found = from.find(resource);
          found != from.end() && found->second.contains(domain))
        out[resource][domain] = found->second.at(domain);
  return out;
}

// Whether a write only takes ways away: then it goes before those that add some, and no way has two
// holders meanwhile.
bool only_shrinks(const Step& step) {
  for (const auto& [resource, values] : step.after.schemata) {
    if (!is_cache(resource)) continue;
    const auto before = step.before.schemata.find(resource);
    for (const auto& [domain, value] : values) {
      if (before == step.before.schemata.end() || !before->second.contains(domain)) return false;
      if (!Cbm{before->second.at(domain)}.contains(Cbm{value})) return false;
    }
  }
  return true;
}

bool masks_overlap(const Schemata& a, const Schemata& b) {
  for (const auto& [resource, values] : a) {
    if (!is_cache(resource) || !b.contains(resource)) continue;
    for (const auto& [domain, value] : values)
      if (b.at(resource).contains(domain) && Cbm{value}.overlaps(Cbm{b.at(resource).at(domain)}))
        return true;
  }
  return false;
}

// An offline CPU belongs to no group.
CpuSet those_online(const CpuSet& cpus, const CpuSet& online) {
  CpuSet out;
  std::ranges::set_intersection(cpus, online, std::inserter(out, out.end()));
  return out;
}

std::string cpus_text(const CpuSet& cpus) { return cpus.empty() ? "none" : format_cpu_list(cpus); }

std::string format_change(const Step& step) {
  std::string out;
  for (const auto& [resource, values] : step.after.schemata) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", to_string(resource),
                       format_values(resource, values));
    if (const auto before = step.before.schemata.find(resource);
        before != step.before.schemata.end())
      out += fmt::format(" (was {})", format_values(resource, before->second));
  }
  return out;
}

}  // namespace

Steps steps_to(const std::vector<GroupTarget>& targets, const Capabilities& capabilities,
               const Snapshot& snapshot) {
  std::vector<Step> drop_exclusive, shrink, create, grow, retire, cpus, set_exclusive, removals;
  std::set<std::string> wanted;
  const GroupTarget* root = nullptr;
  const CpuSet online = snapshot.online_cpus();
  const Schemata& domains = snapshot.groups.at(std::string(root_group)).schemata;
  for (const GroupTarget& target : targets) {
    wanted.insert(target.directory);
    if (target.directory == root_group) root = &target;
    const CpuSet target_cpus = those_online(target.state.cpus, online);
    const auto found = snapshot.groups.find(target.directory);
    if (found == snapshot.groups.end()) {
      create.push_back({StepKind::create, target.directory, {}, {}});
      create.push_back(
          {StepKind::schemata,
           target.directory,
           {},
           {.mode = {}, .schemata = values_at(target.state.schemata, domains), .cpus = {}}});
      if (!target_cpus.empty())
        cpus.push_back({StepKind::cpus,
                        target.directory,
                        {},
                        {.mode = {}, .schemata = {}, .cpus = target_cpus}});
      if (target.state.mode == Mode::exclusive)
        set_exclusive.push_back({StepKind::mode,
                                 target.directory,
                                 {},
                                 {.mode = Mode::exclusive, .schemata = {}, .cpus = {}}});
      continue;
    }
    const GroupState& now = found->second;
    const Schemata changed = changed_values(now.schemata, target.state.schemata);
    const GroupState to_shareable{.mode = Mode::shareable, .schemata = {}, .cpus = {}};
    const GroupState to_exclusive{.mode = Mode::exclusive, .schemata = {}, .cpus = {}};
    const bool was_exclusive = now.mode == Mode::exclusive;
    const bool to_be_exclusive = target.state.mode == Mode::exclusive;
    if (was_exclusive && (!changed.empty() || !to_be_exclusive))
      drop_exclusive.push_back({StepKind::mode, target.directory, to_exclusive, to_shareable});
    if (to_be_exclusive && (!was_exclusive || !changed.empty()))
      set_exclusive.push_back({StepKind::mode, target.directory, to_shareable, to_exclusive});
    if (!changed.empty()) {
      Step step{StepKind::schemata,
                target.directory,
                {.mode = {}, .schemata = values_at(now.schemata, changed), .cpus = {}},
                {.mode = {}, .schemata = changed, .cpus = {}}};
      (only_shrinks(step) ? shrink : grow).push_back(std::move(step));
    }
    // What no group has falls to the root by itself.
    if (target.directory != root_group && now.cpus != target_cpus)
      cpus.push_back({StepKind::cpus,
                      target.directory,
                      {.mode = {}, .schemata = {}, .cpus = now.cpus},
                      {.mode = {}, .schemata = {}, .cpus = target_cpus}});
  }

  for (const auto& [name, state] : snapshot.groups) {
    if (name == root_group || wanted.contains(name) || !snapshot.owned.contains(name)) continue;
    removals.push_back({StepKind::remove, name, state, {}});
    if (state.mode == Mode::exclusive)
      drop_exclusive.push_back(
          {StepKind::mode, name, {.mode = Mode::exclusive, .schemata = {}, .cpus = {}}, {}});
    // It lives until its processes have moved; meanwhile it may not stand in the way of a group
    // that is to be exclusive.
    const bool in_the_way =
        std::ranges::any_of(targets, [&, &old = state](const GroupTarget& target) {
          return target.state.mode == Mode::exclusive &&
                 masks_overlap(target.state.schemata, old.schemata);
        });
    if (in_the_way && root != nullptr) {
      const Schemata changed = changed_values(state.schemata, root->state.schemata);
      retire.push_back({StepKind::schemata,
                        name,
                        {.mode = {}, .schemata = values_at(state.schemata, changed), .cpus = {}},
                        {.mode = {}, .schemata = changed, .cpus = {}}});
    }
  }

  Steps out;
  const auto append = [&](std::vector<Step>& part) {
    std::ranges::move(part, std::back_inserter(out.steps));
  };
  const size_t to_create =
      static_cast<size_t>(std::ranges::count(create, StepKind::create, &Step::kind));
  append(drop_exclusive);
  if (snapshot.groups.size() + to_create > capabilities.num_closids())
    append(removals);  // no CLOSID is free for the new ones until the old ones are gone
  else
    out.removals = std::move(removals);
  append(shrink);
  append(create);
  append(grow);
  if (!out.removals.empty()) append(retire);
  append(cpus);
  append(set_exclusive);
  return out;
}

std::vector<Difference> differences(const std::vector<GroupTarget>& targets,
                                    const Snapshot& snapshot) {
  std::vector<Difference> out;
  const CpuSet online = snapshot.online_cpus();
  for (const GroupTarget& target : targets) {
    const std::string name = fmt::format("group '{}'", group_label(target.directory));
    const auto found = snapshot.groups.find(target.directory);
    if (found == snapshot.groups.end()) {
      out.push_back({target.directory, name + " is not there"});
      continue;
    }
    const auto differs = [&](const std::string& now, const std::string& granted) {
      out.push_back({target.directory, fmt::format("{}: {}, granted {}", name, now, granted)});
    };
    const GroupState& now = found->second;
    const Schemata changed = changed_values(now.schemata, target.state.schemata);
    if (!changed.empty())
      differs(schemata_line(values_at(now.schemata, changed)), schemata_line(changed));
    if (now.mode != target.state.mode)
      differs(fmt::format("mode {}", to_string(now.mode)),
              std::string(to_string(target.state.mode)));
    const CpuSet cpus = those_online(target.state.cpus, online);
    if (target.directory != root_group && now.cpus != cpus)
      differs("CPUs " + cpus_text(now.cpus), cpus_text(cpus));
  }
  return out;
}

std::string format_step(const Step& step) {
  const std::string head = fmt::format("{:<8}  {}", to_string(step.kind), group_label(step.group));
  switch (step.kind) {
    case StepKind::create:
    case StepKind::remove: return head;
    case StepKind::schemata: return head + "  " + format_change(step);
    case StepKind::cpus:
      return head +
             fmt::format("  {} (was {})", cpus_text(step.after.cpus), cpus_text(step.before.cpus));
    case StepKind::mode: return head + fmt::format("  {}", to_string(step.after.mode));
  }
  return head;
}

std::string plan_summary(const Plan& plan) {
  if (plan.changes_nothing()) return "Nothing to change.";
  std::set<std::string> created, changed, removed;
  const auto count = [&](const std::vector<Step>& steps) {
    for (const Step& step : steps)
      (step.kind == StepKind::create   ? created
       : step.kind == StepKind::remove ? removed
                                       : changed)
          .insert(step.group);
  };
  count(plan.steps);
  count(plan.removals);
  for (const auto& name : created) changed.erase(name);
  for (const auto& name : removed) changed.erase(name);
  const size_t steps = plan.steps.size() + plan.removals.size();
  return fmt::format("{} step{}: {} to create, {} to change, {} to remove.", steps,
                     steps == 1 ? "" : "s", created.size(), changed.size(), removed.size());
}

std::string format_plan(const Plan& plan) {
  std::string out;
  for (const Step& step : plan.steps) out += format_step(step) + "\n";
  for (const Step& step : plan.removals) out += format_step(step) + "\n";
  return out + plan_summary(plan) + "\n";
}

}  // namespace rdtd
