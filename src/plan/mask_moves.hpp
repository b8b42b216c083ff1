// MaskMoves: the steps by which groups' masks move to their goals, so that groups that share no way
// before and after share none meanwhile either, and no exclusive group is written over.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rdtd/plan/transition.hpp"

namespace rdtd {

using CacheDomainKey = std::pair<Resource, DomainId>;

struct Moving {
  std::string name;
  Schemata before, now, goal;
  Mode mode = Mode::shareable;  // now
  Mode goal_mode = Mode::shareable;
  bool exclusive = false;  // whatever the mode
  bool own = false;        // rdtd made it or shall make it
  bool existed = true;     // before the first step
  bool exists = true;      // at this point
  bool leaving = false;
  std::set<CacheDomainKey> parked;
  // The result of forbidden_now() after so many writes to that cache.
  struct Forbidden {
    uint64_t writes = 0;
    Cbm ways;
  };
  std::map<CacheDomainKey, Forbidden> forbidden;
};

class MaskMoves {
 public:
  // Of `groups` as they are at that time; the steps go behind those that are there.
  MaskMoves(const Capabilities& machine, std::vector<Moving>& groups, std::vector<Step>& steps)
      : machine_(machine), groups_(groups), steps_(steps) {}

  // Moves the domains of a group to their goals where the others allow it. False if nothing could
  // be moved.
  bool move(Moving& group) { return move(group, Extent::whole); }
  // Has a group that rdtd made fill these ways, of which devices may fill some, if one can.
  void fill(Resource resource, DomainId domain, Cbm ways);
  // Moves all groups to their goals.
  void finish();

 private:
  // part: also gives up the ways that the goal lacks, where the rest of it is not free.
  enum class Extent { whole, part };
  bool move(Moving& group, Extent extent);
  bool move_any(Extent extent);
  bool resolve_circle();
  bool approach(Moving& group, Resource resource, DomainId domain, Cbm goal);
  bool park(Moving& group, Resource resource, DomainId domain);
  [[nodiscard]] const CacheInfo& cache(Resource resource) const {
    return machine_.caches.at(resource);
  }
  [[nodiscard]] Cbm usable_part(Resource resource, Cbm mask) const;
  [[nodiscard]] bool keep_apart(const Moving& a, const Moving& b, Resource resource,
                                DomainId domain) const;
  enum class Devices { are_a_group, give_way };
  // The ways of others that the group must not have at this point.
  [[nodiscard]] Cbm forbidden(const Moving& group, Resource resource, DomainId domain,
                              Devices devices) const;
  // The same, devices being a group; looked up if it cannot have changed.
  [[nodiscard]] Cbm forbidden_now(Moving& group, Resource resource, DomainId domain);
  void write(Moving& group, const Schemata& change);

  const Capabilities& machine_;
  std::vector<Moving>& groups_;
  std::vector<Step>& steps_;
  std::map<CacheDomainKey, uint64_t> writes_;  // to each cache
  bool finishing_ = false;
};

}  // namespace rdtd
