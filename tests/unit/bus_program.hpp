// BusProgramTest: a program that asks the service over a connection of its own, in the same loop.
#pragma once

#include "bus_world.hpp"

namespace rdtd::test {

class BusProgramTest : public BusTest {
 protected:
  void SetUp() override {
    BusTest::SetUp();
    if (IsSkipped()) return;
    start_bus();
    start_polkit();
    open_service();
    wait_for([&] { return !reports_.empty(); });
    ASSERT_GE(sd_bus_open_system(&bus_), 0);
    ASSERT_GE(sd_bus_attach_event(bus_, event_, 0), 0);
  }
  void TearDown() override {
    sd_bus_close_unref(bus_);
    BusTest::TearDown();
  }

  sd_bus* bus_ = nullptr;
};

}  // namespace rdtd::test
