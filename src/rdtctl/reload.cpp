#include "verbs.hpp"

namespace rdtd {

int reload(const Context&) {
  auto client = Client::connect();
  const auto answer = client ? client->reload() : std::unexpected(client.error());
  return answer ? Exit::ok : report(answer.error());
}

}  // namespace rdtd
