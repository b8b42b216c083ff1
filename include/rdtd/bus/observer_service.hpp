// ObserverService: rdtd-observer on D-Bus: what it has seen, for everybody, as status shows the
// groups to everybody; and what the daemon announces, which a recording marks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rdtd/base/error.hpp"
#include "rdtd/model/contention.hpp"
#include "rdtd/model/guard_status.hpp"

using sd_bus = struct sd_bus;
using sd_event = struct sd_event;

namespace rdtd {

struct Gate;

class ObserverService {
 public:
  // Called from the loop.
  struct Handlers {
    std::function<std::vector<EpisodeRow>(uint64_t since_usec)> episodes;  // that ended since then
    std::function<std::vector<ContentionCount>()> counts;
    std::function<GuardStatus()> guard;
    std::function<void(std::string mark)> on_mark;
    std::function<void()> on_reloaded;               // the daemon has another policy in force
    std::function<void()> on_name;                   // the name is ours
    std::function<void(const Error& cause)> on_end;  // of the connection; not to be destroyed in it
  };

  [[nodiscard]] static Result<std::unique_ptr<ObserverService>> open(sd_event* event,
                                                                     Handlers handlers);
  ObserverService(const ObserverService&) = delete;
  ObserverService& operator=(const ObserverService&) = delete;
  ~ObserverService();

  void emit_episode(const EpisodeRow& episode) const;
  [[nodiscard]] const Handlers& handlers() const { return handlers_; }
  [[nodiscard]] sd_bus* bus() const { return bus_; }

 private:
  ObserverService(sd_bus* bus, Handlers handlers);
  [[nodiscard]] int serve(sd_event* event);

  sd_bus* bus_;
  std::unique_ptr<Gate> gate_;
  Handlers handlers_;
};

}  // namespace rdtd
