// Departure: says once that a sender has left the bus. sd_bus_track does the same, but waits for
// the bus when a sender is added, and reads whatever comes meanwhile into memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "handles.hpp"

namespace rdtd {

class Departure {
 public:
  // `left` is called from the loop, and may destroy this object. Null if the bus cannot be asked.
  [[nodiscard]] static std::unique_ptr<Departure> watch(sd_bus* bus, const std::string& sender,
                                                        std::function<void()> left);
  Departure(const Departure&) = delete;
  Departure& operator=(const Departure&) = delete;
  ~Departure() = default;

 private:
  explicit Departure(std::function<void()> left) : left_(std::move(left)) {}
  static int on_change(sd_bus_message*, void* self, sd_bus_error*);
  static int on_answer(sd_bus_message* answer, void* self, sd_bus_error*);

  std::function<void()> left_;
  Slot change_, question_;
};

}  // namespace rdtd
