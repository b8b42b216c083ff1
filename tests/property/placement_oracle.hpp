// The oracle of the placement on one cache of up to 8 ways: it tries every placement that
// rdtd.toml(5) allows. It shares no code with the planner.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rdtd::oracle {

using Mask = uint32_t;

inline Mask range(unsigned first, unsigned count) { return ((1U << count) - 1) << first; }
inline unsigned count(Mask mask) { return static_cast<unsigned>(std::popcount(mask)); }
inline bool contiguous(Mask mask) {
  const Mask low = mask == 0 ? 0 : mask >> std::countr_zero(mask);
  return mask != 0 && (low & (low + 1)) == 0;
}
inline bool within(Mask inner, Mask outer) { return (inner & ~outer) == 0; }
inline unsigned longest(Mask mask) {
  unsigned out = 0;
  for (; mask != 0; mask &= mask << 1U) out++;
  return out;
}

struct Asked {
  enum class Kind { ways, named, percent, all } kind = Kind::all;
  unsigned number = 0;  // ways or percent
  Mask mask = 0;
};

struct Party {
  std::string name;
  Asked asked;
  bool exclusive = false;
  bool strict = false;  // exclusive also as to devices; of partitions too
  int partition = -1;
  Mask previous = 0;  // 0: the group does not exist yet
};

struct Case {
  unsigned ways = 8;
  unsigned min = 1;
  bool sparse = false;
  Mask shareable = 0;
  Mask obstacle = 0;         // of a foreign exclusive group
  std::vector<Mask> others;  // of other foreign groups
  std::vector<Party> partitions;
  std::vector<Party> groups;

  [[nodiscard]] Mask all() const { return range(0, ways); }
};

// 0: any number, all of the region.
inline unsigned ways_asked(const Case& c, const Asked& asked, unsigned total) {
  switch (asked.kind) {
    case Asked::Kind::ways: return asked.number;
    case Asked::Kind::named: return count(asked.mask);
    case Asked::Kind::percent:
      return std::max(c.min, std::min(total, (2 * total * asked.number + 100) / 200));
    case Asked::Kind::all: return 0;
  }
  return 0;
}

struct Region {
  const Party* party;
  unsigned ways;
  Mask named;
  std::vector<const Party*> members;  // of a partition
};

// How many parties have ways that devices fill, and how many such ways they have.
struct InDevices {
  unsigned parties = 0, ways = 0;
  void add(Mask mask) {
    parties += mask != 0 ? 1 : 0;
    ways += count(mask);
  }
  auto operator<=>(const InDevices&) const = default;
};

// Of an arrangement of the exclusive groups and partitions: the lowest wins.
struct Score {
  InDevices in_devices;
  int lost = 0;           // places that are not kept, less a constant
  unsigned met = 0;       // pairs with foreign groups
  bool fragment = false;  // the lowest ways that are left are too few for a mask
  auto operator<=>(const Score&) const = default;
};

class Oracle {
 public:
  explicit Oracle(const Case& c) : c_(c) {
    remainder_needed_ = true;
    for (const Party& partition : c.partitions) add_region(partition);
    for (const Party& group : c.groups) {
      if (group.name == "default" && group.partition >= 0) remainder_needed_ = false;
      if (group.exclusive)
        add_region(group);
      else if (group.partition >= 0)
        regions_[static_cast<size_t>(group.partition)].members.push_back(&group);
      else
        shared_.push_back(&group);
    }
    if (!shared_.empty()) remainder_needed_ = true;
    used_.resize(regions_.size());
    if (!kernel_creates_groups()) return;
    for (const bool outside : {true, false}) {
      outside_ = outside;
      try_regions(0, 0, false);
      if (!found && c.sparse) try_regions(0, 0, true);
      if (found) return;
    }
  }

  bool found = false;
  bool contiguous_found = false;  // then there is a best one
  Score best;

  // For the masks that the planner granted, if there is no partition, whose masks nobody knows.
  [[nodiscard]] Score score_of(const std::map<std::string, Mask>& granted) const {
    std::vector<Mask> used;
    for (const Region& region : regions_) used.push_back(granted.at(region.party->name));
    return score(used);
  }
  [[nodiscard]] bool outside_of_devices() const { return outside_; }

  // At least as many as the best arrangement keeps, for the masks that the planner granted: a place
  // in which another group of the same region lies is there, but the group may have left it.
  [[nodiscard]] int kept_by(const std::map<std::string, Mask>& granted) const {
    const auto is_kept = [&](const Party* party, const std::vector<const Party*>& others) {
      return granted.at(party->name) == party->previous ||
             std::ranges::any_of(others, [&](const Party* other) {
               return other != party && other->asked.kind != Asked::Kind::all &&
                      (granted.at(other->name) & party->previous) != 0;
             });
    };
    int out = 0;
    for (const Region& region : regions_)
      for (const Party* party : keepable_in(region))
        if (is_kept(party, region.members)) out++;
    for (const Party* party : shared_)
      if (keepable(*party, ways_asked(c_, party->asked, c_.ways)) && is_kept(party, shared_)) out++;
    return out;
  }

 private:
  void add_region(const Party& party) {
    regions_.push_back({&party, ways_asked(c_, party.asked, c_.ways), party.asked.mask, {}});
  }

  // A group that asks for exactly these ways cannot keep or lose its place.
  [[nodiscard]] static bool keepable(const Party& party, unsigned ways) {
    return party.asked.kind != Asked::Kind::named && party.previous != 0 &&
           contiguous(party.previous) && count(party.previous) == ways;
  }
  [[nodiscard]] unsigned member_ways(const Region& region, const Party& member) const {
    const unsigned ways = ways_asked(c_, member.asked, region.ways);
    return ways == 0 ? region.ways : ways;
  }
  // The groups that can keep their places in the region: its members, or the group itself.
  [[nodiscard]] std::vector<const Party*> keepable_in(const Region& region) const {
    std::vector<const Party*> out;
    if (region.named != 0) return out;
    if (region.members.empty() && keepable(*region.party, region.ways)) out.push_back(region.party);
    for (const Party* member : region.members)
      if (keepable(*member, member_ways(region, *member))) out.push_back(member);
    return out;
  }

  // A new group gets the lowest run of ways that no exclusive group holds.
  [[nodiscard]] bool kernel_creates_groups() const {
    if (c_.sparse || std::ranges::none_of(c_.groups, [](const Party& group) {
          return group.previous == 0 && group.name != "default";
        }))
      return true;
    const Mask free = c_.all() & ~c_.obstacle;
    return free != 0 &&
           static_cast<unsigned>(std::countr_one(free >> std::countr_zero(free))) >= c_.min;
  }

  [[nodiscard]] bool is_mask(Mask mask) const {
    return count(mask) >= c_.min && within(mask, c_.all()) && (c_.sparse || contiguous(mask));
  }

  [[nodiscard]] bool region_fits(const Region& region, Mask mask) const {
    const bool outside = outside_ || region.party->strict;
    if (!is_mask(mask) || count(mask) != region.ways || (outside && (mask & c_.shareable) != 0) ||
        (mask & c_.obstacle) != 0 || (region.named != 0 && mask != region.named))
      return false;
    return std::ranges::all_of(region.members, [&](const Party* member) {
      if (member->asked.kind == Asked::Kind::named)
        return is_mask(member->asked.mask) && within(member->asked.mask, mask);
      return member_ways(region, *member) <= region.ways;
    });
  }

  void try_regions(size_t index, Mask taken, bool sparse) {
    if (index == regions_.size()) return judge(taken, sparse);
    if (found && sparse) return;
    for (Mask mask = 1; mask <= c_.all(); mask++) {
      if ((mask & taken) != 0 || !region_fits(regions_[index], mask)) continue;
      if (!sparse && regions_[index].named == 0 && !contiguous(mask)) continue;
      used_[index] = mask;
      try_regions(index + 1, taken | mask, sparse);
    }
  }

  void judge(Mask taken, bool sparse) {
    const Mask left = c_.all() & ~taken & ~c_.obstacle;
    const unsigned room = c_.sparse ? count(left) : longest(left);
    if (remainder_needed_ && room < c_.min) return;
    bool all_contiguous = !sparse;
    for (const Party* party : shared_) {
      if (party->asked.kind == Asked::Kind::named) {
        if (!is_mask(party->asked.mask) || !within(party->asked.mask, left)) return;
        continue;
      }
      const unsigned ways = ways_asked(c_, party->asked, c_.ways);
      if (ways > room) return;
      all_contiguous = all_contiguous && ways <= longest(left);
    }
    found = true;
    if (!all_contiguous || (remainder_needed_ && longest(left) < c_.min)) return;
    const Score here = score(used_);
    if (!contiguous_found || here < best) best = here;
    contiguous_found = true;
  }

  [[nodiscard]] Score score(const std::vector<Mask>& used) const {
    Score out;
    Mask left = c_.all() & ~c_.obstacle;
    for (size_t i = 0; i < regions_.size(); i++) {
      left &= ~used[i];
      out.in_devices.add(used[i] & c_.shareable);
      for (const Party* party : keepable_in(regions_[i]))
        if (within(party->previous, used[i])) out.lost--;
      if (regions_[i].named == 0)
        for (const Mask other : c_.others) out.met += (other & used[i]) != 0 ? 1 : 0;
    }
    for (const Party* party : shared_)
      if (keepable(*party, ways_asked(c_, party->asked, c_.ways)) && within(party->previous, left))
        out.lost--;
    out.fragment = !c_.sparse && left != 0 &&
                   static_cast<unsigned>(std::countr_one(left >> std::countr_zero(left))) < c_.min;
    return out;
  }

  const Case& c_;
  bool remainder_needed_ = true;
  bool outside_ = true;  // of the ways of devices, all
  std::vector<Region> regions_;
  std::vector<const Party*> shared_;
  std::vector<Mask> used_;
};

// Whether groups of these numbers of ways fit side by side, without gaps.
inline bool side_by_side(Mask room, std::vector<unsigned> ways) {
  if (ways.empty()) return true;
  const unsigned last = ways.back();
  ways.pop_back();
  for (unsigned way = 0; way + last <= 8; way++)
    if (const Mask mask = range(way, last); within(mask, room) && side_by_side(room & ~mask, ways))
      return true;
  return false;
}

// The first group that overlaps others of its region although it need not: all of them fit side by
// side, or the group has fewer ways in common with them elsewhere.
inline std::string needless_overlap(const Case& c, const std::map<std::string, Mask>& granted) {
  for (int region = -1; region < static_cast<int>(c.partitions.size()); region++) {
    std::vector<const Party*> here;
    Mask room = 0, named = 0;
    const auto root = std::ranges::find(c.groups, "default", &Party::name);
    if (region < 0 && (root == c.groups.end() || root->partition < 0)) room = granted.at("default");
    for (const Party& group : c.groups) {
      if (group.exclusive || group.partition != region) continue;
      room |= granted.at(group.name);
      if (group.asked.kind == Asked::Kind::named) named |= group.asked.mask;
      if (group.asked.kind != Asked::Kind::all) here.push_back(&group);
    }
    std::vector<unsigned> all_ways;
    for (const Party* group : here)
      if (group->asked.kind != Asked::Kind::named)
        all_ways.push_back(count(granted.at(group->name)));
    for (const Party* group : here) {
      if (group->asked.kind == Asked::Kind::named) continue;
      const auto overlap = [&](Mask mask) {
        unsigned out = 0;
        for (const Party* other : here)
          if (other != group) out += count(mask & granted.at(other->name));
        return out;
      };
      const Mask mask = granted.at(group->name);
      if (overlap(mask) > 0 && side_by_side(room & ~named, all_ways)) return group->name;
      for (unsigned way = 0; way + count(mask) <= c.ways; way++)
        if (const Mask other = range(way, count(mask));
            within(other, room) && overlap(other) < overlap(mask))
          return group->name;
    }
  }
  return {};
}

// The groups of the remainder that ask for a number of ways, side by side: how many keep their
// places, and pairs with foreign groups.
class SideBySide {
 public:
  struct Score {
    int moved = 0;
    unsigned met = 0;
    auto operator<=>(const Score&) const = default;
  };

  // Without partitions, `granted` has all masks.
  SideBySide(const Case& c, const std::map<std::string, Mask>& granted) : c_(c) {
    room_ = c.all() & ~c.obstacle;
    for (const Party& group : c.groups) {
      const Mask mask = granted.at(group.name);
      if (group.exclusive || group.asked.kind == Asked::Kind::named) room_ &= ~mask;
      if (group.exclusive || ways_asked(c, group.asked, c.ways) == 0 ||
          group.asked.kind == Asked::Kind::named)
        continue;
      groups_.push_back(&group);
      add(group, mask, here);
    }
    try_from(0, room_, {});
  }

  bool possible = false;
  Score here;  // of what was granted
  Score best;

 private:
  void add(const Party& group, Mask mask, Score& score) const {
    if (mask != group.previous) score.moved++;
    for (const Mask other : c_.others) score.met += (other & mask) != 0 ? 1 : 0;
  }
  void try_from(size_t index, Mask room, Score score) {
    if (index == groups_.size()) {
      if (!possible || score < best) best = score;
      possible = true;
      return;
    }
    const unsigned ways = ways_asked(c_, groups_[index]->asked, c_.ways);
    for (unsigned way = 0; way + ways <= c_.ways; way++) {
      const Mask mask = range(way, ways);
      if (!within(mask, room)) continue;
      Score next = score;
      add(*groups_[index], mask, next);
      try_from(index + 1, room & ~mask, next);
    }
  }

  const Case& c_;
  Mask room_ = 0;
  std::vector<const Party*> groups_;
};

// Whether the percentages of the exclusive parties are exactly all: such a set is rounded together.
inline bool asks_for_exactly_all(const Case& c) {
  unsigned sum = 0;
  const auto add = [&](const Party& party) {
    if (party.asked.kind != Asked::Kind::percent) return false;
    sum += party.asked.number;
    return true;
  };
  for (const Party& partition : c.partitions)
    if (!add(partition)) return false;
  for (const Party& group : c.groups)
    if (group.exclusive && !add(group)) return false;
  return sum == 100;
}

}  // namespace rdtd::oracle
