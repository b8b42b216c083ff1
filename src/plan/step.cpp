#include "rdtd/plan/step.hpp"

#include <fmt/format.h>

#include <array>

#include "rdtd/base/break_lines.hpp"

namespace rdtd {

namespace {

std::string change_text(const WriteSchemata& step) {
  std::string out;
  for (const auto& [resource, values] : step.after) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", to_string(resource),
                       format_values_merged(resource, values));
    if (const auto before = step.before.find(resource); before != step.before.end())
      out += fmt::format(" (was {})", format_values_merged(resource, before->second));
  }
  return out;
}

struct Details {
  std::string operator()(const AdoptGroup&) const { return {}; }
  std::string operator()(const MakeGroup&) const { return {}; }
  std::string operator()(const RemoveGroup&) const { return {}; }
  std::string operator()(const WriteSchemata& step) const { return "  " + change_text(step); }
  std::string operator()(const WriteCpus& step) const {
    return fmt::format("  {} (was {})", cpus_text(step.after), cpus_text(step.before));
  }
  std::string operator()(const SetMode& step) const {
    return fmt::format("  {}", to_string(step.after));
  }
  std::string operator()(const LockRegion& step) const {
    return fmt::format("  {}:{}={}", to_string(step.resource), to_string(step.domain),
                       to_string(step.mask));
  }
  std::string operator()(const AssignCounters& step) const {
    return "  " + mbm_assignments_line(step.events);
  }
  std::string operator()(const SetIoAlloc& step) const {
    return fmt::format("  {} {}", to_string(step.resource), step.enabled ? "enabled" : "disabled");
  }
};

}  // namespace

const std::string& group_of(const Step& step) {
  return std::visit([](const auto& one) -> const std::string& { return one.group; }, step);
}

std::string_view kind_of(const Step& step) {
  constexpr std::array<std::string_view, std::variant_size_v<Step>> names = {
      "adopt", "create", "remove", "schemata", "cpus", "mode", "lock", "assign", "io_alloc"};
  return names.at(step.index());
}

std::string format_step(const Step& step) {
  return fmt::format("{:<8}  {}{}", kind_of(step), group_label(group_of(step)),
                     std::visit(Details{}, step));
}

std::string break_step(std::string_view text, size_t width) {
  constexpr size_t indent = 10;  // where the name of the group begins
  return break_lines(text, width, indent);
}

}  // namespace rdtd
