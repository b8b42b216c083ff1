// rdtd: the daemon's command line and the paths of the system that it runs on.
#include <CLI/CLI.hpp>

#include "rdtd/daemon/start.hpp"

int main(int argc, char** argv) {
  CLI::App app(
      "Keeps the shared caches and the memory bandwidth of this machine partitioned, as "
      "/etc/rdtd/*.toml says.",
      "rdtd");
  app.set_version_flag("--version", "rdtd " RDTD_VERSION);
  rdtd::Paths paths{.policy_root = "/",
                    .resctrl = "/sys/fs/resctrl",
                    .proc = "/proc",
                    .possible_cpus = "/sys/devices/system/cpu/possible",
                    .lock_devices = "/sys/class/pseudo_lock",
                    .state = "/run/rdtd",
                    .cgroups = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"},
                    .receive_buffer = 8 << 20};
  app.add_option("--receive-buffer", paths.receive_buffer,
                 "Kernel memory for process events that wait, in bytes")
      ->type_name("BYTES")
      ->capture_default_str()
      ->check(CLI::Range(4096, 1 << 30).description(""));
  app.add_flag("--watch", paths.watch, "Reload the policy if a file in its directories changes");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : 64;  // EX_USAGE
  }
  return rdtd::run_daemon(paths);
}
