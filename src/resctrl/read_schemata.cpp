// The amounts of one group, as they were written and not as the kernel rounds them.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "controls.hpp"
#include "info_reader.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd::resctrl {

namespace {

// So that nobody writes back what a group starts with, it is read as the highest rate. No value of
// another unit is as high.
Result<void> cap_rates(const Filesystem& filesystem, Schemata& schemata) {
  const auto rates = schemata.find(Resource::MB);
  if (rates == schemata.end() || largest(rates->second) <= uint32_t{INT32_MAX}) return {};
  InfoReader info(filesystem, to_string(Resource::MB));
  const uint32_t highest = highest_rate(std::max(1U, info.number_or("bandwidth_gran", 10, 1)));
  if (info.error()) return std::unexpected(*info.error());
  for (auto& [domain, value] : rates->second) value = std::min(value, highest);
  return {};
}

// So that a percentage reads as it was written, see percent_as_read().
Result<void> restore_percentages(const Filesystem& filesystem, Schemata& schemata) {
  constexpr uint32_t whole = 100;
  const auto shares = schemata.find(Resource::MB);
  if (shares == schemata.end() || largest(shares->second) > whole) return {};
  if (std::ranges::all_of(shares->second, [](const auto& share) { return share.second == whole; }))
    return {};
  InfoReader info(filesystem, to_string(Resource::MB));
  const unsigned step = info.number_or("bandwidth_gran", 10, 0);
  if (info.error()) return std::unexpected(*info.error());
  if (step == 0) return {};
  std::map<uint32_t, uint32_t> written;
  for (uint32_t value = step; value < whole; value += step)
    if (const uint32_t read = percent_as_read(value, step); read != whole) written[read] = value;
  for (auto& [domain, value] : shares->second)
    if (const auto found = written.find(value); found != written.end()) value = found->second;
  return {};
}

// The rows of a group's schemata that are no constants.
Result<std::set<Resource>> other_rows(const Filesystem& filesystem, std::string_view schemata) {
  ControlReader controls(filesystem);
  std::set<Resource> out;
  for (const std::string_view name : row_names(schemata))
    if (!parse_resource(name))
      if (const auto row = controls.row(name)) out.insert(*row);
  if (controls.error()) return std::unexpected(*controls.error());
  return out;
}

}  // namespace

Result<Schemata> read_schemata(const Filesystem& filesystem, const std::string& group,
                               const std::set<Resource>* others) {
  const std::string file = file_of(group, "schemata");
  const auto text = filesystem.read(file);
  if (!text) return std::unexpected(text.error());
  const auto rows = others != nullptr ? *others : other_rows(filesystem, *text);
  if (!rows) return std::unexpected(rows.error());
  auto schemata = parse_schemata(*text, *rows);
  if (!schemata) return misread(filesystem, file, schemata.error().text());
  // Without them the amounts would look like another tool's.
  if (auto done = cap_rates(filesystem, *schemata); !done) return std::unexpected(done.error());
  if (auto done = restore_percentages(filesystem, *schemata); !done)
    return std::unexpected(done.error());
  return *std::move(schemata);
}

}  // namespace rdtd::resctrl
