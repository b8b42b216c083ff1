#include "placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "rdtd/base/text.hpp"

namespace rdtd {

namespace {

std::string ways(unsigned count) { return fmt::format("{} way{}", count, count == 1 ? "" : "s"); }

std::optional<Cbm> lowest_run(Cbm free, unsigned count) {
  for (unsigned first = 0; first + count <= 32; first++)
    if (const Cbm run = Cbm::range(first, count); free.contains(run)) return run;
  return std::nullopt;
}

// The lowest `count` ways of a mask, neighbours or not.
Cbm lowest_ways(Cbm free, unsigned count) {
  Cbm out;
  for (; count > 0; count--) out = out | Cbm::range(free.without(out).lowest(), 1);
  return out;
}

const Cbm* as_mask(const Party& party) { return std::get_if<Cbm>(&party.want); }

bool keeps_its_place(const Party& party, Cbm free) {
  const auto* count = std::get_if<unsigned>(&party.want);
  return count != nullptr && party.previous.contiguous() && party.previous.count() == *count &&
         free.contains(party.previous);
}

struct Packing {
  std::vector<Cbm> masks;
  Cbm free;  // what is left
};

// Puts the counted parties into `free`, those that may keep their place first, then each in the
// lowest gap, in the order given. Explicit masks are in `free` no more.
std::optional<Packing> pack(const std::vector<Party>& parties, Cbm free, bool keep,
                            const std::vector<size_t>& order) {
  Packing out{std::vector<Cbm>(parties.size()), free};
  std::vector<bool> placed(parties.size(), false);
  const auto put = [&](size_t i, Cbm mask) {
    out.masks[i] = mask;
    out.free = out.free.without(mask);
    placed[i] = true;
  };
  for (const size_t i : order)
    if (keep && keeps_its_place(parties[i], out.free)) put(i, parties[i].previous);
  for (const size_t i : order) {
    const auto* count = std::get_if<unsigned>(&parties[i].want);
    if (count == nullptr || placed[i]) continue;
    const auto run = lowest_run(out.free, *count);
    if (!run) return std::nullopt;
    put(i, *run);
  }
  return out;
}

// The packing that leaves the longest run free; of equals the one that moves the least.
std::optional<Packing> best_packing(const DomainRequest& request, Cbm free) {
  std::vector<size_t> written(request.exclusive.size());
  std::iota(written.begin(), written.end(), 0);
  std::vector<size_t> largest_first = written;
  std::ranges::stable_sort(largest_first, std::greater<>{}, [&](size_t i) {
    const auto* count = std::get_if<unsigned>(&request.exclusive[i].want);
    return count == nullptr ? 0U : *count;
  });
  std::optional<Packing> best;
  const auto rest = [&](const Packing& packing) {
    return longest_run(packing.free | request.shareable).count();
  };
  for (auto& packing :
       {pack(request.exclusive, free, true, written), pack(request.exclusive, free, false, written),
        pack(request.exclusive, free, false, largest_first)})
    if (packing && (!best || rest(*packing) > rest(*best))) best = packing;
  return best;
}

unsigned ways_wanted(const Party& party, Cbm all) {
  if (const Cbm* mask = as_mask(party)) return mask->count();
  if (const auto* count = std::get_if<unsigned>(&party.want)) return *count;
  return all.count();
}

Refusal too_much_exclusive(const DomainRequest& request) {
  unsigned sum = 0;
  std::vector<std::string> parties;
  std::vector<std::string> limits;
  for (const Party& party : request.exclusive) {
    sum += ways_wanted(party, request.all);
    parties.push_back(fmt::format("{} {}", party.name, ways_wanted(party, request.all)));
  }
  if (!request.shareable.empty())
    limits.push_back(
        fmt::format("{} of them also filled by I/O devices", request.shareable.count()));
  for (const Obstacle& obstacle : request.obstacles)
    limits.push_back(fmt::format("{} held by {}, which rdtd did not make", obstacle.mask.count(),
                                 obstacle.name));
  for (const Party& party : request.shared)
    if (const Cbm* mask = as_mask(party))
      limits.push_back(fmt::format("{} named by {}", mask->count(), party.name));
  if (request.remainder_needed && request.shareable.count() < request.min_cbm_bits)
    limits.push_back(fmt::format("{} must be left to default", request.min_cbm_bits));
  const std::string after = limits.empty() ? "" : ", " + join(limits, ", ");
  return {request.exclusive.back().where,
          fmt::format("{} asked for exclusively ({}), {} in ", ways(sum), join(parties, ", "),
                      ways(request.all.count())),
          after};
}

// What is wrong with the explicit masks, each alone and against the others.
std::vector<Refusal> check_masks(const DomainRequest& request) {
  std::vector<Refusal> refusals;
  const auto check = [&](const Party& party, bool exclusive) {
    const Cbm* mask = as_mask(party);
    if (mask == nullptr) return;
    if (auto problem =
            mask_problem(party, *mask, request.all, request.min_cbm_bits, request.sparse_masks))
      refusals.push_back(std::move(*problem));
    for (const Obstacle& obstacle : request.obstacles)
      if (obstacle.mask.overlaps(*mask))
        refusals.push_back({party.where,
                            fmt::format("{}: '{}' overlaps ways {} of ", party.name, party.asked,
                                        way_list(obstacle.mask & *mask)),
                            fmt::format(", which {} holds and rdtd did not make", obstacle.name)});
    if (exclusive && request.shareable.overlaps(*mask))
      refusals.push_back({party.where,
                          fmt::format("{}: '{}' cannot be exclusive: I/O devices fill ways {} of ",
                                      party.name, party.asked, way_list(request.shareable & *mask)),
                          " too"});
  };
  for (const Party& party : request.exclusive) check(party, true);
  for (const Party& party : request.shared) check(party, false);
  const auto against = [&](const Party& exclusive, const Party& other) {
    const Cbm* a = as_mask(exclusive);
    const Cbm* b = as_mask(other);
    if (a == nullptr || b == nullptr || !a->overlaps(*b)) return;
    refusals.push_back(
        {other.where,
         fmt::format("{}: '{}' overlaps ways {} of ", other.name, other.asked, way_list(*a & *b)),
         fmt::format(", which are exclusive to {} ({})", exclusive.name, exclusive.where.text())});
  };
  for (size_t i = 0; i < request.exclusive.size(); i++) {
    for (size_t j = i + 1; j < request.exclusive.size(); j++)
      against(request.exclusive[i], request.exclusive[j]);
    for (const Party& other : request.shared) against(request.exclusive[i], other);
  }
  return refusals;
}

}  // namespace

std::optional<Refusal> mask_problem(const Party& party, Cbm mask, Cbm all, unsigned min_cbm_bits,
                                    bool sparse_masks) {
  if (!all.contains(mask))
    return Refusal{party.where,
                   fmt::format("{}: '{}' is out of range, the mask of ", party.name, party.asked),
                   fmt::format(" is 0x{}", to_string(all))};
  if (!mask.contiguous() && !sparse_masks)
    return Refusal{party.where,
                   fmt::format("{}: '{}' has gaps; masks of ", party.name, party.asked),
                   " must be contiguous"};
  if (mask.count() < min_cbm_bits)
    return Refusal{
        party.where,
        fmt::format("{}: '{}' is {}; a mask of ", party.name, party.asked, ways(mask.count())),
        fmt::format(" has at least {} (min_cbm_bits)", min_cbm_bits)};
  return std::nullopt;
}

std::expected<std::vector<Cbm>, std::vector<Refusal>> place_shared(
    Cbm region, bool sparse_masks, const std::vector<Party>& parties,
    const std::string& region_name) {
  std::vector<Cbm> masks;
  std::vector<Refusal> refusals;
  Cbm unused = region;
  const Cbm run = longest_run(region);
  for (const Party& party : parties) {
    const auto* count = std::get_if<unsigned>(&party.want);
    if (const Cbm* mask = as_mask(party)) {
      masks.push_back(*mask);
    } else if (count == nullptr) {
      masks.push_back(sparse_masks ? region : run);
    } else if (keeps_its_place(party, unused)) {
      masks.push_back(party.previous);
    } else if (const auto beside = lowest_run(unused, *count)) {
      masks.push_back(*beside);
    } else if (*count <= run.count()) {
      masks.push_back(*lowest_run(region, *count));
    } else if (sparse_masks && *count <= region.count()) {
      masks.push_back(lowest_ways(region, *count));
    } else {
      refusals.push_back({party.where,
                          fmt::format("{}: '{}' is {}, {} of ", party.name, party.asked,
                                      ways(*count), ways(run.count())),
                          " are left " + region_name});
      continue;
    }
    unused = unused.without(masks.back());
  }
  if (!refusals.empty()) return std::unexpected(std::move(refusals));
  return masks;
}

std::expected<DomainPlacement, std::vector<Refusal>> place(const DomainRequest& request) {
  if (auto refusals = check_masks(request); !refusals.empty())
    return std::unexpected(std::move(refusals));
  Cbm taken;  // nobody's to fill but one party's, or not to be given away
  for (const Obstacle& obstacle : request.obstacles) taken = taken | obstacle.mask;
  Cbm free = request.all.without(taken).without(request.shareable);
  for (const Party& party : request.shared)
    if (const Cbm* mask = as_mask(party)) free = free.without(*mask);
  for (const Party& party : request.exclusive)
    if (const Cbm* mask = as_mask(party)) free = free.without(*mask);

  const auto packing = best_packing(request, free);
  if (!packing) return std::unexpected(std::vector{too_much_exclusive(request)});
  DomainPlacement out{packing->masks, {}, {}};
  std::vector<std::string> holders;
  for (size_t i = 0; i < request.exclusive.size(); i++) {
    if (const Cbm* mask = as_mask(request.exclusive[i])) out.exclusive[i] = *mask;
    taken = taken | out.exclusive[i];
    holders.push_back(fmt::format("{} {}", request.exclusive[i].name, out.exclusive[i].count()));
  }
  const Cbm left = request.all.without(taken);
  out.remainder = request.sparse_masks ? left : longest_run(left);
  if (request.remainder_needed && out.remainder.count() < request.min_cbm_bits)
    return std::unexpected(std::vector{too_much_exclusive(request)});

  const std::string beside =
      holders.empty() ? "" : fmt::format("beside what is exclusive ({})", join(holders, ", "));
  auto shared = place_shared(out.remainder, request.sparse_masks, request.shared,
                             beside.empty() ? "for it" : beside);
  if (!shared) return std::unexpected(std::move(shared.error()));
  out.shared = std::move(*shared);
  return out;
}

}  // namespace rdtd
