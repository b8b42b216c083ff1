#include "rdtd/resctrl/members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "rdtd/base/text.hpp"
#include "rdtd/model/cpu_list.hpp"
#include "rdtd/resctrl/read.hpp"

namespace rdtd::resctrl {

namespace {

constexpr std::string_view iommu_prefix = "iommu_group:";

}  // namespace

Members parse_members(std::string_view tasks) {
  Members out;
  for (const std::string_view line : split(tasks, '\n'))
    if (const auto tid = parse_unsigned<uint32_t>(line))
      out.tasks.push_back(static_cast<pid_t>(*tid));
    else if (line.starts_with(iommu_prefix))
      if (const auto id = parse_unsigned<unsigned>(trim(line.substr(iommu_prefix.size()))))
        out.iommu_groups.insert(*id);
  std::ranges::sort(out.tasks);
  return out;
}

Result<Members> read_members(const Filesystem& filesystem, const std::string& group) {
  const auto text = filesystem.read(file_of(group, "tasks"));
  if (!text) return std::unexpected(text.error());
  return parse_members(*text);
}

std::string iommu_group_word(unsigned iommu_group) {
  return fmt::format("{}{}", iommu_prefix, iommu_group);
}

std::string iommu_groups_text(const std::set<unsigned>& iommu_groups) {
  if (iommu_groups.empty()) return {};
  return fmt::format("IOMMU group{} {}", iommu_groups.size() == 1 ? "" : "s",
                     format_cpu_list(iommu_groups));
}

}  // namespace rdtd::resctrl
