// A datagram of the kernel's process connector.
#include "fuzz/input.hpp"
#include "rdtd/proc/event.hpp"

using namespace rdtd;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto datagram = std::as_bytes(std::span(data, size));
  for (size_t before = datagram.size(); next_event(datagram); before = datagram.size())
    fuzz::require(datagram.size() < before, "each event is taken off the datagram");
  return 0;
}
