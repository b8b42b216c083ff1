// What `rdtctl status --verify` compares.
#include "verify.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "rdtd/base/text.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

const std::string policy =
    "[io]\nl3 = \"2 ways\"\n[group.redis]\nl3 = \"4 ways\"\n[[rule]]\ngroup = \"redis\"\nmonitor = "
    "\"web\"\nname = \"nginx\"\n[[rule]]\ngroup = \"default\"\nmonitor = \"all\"\nname = \"*\"\n";

// A machine on which all of it is in force, with a locked region.
struct Verified {
  Capabilities capabilities = test::machine(20, 1, 8);
  Snapshot now;
  std::vector<Client::GroupRow> groups;
  std::vector<LockStatus> locks = {{"buffer", "L3", 0, "2 ways", "c0000", 0,
                                    "/dev/pseudo_lock/buffer", "", "", "", "locked", ""}};
  std::optional<Plan> in_force;

  Verified() {
    capabilities.caches.at(Resource::L3).io_alloc = true;
    auto plan = make_plan(test::parse(policy).policy, capabilities, test::untouched(capabilities));
    now = test::after(policy, capabilities, test::untouched(capabilities));
    for (const GroupTarget& target : plan->groups) {
      Client::GroupRow& row = groups.emplace_back();
      row.name = group_label(target.directory);
      row.mode = to_string(target.state.mode);
      row.cpus = format_cpu_list(target.state.cpus);
      for (const auto& [resource, values] : target.state.schemata)
        for (const auto& [domain, value] : values)
          row.granted.push_back(
              {std::string(to_string(resource)), static_cast<uint32_t>(domain),
               is_cache(resource) ? to_string(Cbm{value}) : std::to_string(value)});
    }
    now.io = plan->io->state.schemata;
    now.owned.emplace(io_group);
    now.groups["buffer"] = test::group_state("L3:0=c0000\n", Mode::pseudo_locked);
    now.owned.insert("buffer");
    in_force = std::move(*plan);
  }
  [[nodiscard]] std::string differences() const {
    return join(differences_from(capabilities, now, groups, locks, in_force), "; ");
  }
};

TEST(Verify, EachKindOfDifference) {
  EXPECT_EQ(Verified().differences(), "");
  const struct {
    const char* name;
    std::function<void(Verified&)> change;
    const char* difference;
  } rows[] = {
      {"a mask",
       [](Verified& it) { it.now.groups.at("redis").schemata.at(Resource::L3)[DomainId{0}] = 1; },
       "group 'redis': L3:0=1, granted L3:0=f"},
      {"a monitoring group", [](Verified& it) { it.now.mon_groups.erase("redis/mon_groups/web"); },
       "monitoring group 'redis/web' is not there"},
      {"a monitoring group of the default group",
       [](Verified& it) { it.now.mon_groups.erase("mon_groups/all"); },
       "monitoring group 'default/all' is not there"},
      {"the ways of devices", [](Verified& it) { it.now.io.at(Resource::L3)[DomainId{0}] = 1; },
       "I/O devices: L3:0=1, granted L3:0=30"},
      {"a region", [](Verified& it) { it.now.groups.erase("buffer"); },
       "pseudo_lock 'buffer' is not there"},
      {"a region that the daemon waits for",
       [](Verified& it) {
         it.now.groups.erase("buffer");
         it.locks.front().state = "waiting";
       },
       ""},
      {"without the policy",
       [](Verified& it) {
         it.in_force.reset();
         it.now.mon_groups.clear();
         it.now.io.clear();
       },
       ""},
  };
  for (const auto& row : rows) {
    Verified it;
    row.change(it);
    EXPECT_EQ(it.differences(), row.difference) << row.name;
  }
}

}  // namespace
}  // namespace rdtd
