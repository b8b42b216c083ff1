// assign --unit: a rule in a policy file of its own, in force after a reload.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <vector>

#include "print.hpp"
#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"
#include "unit_processes.hpp"
#include "unit_rule.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

constexpr const char* lasting_directory = "/etc/rdtd";
constexpr const char* runtime_directory = "/run/rdtd";

// Creates the directory if it does not exist.
Result<Directory> open_policy_directory(const char* path) {
  if (::mkdir(path, 0755) != 0 && errno != EEXIST) return errno_error("make", path);
  return Directory::open(path);
}

// Nothing if there is no such file.
Result<std::optional<std::string>> read_present(const Directory& directory,
                                                const std::string& file) {
  auto text = directory.read(file);
  if (!text && text.error().code == ENOENT) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  return std::move(*text);
}

Result<void> restore(const Directory& directory, const std::string& file,
                     const std::optional<std::string>& before) {
  if (before) return directory.replace(file, *before);
  if (::unlinkat(directory.fd(), file.c_str(), 0) != 0 && errno != ENOENT)
    return errno_error("remove", directory.path_of(file));
  return {};
}

// Puts the rule in force, or leaves the file as it was.
int put_in_force(Client& client, const Directory& directory, const std::string& file,
                 const std::string& text) {
  const auto before = read_present(directory, file);
  if (!before) return report_file(before.error());
  if (const auto written = directory.replace(file, text); !written)
    return report_file(written.error());
  const auto reloaded = client.reload();
  if (reloaded) return Exit::ok;
  const int exit = report(reloaded.error());
  if (const auto restored = restore(directory, file, *before); !restored)
    return report_file(restored.error());
  (void)client.reload();  // the error about a file that is gone is forgotten
  note("rdtctl: '{}' is {}\n", directory.path_of(file),
       *before ? "as it was before" : "removed again");
  return exit;
}

// "redis" of "redis/web", a monitoring group.
std::string_view control_group_name(std::string_view label) {
  return label.substr(0, label.find('/'));
}

// Another rule decides about the unit: which one, for a process of the unit.
std::optional<std::string> earlier_rule(const Context& context, Client& client,
                                        const std::string& unit, const std::string& group) {
  const auto processes = processes_of_unit(context, unit);
  for (const pid_t pid : processes ? *processes : std::vector<pid_t>{}) {
    const auto explanation = client.explain(pid);
    if (!explanation) continue;  // it may have ended
    const auto decides =
        std::ranges::find_if(explanation->trials, [](const auto& trial) { return trial.matched; });
    // A manual assignment is about this process alone.
    if (decides == explanation->trials.end() || control_group_name(decides->group) == group ||
        !decides->place.contains(':'))
      continue;
    return fmt::format(
        "process {} ({}) of unit '{}' belongs in group '{}': the rule at {} matches "
        "first",
        pid, printable(explanation->name), unit, decides->group, decides->place);
  }
  return std::nullopt;
}

}  // namespace

int verbs::assign_unit(const Context& context, const std::string& group, const std::string& unit,
                       bool runtime) {
  const std::string complete = complete_unit_name(unit);
  const std::string file = unit_rule_file(complete);
  const auto lasting = std::filesystem::path(lasting_directory) / file;
  std::error_code ignored;
  // A file in /etc replaces the file of the same name in /run.
  if (runtime && std::filesystem::exists(std::filesystem::symlink_status(lasting, ignored))) {
    note("rdtctl: '{}' assigns the unit permanently and takes precedence: remove it first\n",
         lasting.string());
    return Exit::failed;
  }
  auto client = Client::connect();
  if (!client) return report(client.error());
  // A connection to the bus is no proof that the daemon runs.
  if (const auto running = client->properties(); !running) return report(running.error());
  const auto directory = open_policy_directory(runtime ? runtime_directory : lasting_directory);
  if (!directory) return report_file(directory.error());
  const int exit = put_in_force(*client, *directory, file, unit_rule_text(group, complete));
  if (exit != Exit::ok) return exit;
  if (const auto other = earlier_rule(context, *client, complete, group)) {
    note("rdtctl: {}\nrdtctl: the rule of '{}' is in force, but comes after it\n", *other,
         directory->path_of(file));
    return Exit::failed;
  }
  note("rdtctl: unit '{}' is in group '{}'{}: '{}'\n", complete, group,
       runtime ? " until the next boot" : "", directory->path_of(file));
  return Exit::ok;
}

}  // namespace rdtd
