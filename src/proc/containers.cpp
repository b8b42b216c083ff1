#include "rdtd/proc/containers.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "rdtd/base/text.hpp"
#include "rdtd/model/container.hpp"

namespace rdtd::proc {

namespace {

using Names = std::unordered_map<std::string, std::string>;
using Json = nlohmann::json;

constexpr const char* pods_directory = "var/log/pods";
constexpr const char* links_directory = "var/log/containers";
constexpr const char* docker_directory = "var/lib/docker/containers";
// With the file that is in each of their directories DRIVER-containers.
constexpr std::pair<const char*, const char*> storages[] = {
    {"var/lib/containers/storage", "containers.json"},
    {"run/containers/storage", "volatile-containers.json"}};
constexpr std::chrono::milliseconds first_try{50}, longest_pause{6400};
// More containers than a machine has. Only names of these are looked for.
constexpr size_t most_unknown = 10'000;

bool is_missing(const Error& error) { return error.code == ENOENT || error.code == ENOTDIR; }

// Nothing if there is no such directory.
Result<std::vector<Directory::Entry>> list(const Directory& root, const std::string& path) {
  const auto directory = root.open_directory(path);
  if (!directory && is_missing(directory.error())) return {};
  if (!directory) return std::unexpected(directory.error());
  return directory->list();
}

// Null if there is no such file.
Result<Json> read_json(const Directory& root, const std::string& path) {
  const auto text = root.read(path);
  if (!text && is_missing(text.error())) return Json();
  if (!text) return std::unexpected(text.error());
  Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded())
    return std::unexpected(Error{"parse", root.path_of(path), EBADMSG, "it is not JSON"});
  return json;
}

// The names that a source has, and the reason why it does not have more.
struct Read {
  Names names;
  std::optional<Error> error = {};

  // The first one; what it is about is left out.
  void fail(const Error& what) {
    if (!error) error = what;
  }
};

// NAMESPACE_POD_UID. No name of Kubernetes has a '_'.
Read read_pods(const Directory& root) {
  const auto entries = list(root, pods_directory);
  if (!entries) return {{}, entries.error()};
  Read out;
  for (const auto& [name, is_directory] : *entries)
    if (const auto parts = split(name, '_'); parts.size() == 3)
      out.names.emplace(parts[2], std::string(parts[0]) + '/' + std::string(parts[1]));
  return out;
}

// POD_NAMESPACE_CONTAINER-ID.log
Read read_links(const Directory& root) {
  const auto entries = list(root, links_directory);
  if (!entries) return {{}, entries.error()};
  Read out;
  for (const auto& [name, is_directory] : *entries) {
    const auto parts = split(name, '_');
    if (parts.size() != 3 || !parts[2].ends_with(".log")) continue;
    const std::string_view last = parts[2].substr(0, parts[2].size() - 4);
    const size_t dash = last.rfind('-');
    if (dash != std::string_view::npos)
      out.names.emplace(last.substr(dash + 1), last.substr(0, dash));
  }
  return out;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// Docker's own names begin with '/'.
Read read_docker(const Directory& root) {
  const auto entries = list(root, docker_directory);
  if (!entries) return {{}, entries.error()};
  Read out;
  for (const auto& [id, is_directory] : *entries) {
    if (!is_directory) continue;
    const auto config =
        read_json(root, std::string(docker_directory) + '/' + id + "/config.v2.json");
    if (!config) out.fail(config.error());
    if (!config) continue;
    const std::string name = text_of(*config, "Name");
    if (!name.empty()) out.names.emplace(id, name.substr(name.starts_with('/') ? 1 : 0));
  }
  return out;
}

Read read_storage(const Directory& root, const std::string& path, const std::string& file) {
  const auto drivers = list(root, path);
  if (!drivers) return {{}, drivers.error()};
  Read out;
  for (const auto& [driver, is_directory] : *drivers) {
    if (!driver.ends_with("-containers")) continue;
    const auto containers = read_json(root, path + '/' + driver + '/' + file);
    if (!containers) out.fail(containers.error());
    if (!containers || !containers->is_array()) continue;
    for (const Json& container : *containers) {
      const auto names = container.is_object() ? container.find("names") : container.end();
      if (names != container.end() && names->is_array() && !names->empty() &&
          names->front().is_string())
        out.names.emplace(text_of(container, "id"), names->front().get<std::string>());
    }
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<Containers>> Containers::make(Directory root) {
  UniqueFd wanted(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wanted) return errno_error("make", "an eventfd");
  return std::unique_ptr<Containers>(new Containers(std::move(root), std::move(wanted)));
}

ContainerNames Containers::names_of(std::string_view cgroup) const {
  const ContainerIds ids = container_of_cgroup(cgroup);
  if (ids.pod.empty() && ids.container.empty()) return {};
  const std::lock_guard lock(mutex_);
  return {find(pods_, ids.pod), find(containers_, ids.container)};
}

// With the mutex held.
std::string Containers::find(const Names& names, const std::string& id) const {
  if (id.empty()) return {};
  if (const auto found = names.find(id); found != names.end()) return found->second;
  if (unknown_.size() >= most_unknown) return {};
  if (unknown_.emplace(id, 0).second) {
    const uint64_t one = 1;
    (void)!::write(wanted_.get(), &one, sizeof one);
  }
  return {};
}

// The fewest tries of those that are looked for still; max_tries if there are none.
int Containers::count_tries() {
  int fewest = max_tries;
  for (auto entry = unknown_.begin(); entry != unknown_.end();) {
    if (pods_.contains(entry->first) || containers_.contains(entry->first)) {
      entry = unknown_.erase(entry);
      continue;
    }
    entry->second = std::min(entry->second + 1, max_tries);
    fewest = std::min(fewest, entry->second);
    ++entry;
  }
  // The containers of long ago are asked for no more; those that are there will be again.
  if (fewest == max_tries && unknown_.size() >= most_unknown) unknown_.clear();
  return fewest;
}

Containers::Refreshed Containers::refresh() {
  uint64_t ignored = 0;
  (void)!::read(wanted_.get(), &ignored, sizeof ignored);
  Refreshed out;
  // An error is no answer: what was known stays, also of the files that can be read.
  const auto keep = [&](const char* source, Read read) {
    Names& known = sources_[source];
    if (read.error) read.names.insert(known.begin(), known.end());
    known = std::move(read.names);
    if (read.error && !out.unreadable) out.unreadable = std::move(read.error);
  };
  keep(pods_directory, read_pods(root_));
  keep(links_directory, read_links(root_));
  keep(docker_directory, read_docker(root_));
  for (const auto& [path, file] : storages) keep(path, read_storage(root_, path, file));
  // Docker has names of its own for the containers of Kubernetes.
  Names containers = sources_[links_directory];
  for (const auto& [source, names] : sources_)
    if (source != pods_directory) containers.insert(names.begin(), names.end());
  Names pods = sources_[pods_directory];
  const std::lock_guard lock(mutex_);
  if (pods != pods_ || containers != containers_) changes_++;
  pods_.swap(pods);
  containers_.swap(containers);
  if (const int tries = count_tries(); tries < max_tries)
    out.again_in = std::min(first_try * (1 << tries), longest_pause);
  return out;
}

}  // namespace rdtd::proc
