// The amounts that users write in another form than the policy language has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

// Whether the text is no amount of a cache, but one of bandwidth, or the reverse: "8 GB/s", "4
// ways".
[[nodiscard]] bool is_amount_of_other(std::string_view text, bool is_cache);
// ["8 GB/s", "50%"] of "8 GB/s, 50%": one amount in two forms.
[[nodiscard]] std::optional<std::string> two_forms_meant(std::string_view text);
// "50%" of "51-100%", as others write a part of a cache by its place.
[[nodiscard]] std::optional<std::string> part_meant(std::string_view text);
// The amount that `text`, which is none, probably stands for: "4 MiB" for "4MB".
[[nodiscard]] std::optional<std::string> cache_amount_meant(std::string_view text);
// The hint for "exclusive" and "4 ways exclusive".
[[nodiscard]] std::optional<std::string> instead_of_exclusive(std::string_view text);
// "8 GB/s" for "8 GB".
[[nodiscard]] std::optional<std::string> bandwidth_amount_meant(std::string_view text);
// "5..9 ways" of its two ends, of which one may be empty. A most alone is the amount itself, as
// each amount is; a least alone is one too in a cache, or else its group would get the whole cache.
[[nodiscard]] std::optional<std::string> amount_of_ends(std::string_view least,
                                                        std::string_view most, bool is_cache);
// "1..9 ways" of "9 ways", where a range without its first end is written.
[[nodiscard]] std::optional<std::string> range_below(std::string_view most, bool is_cache);
// The end of a hint about the least that a group gets of a cache; not for a group in a partition.
inline constexpr std::string_view to_keep_others_out = "; exclusive = true keeps others out";

// The table for a line of `schemata`, "L3:0=f;1=3" or "0=50;1=100": { "0" = "0xf", "1" = "0x3" }.
[[nodiscard]] std::optional<std::string> domain_table_meant(std::string_view text, bool is_cache);

}  // namespace rdtd
