#include "policy_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "groups.hpp"
#include "output.hpp"
#include "print.hpp"
#include "rdtd/base/text.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

Result<void> restore(const Directory& directory, const std::string& file,
                     const std::optional<std::string>& before) {
  if (before) return directory.replace_durably(file, *before);
  if (::unlinkat(directory.fd(), file.c_str(), 0) != 0 && errno != ENOENT)
    return errno_error("remove", directory.path_of(file));
  return {};
}

// Behind the problem of a file that is none. `verb`: the one that reads it.
std::string what_is_meant(const Context& context, const std::string& path,
                          const std::string& verb) {
  namespace fs = std::filesystem;
  const fs::path usual = fs::path(context.root) / lasting_directory.substr(1);
  std::error_code unknown;
  if (fs::is_directory(path, unknown))
    return fs::equivalent(path, usual, unknown)
               ? fmt::format("; 'rdtctl {}' without FILE takes all files of {}", verb,
                             lasting_directory)
               : fmt::format("; name its files: rdtctl {} {}{}*.toml", verb, path,
                             path.ends_with('/') ? "" : "/");
  if (fs::exists(path, unknown)) return {};
  if (const std::string whole = path + ".toml"; fs::exists(whole, unknown))
    return fmt::format(" (there is {})", whole);
  if (path.contains('/')) return {};
  for (const std::string& directory : policy_directories(context.root))
    for (const std::string& name : {path, path + ".toml"})
      if (const fs::path there = fs::path(directory) / name; fs::exists(there, unknown))
        return fmt::format(" (there is {})", there.string());
  return is_group(context, path) ? fmt::format(" ('{0}' is a group: rdtctl show {0})", path) : "";
}

}  // namespace

std::vector<PolicyFile> read_named_files(const Context& context,
                                         const std::vector<std::string>& paths,
                                         const std::string& verb) {
  std::vector<PolicyFile> files = read_policy_files(paths);
  for (PolicyFile& file : files)
    if (file.state == PolicyFile::State::unreadable)
      file.problem += what_is_meant(context, file.path, verb);
  return files;
}

Result<Directory> open_policy_directory(std::string_view directory) {
  const std::string path(directory);
  // Whatever the umask is: not only root reads policies.
  const bool made = ::mkdir(path.c_str(), 0755) == 0;
  if (!made && errno != EEXIST) return errno_error("make", path);
  if (made && ::chmod(path.c_str(), 0755) != 0) return errno_error("change the mode of", path);
  return Directory::open(path);
}

Result<std::optional<std::string>> read_present(const Directory& directory,
                                                const std::string& file) {
  auto text = directory.read(file);
  if (!text && text.error().code == ENOENT) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  return std::move(*text);
}

int put_in_force(Client& client, const Directory& directory, const std::string& file,
                 const std::string& text) {
  const auto before = read_present(directory, file);
  if (!before) return report_file(before.error());
  if (const auto written = directory.replace_durably(file, text); !written) {
    // It may be there all the same, and somebody may load it.
    (void)restore(directory, file, *before);
    return report_file(written.error());
  }
  const auto reloaded = client.reload();
  if (reloaded) return Exit::ok;
  const int exit = report(reloaded.error());
  // Nothing is wrong with the policy.
  if (reloaded.error().kind == Client::Failure::Kind::incomplete) return Exit::ok;
  if (const auto restored = restore(directory, file, *before); !restored)
    return report_file(restored.error());
  (void)client.reload();  // the error about a file that is gone is forgotten
  note("rdtctl: '{}' is {}\n", directory.path_of(file),
       *before ? "as it was before" : "removed again");
  return exit;
}

Result<void> may_install_policy_file(const std::string& name) {
  const auto directory = open_policy_directory(lasting_directory);
  if (!directory) return std::unexpected(directory.error());
  if (::faccessat(directory->fd(), ".", W_OK, AT_EACCESS) < 0)
    return errno_error("write to", directory->path());
  struct stat status{};
  if (::fstatat(directory->fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISREG(status.st_mode))
    return std::unexpected(Error{"replace", directory->path_of(name), 0,
                                 S_ISLNK(status.st_mode) ? "it is a link" : "it is no file"});
  return {};
}

bool check_policy_file(const Context& context, const std::string& name, const std::string& text) {
  std::vector<PolicyFile> files = find_policy_files(context.root);
  const auto name_of_file = [](const PolicyFile& file) {
    return std::filesystem::path(file.path).filename().string();
  };
  std::erase_if(files, [&](const PolicyFile& file) { return name_of_file(file) == name; });
  PolicyFile changed;
  changed.path = printable(fmt::format("{}/{}", lasting_directory, name));
  changed.text = text;
  files.insert(std::ranges::lower_bound(files, name, {}, name_of_file), changed);
  if (const auto machine = read_machine(context); machine) {
    const auto planned = plan_files(context, files);
    if (planned && ::isatty(STDOUT_FILENO) == 1) verbs::print_planned(context, *planned);
    return planned.has_value();
  }
  const ParsedPolicy parsed = parse_policy(files);
  note_diagnostics(context, parsed.diagnostics, parsed.policy.sources);
  return !has_errors(parsed.diagnostics);
}

int install_policy_file(const std::string& name, const std::string& text) {
  const auto directory = open_policy_directory(lasting_directory);
  if (!directory) return report_file(directory.error());
  auto client = Client::connect();
  const auto running = client ? client->properties() : std::unexpected(client.error());
  if (!running && !running.error().unreachable()) return report(running.error());
  if (running) {
    if (const int failed = put_in_force(*client, *directory, name, text); failed != Exit::ok)
      return failed;
    print("{} is in force.\n", directory->path_of(name));
    return Exit::ok;
  }
  if (const auto written = directory->replace_durably(name, text); !written)
    return report_file(written.error());
  note("rdtctl: {} is written, and is not in force: {}\n", directory->path_of(name),
       running.error().text);
  return Exit::not_running;
}

}  // namespace rdtd
