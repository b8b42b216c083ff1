// Client: the daemon as rdtctl sees it. No call starts the daemon.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "rdtd/bus/manager_interface.hpp"

using sd_bus = struct sd_bus;

namespace rdtd {

class Client {
 public:
  struct Failure {
    enum class Kind { not_running, not_permitted, refused };
    Kind kind = Kind::refused;
    std::string text;  // the daemon's own, where it answered
  };
  template <class T>
  using Answer = std::expected<T, Failure>;

  // Something that the daemon tells of while it is listened to.
  struct Event {
    enum class Kind { assigned, reloaded, drift, started, stopped };
    Kind kind = Kind::assigned;
    uint32_t pid = 0;     // assigned
    std::string group;    // assigned
    std::string rule;     // assigned: FILE:LINE, empty where it was put there by hand
    std::string what;     // drift
    bool success = true;  // reloaded
  };

  // What is in force, as `status` shows it; a row a group of the policy, the default one last.
  struct GroupRow {
    std::string name;
    std::vector<Share> asked, granted;
    std::string mode, cpus;
    uint32_t rules = 0, tasks = 0;
  };

  [[nodiscard]] static Answer<Client> connect();
  [[nodiscard]] Answer<void> reload();
  [[nodiscard]] Answer<void> reset();
  [[nodiscard]] Answer<void> assign(pid_t pid, const std::string& group);
  [[nodiscard]] Answer<PlanSummary> plan();
  [[nodiscard]] Answer<Explanation> explain(pid_t pid);
  [[nodiscard]] Answer<std::vector<GroupRow>> list_groups();
  [[nodiscard]] Answer<ManagerProperties> properties();
  // Listens until the bus goes; the daemon may come and go meanwhile.
  [[nodiscard]] Answer<void> follow(const std::function<void(const Event&)>& tell);

 private:
  struct Unref {
    void operator()(sd_bus* bus) const;
  };
  explicit Client(std::unique_ptr<sd_bus, Unref> bus) : bus_(std::move(bus)) {}
  std::unique_ptr<sd_bus, Unref> bus_;
};

}  // namespace rdtd
