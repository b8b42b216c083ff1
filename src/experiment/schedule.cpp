#include "rdtd/experiment/schedule.hpp"

namespace rdtd::experiment {

std::vector<Run> schedule(size_t conditions, size_t rounds, size_t warm_ups) {
  std::vector<Run> out;
  for (size_t round = 0; round < warm_ups + rounds; ++round) {
    const bool warm_up = round < warm_ups;
    for (size_t position = 0; position < conditions; ++position)
      out.push_back({warm_up ? 0 : round - warm_ups, (round + position) % conditions, warm_up});
  }
  return out;
}

}  // namespace rdtd::experiment
