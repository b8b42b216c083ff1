#include "rdtd/base/journal.hpp"
#include "verbs.hpp"

namespace rdtd {

int verbs::reload() {
  auto client = Client::connect();
  const auto answer = client ? client->reload() : std::unexpected(client.error());
  if (answer) return Exit::ok;
  // As the unit's ExecReload: the daemon has told the journal already, with fields.
  if (answer.error().kind == Client::Failure::Kind::refused && stderr_is_journal()) return Exit::failed;
  return report(answer.error());
}

}  // namespace rdtd
