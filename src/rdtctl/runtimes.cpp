#include "runtimes.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/container.hpp"

namespace rdtd {

namespace {

namespace fs = std::filesystem;

// Lines that set rdt_config_file to something; what is commented out does not.
void look_in(const fs::path& file, const char* runtime, std::vector<RuntimeSetting>& found) {
  const auto directory = Directory::open(file.parent_path().string());
  const std::string text = directory ? directory->read(file.filename().string()).value_or("") : "";
  unsigned number = 0;
  for (const std::string_view line : split(text, '\n')) {
    number++;
    const std::string_view setting = trim(line);
    const size_t equals = setting.find('=');
    if (equals == std::string_view::npos || trim(setting.substr(0, equals)) != "rdt_config_file")
      continue;
    const std::string_view value = trim(setting.substr(equals + 1));
    if (!value.starts_with("\"\"") && !value.starts_with("''"))
      found.push_back({runtime, fmt::format("{}:{}", file.string(), number)});
  }
}

void look_in_directory(const fs::path& path, const char* runtime,
                       std::vector<RuntimeSetting>& found) {
  const auto directory = Directory::open(path.string());
  const auto entries = directory ? directory->list() : std::unexpected(directory.error());
  for (const Directory::Entry& entry : entries.value_or(std::vector<Directory::Entry>{}))
    look_in(path / entry.name, runtime, found);
}

}  // namespace

std::vector<RuntimeSetting> find_runtime_settings(const std::string& root) {
  std::vector<RuntimeSetting> found;
  const fs::path etc = fs::path(root) / "etc";
  look_in(etc / "containerd/config.toml", "containerd", found);
  look_in_directory(etc / "containerd/conf.d", "containerd", found);
  look_in(etc / "crio/crio.conf", "crio", found);
  look_in_directory(etc / "crio/crio.conf.d", "crio", found);
  // Distributions of Kubernetes with a containerd of their own; they generate its configuration
  // from a template beside it.
  const fs::path var = fs::path(root) / "var";
  for (const char* name : {"k3s", "rke2"}) {
    const fs::path directory = var / "lib/rancher" / name / "agent/etc/containerd";
    look_in_directory(directory, name, found);
    look_in_directory(directory / "config.toml.d", name, found);
    look_in_directory(directory / "config-v3.toml.d", name, found);
  }
  look_in_directory(var / "snap/microk8s/current/args", "microk8s", found);
  return found;
}

std::string find_mixed_drivers_cgroup(const std::string& root) {
  // As in the hybrid layout, and as in the unified one.
  for (const char* hierarchy : {"sys/fs/cgroup/unified", "sys/fs/cgroup"})
    for (const std::string_view parent : mixed_driver_parents) {
      const auto directory =
          Directory::open((fs::path(root) / hierarchy).string() + std::string(parent));
      const auto entries = directory ? directory->list() : std::unexpected(directory.error());
      if (!entries) continue;
      for (const auto& [name, is_directory] : *entries) {
        const std::string path = fmt::format("{}/{}", parent, name);
        if (name.contains(':') && !container_of_cgroup(path).container.empty()) return path;
      }
    }
  return "";
}

}  // namespace rdtd
