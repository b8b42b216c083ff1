#include <fmt/format.h>

#include <cstdio>

#include "verbs.hpp"

namespace rdtd {

namespace {

int reset() {
  auto client = Client::connect();
  const auto answer = client ? client->reset() : std::unexpected(client.error());
  if (!answer) return report(answer.error());
  fmt::print(stderr, "rdtctl: every group that rdtd made is removed, until the next reload or start of rdtd\n");
  return Exit::ok;
}

}  // namespace

void add_reset(const Verbs& verbs) {
  verbs.add("reset", "Remove every group that rdtd made; other groups stay", "rdtctl reset").callback([verbs] { verbs.exit = reset(); });
}

}  // namespace rdtd
