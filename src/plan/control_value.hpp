// Converts an amount of a control to its value in `schemata`, as the kernel describes the control.
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "rdtd/model/control.hpp"
#include "rdtd/policy/amount.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

// The names that kernels have for the floor of bandwidth.
inline constexpr std::array<std::string_view, 2> floors_of_bandwidth = {floor_of_bandwidth,
                                                                        "MBMIN"};

struct ControlRefusal {
  std::string message;
  std::string hint;
  // The machine has no such form of amount; else the amount does not fit.
  bool unsupported = false;
};

// Rounded up as the kernel rounds it, so that it reads back the same.
[[nodiscard]] std::expected<uint32_t, ControlRefusal> control_value(const Amount& amount,
                                                                    const Resource& name,
                                                                    const Control& control);

}  // namespace rdtd
