// Containers: the names of containers and of Kubernetes pods, from the state that their runtimes
// keep in files which only root writes. No socket of a runtime and no cluster is asked. Sources:
//   /var/log/pods/NAMESPACE_POD_UID, made by the kubelet before it starts the pod
//   /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, made by the kubelet after the start
//   /var/lib/docker/containers/ID/config.v2.json, Docker
//   /var/lib/containers/storage/DRIVER-containers/containers.json, podman and CRI-O, and
//   /run/containers/storage/DRIVER-containers/volatile-containers.json (podman run --rm)
//
// names_of only looks into a table. A container that is not in it is a question for refresh, which
// another thread carries out.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "rdtd/base/directory.hpp"
#include "rdtd/base/inheriting_mutex.hpp"
#include "rdtd/base/unique_fd.hpp"
#include "rdtd/model/process_facts.hpp"

namespace rdtd::proc {

class Containers {
 public:
  // How often a container that has no name yet is looked for, within 90 s: a kubelet on a busy node
  // is slow. Then only a refresh that somebody else wants finds its name.
  static constexpr int max_tries = 20;

  // `root`: of the file system, "/". Fails if there can be no more descriptors.
  [[nodiscard]] static Result<std::unique_ptr<Containers>> make(Directory root);

  // By the path of a process's cgroup. For any thread; it never waits for a file.
  [[nodiscard]] ContainerNames names_of(std::string_view cgroup) const;
  // Readable while refresh is wanted, until the next one.
  [[nodiscard]] int fd() const { return wanted_.get(); }

  struct Refreshed {
    std::optional<Error> unreadable = {};   // the first source; its names are the old ones
    std::chrono::milliseconds again_in{0};  // 0: no container waits for its name
  };
  // Reads all files. For one thread at a time, which may have to wait for a disk.
  [[nodiscard]] Refreshed refresh();
  // How often a refresh found other names than before. For any thread.
  [[nodiscard]] uint64_t changes() const { return changes_; }

 private:
  using Names = std::unordered_map<std::string, std::string>;  // by uid or ID

  Containers(Directory root, UniqueFd wanted)
      : root_(std::move(root)), wanted_(std::move(wanted)) {}
  [[nodiscard]] std::string find(const Names& names, const std::string& id) const;
  [[nodiscard]] int count_tries();

  Directory root_;
  UniqueFd wanted_;
  std::map<std::string, Names> sources_;  // by path; of the thread that refreshes
  std::atomic<uint64_t> changes_ = 0;
  mutable InheritingMutex mutex_;
  Names pods_, containers_;
  // Those that were asked for and have no name: how often they were looked for.
  mutable std::unordered_map<std::string, int> unknown_;
};

}  // namespace rdtd::proc
