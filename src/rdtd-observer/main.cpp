// rdtd-observer: its command line and the paths of the system that it runs on.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "observer.hpp"

int main(int argc, char** argv) {
  CLI::App app("Records what the groups of /sys/fs/resctrl use, and says who takes whose cache.",
               "rdtd-observer");
  app.set_version_flag("--version", "rdtd-observer " RDTD_VERSION);
  // The unit's StateDirectory=.
  const char* state = std::getenv("STATE_DIRECTORY");
  // The unit's Environment=.
  const char* boot = std::getenv("RDTD_BOOT_ID");
  rdtd::ObserverPaths paths{"/",
                            "/sys/fs/resctrl",
                            "/proc",
                            state != nullptr ? state : "/var/lib/rdtd/history",
                            "/var/lib/rdtd",
                            boot != nullptr ? boot : ""};
  app.add_option("--history", paths.history, "The directory of the recordings")
      ->type_name("DIRECTORY")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::fprintf(stderr, "rdtd-observer: %s\n", error.what());
    return 64;  // EX_USAGE
  }
  return rdtd::run_observer(paths);
}
