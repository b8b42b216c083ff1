// PrivateBus: a system bus of a test, dbus-daemon in a temporary directory.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "rdtd/base/unique_fd.hpp"

namespace rdtd::test {

class PrivateBus {
 protected:
  // What this process takes for the system bus from now on.
  void make_bus() {
    std::string name = "/tmp/rdtd-bus-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    std::filesystem::permissions(directory_, std::filesystem::perms(0755));
    std::ofstream(directory_ / "conf")
        << "<busconfig><type>system</type><listen>unix:path=" << (directory_ / "bus").string()
        << "</listen><policy context='default'><allow user='*'/><allow own='*'/>"
           "<allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/></policy>"
           "<limit name='max_replies_per_connection'>50000</limit>"
           "</busconfig>";
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + (directory_ / "bus").string()).c_str(), 1);
  }

  void start_bus() {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd printed(ends[0]), address(ends[1]);
    bus_pid_ = ::fork();
    if (bus_pid_ == 0) {
      ::dup2(address.get(), STDOUT_FILENO);
      const std::string configuration = "--config-file=" + (directory_ / "conf").string();
      ::execlp("dbus-daemon", "dbus-daemon", configuration.c_str(), "--nofork", "--nopidfile",
               "--nosyslog", "--print-address", nullptr);
      ::_exit(127);
    }
    // Its socket exists before it listens, and before others than root may connect. The loop does
    // not run meanwhile: the service would try.
    pollfd ready{.fd = printed.get(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&ready, 1, 20'000), 1);
  }

  void stop_bus() {
    if (bus_pid_ <= 0) return;
    ::kill(bus_pid_, SIGKILL);
    ::waitpid(bus_pid_, nullptr, 0);
    bus_pid_ = 0;
    std::filesystem::remove(directory_ / "bus");
  }

  void remove_bus() {
    stop_bus();
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  std::filesystem::path directory_;
  pid_t bus_pid_ = 0;
};

}  // namespace rdtd::test
