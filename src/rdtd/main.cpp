// rdtd: the daemon's command line and the paths of the system that it runs on.
#include <CLI/CLI.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "rdtd/daemon/start.hpp"

namespace {

struct Advice {
  std::string_view words;  // what other daemons take, with spaces around each
  const char* sentence;
};

constexpr const char* started_by_systemd = "systemd starts rdtd: systemctl start rdtd";

constexpr auto advice = std::to_array<Advice>({
    {" --check --test --validate --syntax --verify -t -T -n check test validate configtest lint ",
     "rdtctl check checks the policy"},
    {" start restart run daemon serve enable --daemon --daemonize --foreground --no-daemon "
     "--nofork -f -F -d -D ",
     started_by_systemd},
    {" stop disable ", "systemd stops rdtd: systemctl stop rdtd"},
    {" reload -s ", "rdtctl reload puts the files of /etc/rdtd in force"},
    {" status list show top plan explain doctor ", "that is a verb of rdtctl"},
    {" --config --config-file --conf --policy --file -c -C ",
     "rdtd reads the files of /etc/rdtd; rdtctl check FILE checks one of them"},
    {" --root --resctrl ", "rdtctl has this option; rdtd serves this machine"},
    {" --debug --verbose --log-level -v -vv ", "log_level in [daemon] of the policy is for that"},
    {" -V version ", "rdtd --version shows the version"},
    {" help -? ", "rdtd --help shows the options"},
});

// The error about a word that rdtd does not take.
std::string refusal(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  const bool option = word.starts_with('-');
  std::string out = "rdtd: " + std::string(option ? "unknown option '" : "unexpected argument '");
  out.append(word).append("'; ");
  for (const Advice& row : advice)
    if (!name.empty() && row.words.contains(" " + std::string(name) + " "))
      return out + row.sentence;
  return out + (option ? "rdtd --help shows the options" : started_by_systemd);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Keeps the shared caches and the memory bandwidth of this machine partitioned,\n"
      "as /etc/rdtd/*.toml says. systemd starts it; rdtctl is for everything else.",
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
                 "Kernel memory for waiting process events, in bytes")
      ->type_name("BYTES")
      ->capture_default_str()
      ->check(CLI::Range(4096, 1 << 30).description(""));
  app.add_flag("--watch", paths.watch, "Reload the policy if one of its files changes");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    const auto rest = app.remaining();
    std::fprintf(stderr, "%s\n", refusal(rest.empty() ? "" : rest.front()).c_str());
    return 64;  // EX_USAGE
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::fprintf(stderr, "rdtd: %s\n", error.what());
    return 64;  // EX_USAGE
  }
  return rdtd::run_daemon(paths);
}
