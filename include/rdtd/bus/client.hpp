// Client: the daemon as rdtctl sees it. No call starts the daemon.
#pragma once

#include <expected>
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

  [[nodiscard]] static Answer<Client> connect();
  [[nodiscard]] Answer<void> reload();
  [[nodiscard]] Answer<Explanation> explain(pid_t pid);
  [[nodiscard]] Answer<std::vector<GroupStatus>> list_groups();
  [[nodiscard]] Answer<ManagerProperties> properties();

 private:
  struct Unref {
    void operator()(sd_bus* bus) const;
  };
  explicit Client(std::unique_ptr<sd_bus, Unref> bus) : bus_(std::move(bus)) {}
  std::unique_ptr<sd_bus, Unref> bus_;
};

}  // namespace rdtd
