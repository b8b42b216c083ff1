// The amounts that users write in another form than the policy language has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

// The amount that `text`, which is none, probably stands for: "4 MiB" for "4MB".
[[nodiscard]] std::optional<std::string> cache_amount_meant(std::string_view text);
// "8 GB/s" for "8 GBps".
[[nodiscard]] std::optional<std::string> bandwidth_amount_meant(std::string_view text);

}  // namespace rdtd
