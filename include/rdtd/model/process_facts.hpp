// ProcessFacts: what is known of a process. Facts are read one by one, in the order of this list,
// which is that of their cost, and only those that some rule needs: an absent one has not been
// read.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>

namespace rdtd {

enum class Fact { name, exe, cgroup, container, cmdline, identity };

inline constexpr std::array all_facts = {Fact::name,      Fact::exe,     Fact::cgroup,
                                         Fact::container, Fact::cmdline, Fact::identity};

// The effective ids, and the real user: of a fact, only where the effective one is root.
struct Identity {
  uid_t uid = 0;
  gid_t gid = 0;
  uid_t real_uid = 0;

  // The user that it belongs to, for rules and for what a user may cost. A program that is set-uid
  // root is still its user's, who chooses its name and has the children that it starts.
  [[nodiscard]] uid_t responsible() const { return uid != 0 ? uid : real_uid; }
  // The user who may see it and have it assigned. Root if the two users differ: a service of root
  // may be acting for this user, or the user has started a program that is set-uid. Only of
  // proc::Status.
  [[nodiscard]] uid_t owner() const { return uid == real_uid ? uid : 0; }
};

// The names that a container's runtime gave; empty if the process is in none, or in one whose names
// are not known yet.
struct ContainerNames {
  std::string pod;        // "default/web-0"
  std::string container;  // "redis"
  bool operator==(const ContainerNames&) const = default;
};

struct ProcessFacts {
  std::optional<std::string> name;    // /proc/PID/comm
  std::optional<std::string> exe;     // target of /proc/PID/exe, empty for a kernel thread
  std::optional<std::string> cgroup;  // "/system.slice/redis.service"; empty if it is too long
  std::optional<ContainerNames> container;
  std::optional<std::string> cmdline;  // arguments, a space between them
  std::optional<Identity> identity;
  std::optional<std::string>
      thread;  // comm of the one thread that is asked about; absent: the process as a whole
  bool cgroup_too_long = false;  // longer than PATH_MAX

  [[nodiscard]] bool has(Fact fact) const {
    switch (fact) {
      case Fact::name: return name.has_value();
      case Fact::exe: return exe.has_value();
      case Fact::cgroup: return cgroup.has_value();
      case Fact::container: return container.has_value();
      case Fact::cmdline: return cmdline.has_value();
      case Fact::identity: return identity.has_value();
    }
    return false;
  }
};

}  // namespace rdtd
