#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "jobs.hpp"
#include "rdtd/proc/connector.hpp"

namespace rdtd::bench {

namespace {

void look_at_name(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/comm";
  std::array<char, 64> name{};
  const UniqueFd comm(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (comm) (void)!::pread(comm.get(), name.data(), name.size(), 0);
}

}  // namespace

int listen(Arguments arguments) {
  if (arguments.size() < 2) return 64;
  const bool look = arguments.size() == 3 && std::strcmp(arguments[2], "comm") == 0;
  const UniqueFd tasks(::open(arguments[1], O_WRONLY | O_CLOEXEC));
  auto connector = Connector::open(Connector::Events::exec, 8 << 20, true);
  if (!tasks || !connector || !connector->subscribe(std::chrono::seconds(2))) return 1;
  std::puts("ready");
  (void)std::fflush(stdout);
  std::vector<ProcEvent> events;
  while (true) {
    events.clear();
    (void)connector->receive(events);
    for (const ProcEvent& event : events) {
      if (event.kind != ProcEvent::Kind::exec) continue;
      if (look) look_at_name(event.pid);
      const std::string pid = std::to_string(event.pid);
      (void)!::write(tasks.get(), pid.data(), pid.size());
    }
  }
}

}  // namespace rdtd::bench
