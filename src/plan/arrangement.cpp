#include "arrangement.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace rdtd {

namespace {

constexpr unsigned all_ways = 32;
// Of an arrangement. Each of these counts more than all before it, as long as there are fewer than
// 32,768 groups.
using Value = int64_t;
constexpr Value impossible = std::numeric_limits<Value>::min() / 2;
constexpr Value fragment_value = 1;            // at most one in an arrangement
constexpr Value met_value = 2;                 // of a piece and a mask of others that overlap
constexpr Value place_value = Value{1} << 22;  // kept or lost
constexpr Value device_value = Value{1} << 42;

uint64_t total_ways(const std::vector<Piece>& pieces) {
  uint64_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.ways;
  return sum;
}

class Search {
 public:
  // The pieces must not ask for more ways than the board has.
  Search(const Board& board, const std::vector<Piece>& pieces, unsigned gap);

  // The value of the best arrangement, or `impossible`.
  Value value() { return value(start()); }
  // The best arrangement, if one is possible.
  std::vector<Cbm> masks();

 private:
  // Pieces that differ at most in their place, or one with several places.
  struct Kind {
    unsigned ways = 0;
    Cbm required;
    bool strict = false;
    std::vector<size_t> pieces;
    unsigned left = 0;    // pieces that are not placed yet
    uint64_t stride = 0;  // what one piece adds to the key of a state
  };
  struct State {
    unsigned way = 0;  // all lower ways are decided
    unsigned end = 0;  // one above the highest way that a piece has
    bool gap_left = false;
    bool run_over = false;  // the lowest run of the ways that are left has ended
    uint64_t to_place = 0;  // the pieces, as a number
  };
  struct Move {
    Kind* kind = nullptr;  // the piece placed; null: none
    State next;
    Value gain = 0;
  };
  [[nodiscard]] State start() const;
  [[nodiscard]] Value value(const State& state);
  [[nodiscard]] Value value_of(const Move& move);
  [[nodiscard]] bool hopeless(const State& state) const;
  // Calls `use` with each move, the preferred ones first, until it returns false.
  template <class Use>
  void for_each_move(const State& state, const Use& use);
  [[nodiscard]] std::optional<Move> place(const State& state, Kind& kind) const;
  [[nodiscard]] int places_kept(const Kind& kind, Cbm mask) const;
  [[nodiscard]] int places_lost(Cbm mask, unsigned end) const;
  [[nodiscard]] Value met(Cbm mask) const;
  Value end_run(const State& state, State& next) const;
  [[nodiscard]] std::vector<Cbm> assign(
      const std::vector<std::pair<const Kind*, Cbm>>& placed) const;

  const Board& board_;
  const std::vector<Piece>& pieces_;
  unsigned gap_;
  unsigned end_;  // one above the highest usable way
  std::vector<Kind> kinds_;
  // No arrangement of the ways from this one on keeps more places: those that lie there.
  std::array<Value, all_ways> most_kept_{};
  std::unordered_map<uint64_t, Value> values_;
};

Search::Search(const Board& board, const std::vector<Piece>& pieces, unsigned gap)
    : board_(board),
      pieces_(pieces),
      gap_(gap),
      end_(board.usable.empty() ? 0 : board.usable.highest() + 1) {
  std::map<std::tuple<unsigned, Cbm, bool, size_t>, size_t> known;
  for (size_t i = 0; i < pieces.size(); i++) {
    const size_t apart = pieces[i].places.size() > 1 ? i + 1 : 0;
    const auto [found, is_new] = known.emplace(
        std::tuple(pieces[i].ways, pieces[i].required, pieces[i].strict, apart), kinds_.size());
    if (is_new) kinds_.push_back({pieces[i].ways, pieces[i].required, pieces[i].strict, {}, 0, 0});
    kinds_[found->second].pieces.push_back(i);
  }
  for (const Piece& piece : pieces)
    for (const Cbm place : piece.places)
      for (unsigned way = 0; way <= place.lowest(); way++) most_kept_.at(way) += place_value;
  uint64_t stride = 1;
  for (Kind& kind : kinds_) {
    kind.left = static_cast<unsigned>(kind.pieces.size());
    kind.stride = stride;
    stride *= kind.left + 1;  // the product is at most 2^32, since there are at most 32 pieces
  }
}

Search::State Search::start() const {
  State state{.gap_left = gap_ > 0};
  for (const Kind& kind : kinds_) state.to_place += kind.left * kind.stride;
  return state;
}

Value Search::value(const State& state) {
  if (state.way >= end_) {
    State last;
    return state.to_place > 0 || state.gap_left ? impossible : end_run(state, last);
  }
  const uint64_t key = state.to_place << 14U | state.way << 8U | state.end << 2U |
                       (state.gap_left ? 2U : 0U) | (state.run_over ? 1U : 0U);
  if (const auto known = values_.find(key); known != values_.end()) return known->second;
  Value best = impossible;
  if (!hopeless(state)) {
    const Value bound = most_kept_.at(state.way);
    for_each_move(state, [&](const Move& move) {
      best = std::max(best, value_of(move));
      return best < bound;
    });
  }
  values_.emplace(key, best);
  return best;
}

Value Search::value_of(const Move& move) {
  if (move.kind != nullptr) move.kind->left--;
  const Value rest = value(move.next);
  if (move.kind != nullptr) move.kind->left++;
  return rest == impossible ? impossible : rest + move.gain;
}

bool Search::hopeless(const State& state) const {
  unsigned ways = 0;
  for (const Kind& kind : kinds_) {
    ways += kind.ways * kind.left;
    if (kind.left > 0 && !kind.required.empty() && kind.required.lowest() < state.way) return true;
  }
  return Cbm{board_.exclusive.bits >> state.way}.count() < ways ||
         Cbm{board_.usable.bits >> state.way}.count() < ways + (state.gap_left ? gap_ : 0);
}

template <class Use>
void Search::for_each_move(const State& state, const Use& use) {
  const auto leave = [&](unsigned ways) {
    Move move{.next = state};
    move.next.way += ways;
    return move;
  };
  if (!board_.usable.contains(Cbm::range(state.way, 1))) {
    Move move = leave(1);
    move.gain = end_run(state, move.next);
    use(move);
    return;
  }
  // The pieces that come next, in the order in which they were given.
  const auto next_piece = [](const Kind* kind) {
    return kind->pieces[kind->pieces.size() - kind->left];
  };
  std::array<Kind*, all_ways> kinds;
  auto end = kinds.begin();
  for (Kind& kind : kinds_)
    if (kind.left > 0) *end++ = &kind;
  std::sort(kinds.begin(), end,
            [&](const Kind* a, const Kind* b) { return next_piece(a) < next_piece(b); });
  for (auto kind = kinds.begin(); kind != end; ++kind)
    if (const auto move = place(state, **kind); move && !use(*move)) return;
  if (state.gap_left && state.way + gap_ <= end_ &&
      board_.usable.contains(Cbm::range(state.way, gap_))) {
    Move move = leave(gap_);
    move.next.gap_left = false;
    if (!use(move)) return;
  }
  use(leave(1));
}

// A piece of this kind at this way, if it fits.
std::optional<Search::Move> Search::place(const State& state, Kind& kind) const {
  if (state.way + kind.ways > end_) return std::nullopt;
  const Cbm mask = Cbm::range(state.way, kind.ways);
  const Cbm of_devices = board_.devices & mask;
  if (!board_.exclusive.contains(mask) || !mask.contains(kind.required) ||
      (kind.strict && !of_devices.empty()))
    return std::nullopt;
  Move move{&kind, state, 0};
  move.next.way = move.next.end = state.way + kind.ways;
  move.next.to_place -= kind.stride;
  move.gain = end_run(state, move.next) +
              place_value * (places_kept(kind, mask) - places_lost(mask, state.end)) -
              device_value * (of_devices.count() + (of_devices.empty() ? 0U : all_ways)) -
              met(mask);
  return move;
}

// A place lies in at most one of several masks that do not overlap, so the masks that keep one of
// several pieces in its place belong to different pieces.
int Search::places_kept(const Kind& kind, Cbm mask) const {
  int kept = 0;
  for (const size_t i : kind.pieces)
    kept += static_cast<int>(std::ranges::count_if(
        pieces_[i].places, [&](Cbm place) { return place.contiguous() && mask.contains(place); }));
  return kind.pieces.size() == 1 ? kept : std::min(kept, 1);
}

// The other groups' places that this mask takes a way of and no lower one did. `end` is one above
// the highest way of the lower masks.
int Search::places_lost(Cbm mask, unsigned end) const {
  return static_cast<int>(std::ranges::count_if(
      board_.places, [&](Cbm place) { return place.overlaps(mask) && place.lowest() >= end; }));
}

// Whatever follows a run of ways that are left ends it. Only the lowest run matters: the kernel
// gives these ways to a group that is just being created, and refuses to create it if they are too
// few for a mask.
Value Search::end_run(const State& state, State& next) const {
  if (state.run_over) return 0;
  const Cbm below =
      Cbm{static_cast<uint32_t>((uint64_t{1} << state.way) - 1)}.without(board_.usable);
  const unsigned begin = std::max(state.end, below.empty() ? 0 : below.highest() + 1);
  if (begin >= state.way) return 0;
  next.run_over = true;
  return state.way - begin < board_.min_ways ? -fragment_value : 0;
}

Value Search::met(Cbm mask) const {
  return met_value *
         std::ranges::count_if(board_.others, [&](Cbm other) { return other.overlaps(mask); });
}

std::vector<Cbm> Search::masks() {
  std::vector<std::pair<const Kind*, Cbm>> placed;
  State state = start();
  while (state.way < end_) {
    const Value best = value(state);
    State next = state;
    for_each_move(state, [&](const Move& move) {
      if (value_of(move) != best) return true;
      if (move.kind != nullptr) {
        placed.emplace_back(move.kind, Cbm::range(state.way, move.kind->ways));
        move.kind->left--;
      }
      next = move.next;
      return false;
    });
    state = next;
  }
  return assign(placed);
}

// Which piece of its kind gets each mask: the one whose place it is, else the next one.
std::vector<Cbm> Search::assign(const std::vector<std::pair<const Kind*, Cbm>>& placed) const {
  std::vector<Cbm> out(pieces_.size());
  const auto give = [&](const auto& accepts) {
    for (const auto& [kind, mask] : placed) {
      if (std::ranges::find(out, mask) != out.end()) continue;
      const auto piece = std::ranges::find_if(
          kind->pieces, [&](size_t i) { return out[i].empty() && accepts(pieces_[i], mask); });
      if (piece != kind->pieces.end()) out[*piece] = mask;
    }
  };
  give([](const Piece& piece, Cbm mask) {
    return std::ranges::any_of(piece.places, [&](Cbm place) { return mask.contains(place); });
  });
  give([](const Piece&, Cbm) { return true; });
  return out;
}

bool reaches(const Board& board, const std::vector<Piece>& pieces, unsigned gap, Value value) {
  return total_ways(pieces) <= board.exclusive.count() &&
         Search(board, pieces, gap).value() >= value;
}

// The largest gap, from `least` on, for which an arrangement has this value. The value never rises
// with the gap.
unsigned widen(const Board& board, const std::vector<Piece>& pieces, unsigned least, Value value) {
  unsigned low = least;
  unsigned high = std::max(least, board.usable.count() - static_cast<unsigned>(total_ways(pieces)));
  while (low < high) {
    const unsigned middle = low + (high - low + 1) / 2;
    if (reaches(board, pieces, middle, value))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// The board without the ways that the pieces need not take. The value never rises with fewer ways.
Board lower(Board board, const std::vector<Piece>& pieces, unsigned gap, Value value) {
  const Cbm all = board.exclusive;
  const auto below = [&](unsigned end) { return all & (end == 0 ? Cbm{} : Cbm::range(0, end)); };
  unsigned low = 0;
  unsigned high = all_ways;
  while (low < high) {
    const unsigned middle = low + (high - low) / 2;
    board.exclusive = below(middle);
    if (reaches(board, pieces, gap, value))
      high = middle;
    else
      low = middle + 1;
  }
  board.exclusive = below(high);
  return board;
}

// One piece of scatter().
Cbm best_mask(Cbm free, const Piece& piece) {
  Cbm kept = piece.required;
  for (const Cbm place : piece.places)
    if (free.contains(place) && (kept | place).count() <= piece.ways) kept = kept | place;
  for (const Cbm wanted : {kept, piece.required})
    if (const auto run = lowest_run(free, piece.ways, wanted)) return *run;
  return kept | lowest_ways(free.without(kept), piece.ways - kept.count());
}

}  // namespace

std::optional<std::vector<Cbm>> arrange(const Board& board, const std::vector<Piece>& pieces,
                                        unsigned gap) {
  if (total_ways(pieces) > board.exclusive.count()) return std::nullopt;
  if (total_ways(pieces) + uint64_t{gap} > board.usable.count()) return std::nullopt;
  const Value value = Search(board, pieces, gap).value();
  if (value == impossible) return std::nullopt;
  const Board low = lower(board, pieces, gap, value);
  return Search(low, pieces, widen(low, pieces, gap, value)).masks();
}

std::optional<unsigned> largest_gap(const Board& board, const std::vector<Piece>& pieces) {
  if (total_ways(pieces) > board.exclusive.count()) return std::nullopt;
  if (Search(board, pieces, 0).value() == impossible) return std::nullopt;
  return widen(board, pieces, 0, impossible + 1);
}

std::vector<Cbm> scatter(const Board& board, const std::vector<Piece>& pieces) {
  std::vector<Cbm> out(pieces.size());
  const auto free_for = [&](size_t i) {
    Cbm free = pieces[i].strict ? board.exclusive.without(board.devices) : board.exclusive;
    for (size_t j = 0; j < pieces.size(); j++)
      if (j != i) free = free.without(out[j].empty() ? pieces[j].required : out[j]);
    return free;
  };
  const auto place_those = [&](bool strict) {
    for (size_t i = 0; i < pieces.size(); i++)
      for (const Cbm place : pieces[i].places)
        if (out[i].empty() && pieces[i].strict == strict && place.contiguous() &&
            place.count() == pieces[i].ways && free_for(i).contains(place) &&
            place.contains(pieces[i].required))
          out[i] = place;
    for (size_t i = 0; i < pieces.size(); i++)
      if (out[i].empty() && pieces[i].strict == strict) out[i] = best_mask(free_for(i), pieces[i]);
  };
  place_those(true);  // they have less to choose from
  place_those(false);
  return out;
}

}  // namespace rdtd
