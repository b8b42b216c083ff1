// MonitorTemplate: monitor = "pod-{pod}": a monitoring group for each value that processes have,
// made as they come.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

struct MonitorTemplate {
  enum class Value { unit, user, pod };
  Value value = Value::unit;
  std::string before, after;  // what stands beside it

  // The name of the group for a value. What a name cannot have becomes '_', and it is cut to the
  // length of a name.
  [[nodiscard]] std::string name_for(std::string_view text) const;
  // Whether name_for can have given this name.
  [[nodiscard]] bool makes(std::string_view name) const;
};

// Whether a rule's `monitor` is a template. It is parsed without errors then, in a policy that was
// read.
[[nodiscard]] bool is_monitor_template(std::string_view text);
// "{unit}", "pod-{pod}". The error says what is wrong.
[[nodiscard]] std::expected<MonitorTemplate, std::string> parse_monitor_template(
    std::string_view text);

}  // namespace rdtd
