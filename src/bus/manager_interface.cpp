#include "rdtd/bus/manager_interface.hpp"

namespace rdtd {

std::string shares_line(const std::vector<Share>& shares) {
  std::string out;
  std::string_view resource;
  for (const Share& share : shares) {
    if (share.resource != resource) {
      out += (out.empty() ? "" : " ") + share.resource + ":";
      resource = share.resource;
    } else {
      out += ";";
    }
    out += std::to_string(share.domain) + "=" + share.text;
  }
  return out;
}

uint64_t ManagerProperties::assigned() const {
  uint64_t sum = 0;
  for (const AssignmentCount& count : assignments)
    if (count.result == "moved") sum += count.threads;
  return sum;
}

}  // namespace rdtd
