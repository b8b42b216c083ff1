#include "rdtd/policy/monitor_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "names.hpp"

namespace rdtd {

namespace {

constexpr std::array<std::pair<std::string_view, MonitorTemplate::Value>, 3> monitor_values = {
    {{"{unit}", MonitorTemplate::Value::unit},
     {"{user}", MonitorTemplate::Value::user},
     {"{pod}", MonitorTemplate::Value::pod}}};

}  // namespace

bool is_monitor_template(std::string_view text) {
  return text.find_first_of("{}") != std::string_view::npos;
}

std::expected<MonitorTemplate, std::string> parse_monitor_template(std::string_view text) {
  for (const auto& [word, value] : monitor_values) {
    const size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    MonitorTemplate out{value, std::string(text.substr(0, at)),
                        std::string(text.substr(at + word.size()))};
    if (is_monitor_template(out.before) || is_monitor_template(out.after))
      return std::unexpected("it has more than one value");
    // With a value that is as short as one can be.
    if (const auto problem = name_problem(out.before + "x" + out.after))
      return std::unexpected(*problem);
    return out;
  }
  return std::unexpected("the values are {unit}, {user} and {pod}");
}

std::string MonitorTemplate::name_for(std::string_view text) const {
  std::string middle(text.substr(0, longest_name - before.size() - after.size()));
  std::ranges::replace_if(
      middle, [](char c) { return name_characters.find(c) == std::string_view::npos; }, '_');
  std::string out = before + middle + after;
  if (out.front() == '.') out.front() = '_';
  return out;
}

bool MonitorTemplate::makes(std::string_view name) const {
  return name.size() > before.size() + after.size() && name.starts_with(before) &&
         name.ends_with(after);
}

}  // namespace rdtd
