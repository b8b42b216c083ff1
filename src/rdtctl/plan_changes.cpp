#include "plan_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/base/break_lines.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/plan/step.hpp"
#include "value_text.hpp"

namespace rdtd {

namespace {

// The steps of one group taken together.
struct Change {
  bool made = false, removed = false;
  Schemata before, after;
  std::optional<CpuSet> cpus_before, cpus_after;
  std::optional<Mode> mode;
  std::vector<std::string> others;  // texts of steps of other kinds

  void add(const AdoptGroup&) { others.emplace_back("taken over"); }
  void add(const MakeGroup&) { made = true; }
  void add(const RemoveGroup&) { removed = true; }
  void add(const WriteSchemata& step) {
    for (const auto& [resource, values] : step.before)
      before[resource].insert(values.begin(), values.end());
    for (const auto& [resource, values] : step.after)
      for (const auto& [domain, value] : values) after[resource][domain] = value;
  }
  void add(const WriteCpus& step) {
    if (!cpus_before) cpus_before = step.before;
    cpus_after = step.after;
  }
  void add(const SetMode& step) { mode = step.after; }
  void add(const LockRegion& step) {
    others.push_back(fmt::format("{} domain {}: ways {} are locked", to_string(step.resource),
                                 to_string(step.domain), way_list(step.mask)));
  }
  void add(const AssignCounters& step) {
    others.push_back("counters " + mbm_assignments_line(step.events));
  }
  void add(const SetIoAlloc& step) {
    others.push_back(fmt::format("ways of {} for I/O devices are {}", to_string(step.resource),
                                 step.enabled ? "enabled" : "disabled"));
  }
};

// One that is removed and made is a region in place of a group, or has other ways: it changes.
std::pair<const char*, Judgment> sign_of(const Change& change) {
  if (change.made == change.removed) return {"~", Judgment::odd};
  return change.made ? std::pair("+", Judgment::good) : std::pair("-", Judgment::bad);
}

// "4 ways (f)", "20%"; "0=4 ways (f);1=2 ways (3)" where domains differ.
std::string amounts_text(const Capabilities& capabilities, Resource resource,
                         const DomainValues& values) {
  std::map<DomainId, std::string> texts;
  for (const auto& [domain, value] : values)
    texts[domain] = is_cache(resource) ? ways_text(Cbm{value}, 0)
                                       : amount_text(capabilities, resource, domain, value);
  return domains_text(capabilities, resource, texts);
}

std::vector<std::string> parts_of(const Capabilities& capabilities, const Change& change) {
  std::vector<std::string> out;
  if (change.removed && !change.made) return out;
  if (change.made && change.removed) out.emplace_back("made again");
  for (const auto& [resource, values] : change.after) {
    std::string text =
        fmt::format("{} {}", to_string(resource), amounts_text(capabilities, resource, values));
    if (const auto was = change.before.find(resource); was != change.before.end())
      text += ", was " + amounts_text(capabilities, resource, was->second);
    out.push_back(std::move(text));
  }
  if (change.cpus_after)
    out.push_back(fmt::format("CPUs {}{}", cpus_text(*change.cpus_after),
                              change.made ? "" : ", was " + cpus_text(*change.cpus_before)));
  if (change.mode && !(change.made && *change.mode == Mode::shareable))
    out.push_back(fmt::format("mode {}", to_string(*change.mode)));
  out.insert(out.end(), change.others.begin(), change.others.end());
  return out;
}

}  // namespace

void print_changes(const Context& context, const Capabilities& capabilities, const Steps& changes) {
  std::map<std::string, Change> groups;
  std::vector<std::string> order;  // of the first step of each
  size_t widest = 0;
  for (const auto* part : parts(changes))
    for (const Step& step : *part) {
      const auto [group, is_new] = groups.try_emplace(group_of(step));
      std::visit([&change = group->second](const auto& one) { change.add(one); }, step);
      if (!is_new) continue;
      order.push_back(group->first);
      constexpr size_t widest_padded = 20;
      if (const size_t width = group_label(group->first).size(); width <= widest_padded)
        widest = std::max(widest, width);
    }
  constexpr size_t indent = 4;  // of the lines after the first one
  for (const std::string& name : order) {
    const Change& change = groups.at(name);
    const auto [sign, judgment] = sign_of(change);
    const std::string text = fmt::format("{:<{}}  {}", group_label(name), widest,
                                         join(parts_of(capabilities, change), "; "));
    const size_t width = width_of_text(context) - std::min<size_t>(2, width_of_text(context));
    print("{} {}\n", colored(context, judgment, sign), break_lines(trim(text), width, indent));
  }
}

}  // namespace rdtd
