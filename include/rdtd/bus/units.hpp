// Units: what systemd's system manager says of a unit by its name. Only asks; starts nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>

using sd_bus = struct sd_bus;

namespace rdtd {

class Units {
 public:
  // Nothing if there is no system bus.
  [[nodiscard]] static std::optional<Units> connect();

  struct Unit {
    bool loaded = false;  // false: there is no unit of this name, nor a file for it
    std::string id;       // its own name; an alias has another one
    std::string state;    // ActiveState: "active", "failed"
  };
  // Nothing if systemd does not answer.
  [[nodiscard]] std::optional<Unit> find(const std::string& name);
  // Options= of a mount unit.
  [[nodiscard]] std::optional<std::string> mount_options(const std::string& name);

 private:
  struct Unref {
    void operator()(sd_bus* bus) const;
  };
  explicit Units(sd_bus* bus) : bus_(bus) {}
  [[nodiscard]] int load(const std::string& name, std::string& path);
  std::unique_ptr<sd_bus, Unref> bus_;
};

}  // namespace rdtd
