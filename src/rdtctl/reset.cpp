#include <fmt/format.h>

#include <cstdio>

#include "verbs.hpp"

namespace rdtd {

int verbs::reset() {
  auto client = Client::connect();
  const auto answer = client ? client->reset() : std::unexpected(client.error());
  if (!answer) return report(answer.error());
  fmt::print(stderr, "rdtctl: every group that rdtd made is removed, until the next reload or start of rdtd\n");
  return Exit::ok;
}

}  // namespace rdtd
