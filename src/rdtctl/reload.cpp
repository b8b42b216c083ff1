#include <fstream>

#include "lock_devices.hpp"
#include "rdtd/base/journal.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

// As ExecReload of the daemon's unit: the daemon has logged the failure already, with fields.
bool in_unit_of_daemon(const Context& context) {
  std::ifstream cgroups(context.proc + "/self/cgroup");
  for (std::string line; std::getline(cgroups, line);)
    if (line.ends_with("/rdtd.service")) return stderr_is_journal();
  return false;
}

}  // namespace

int verbs::reload(const Context& context) {
  auto client = Client::connect();
  const auto answer = client ? client->reload() : std::unexpected(client.error());
  using enum Client::Failure::Kind;
  if (answer || answer.error().kind == incomplete) renew_device_access(context);
  if (answer) {
    if (!in_unit_of_daemon(context)) check_loaded(context);
    return Exit::ok;
  }
  // The daemon has logged these.
  const bool is_logged = answer.error().kind == refused || answer.error().kind == incomplete;
  if (is_logged && in_unit_of_daemon(context)) return Exit::failed;
  return report(context, answer.error());
}

}  // namespace rdtd
