// Causal consistency: T3 reads x from T1, and T2 writes x too and causally precedes T3 (a path of
// session order and reads-from): then T2 commits before T1.
//
// Only those T2 contradict a guessed commit order (guess.h) which it puts between T1 and T3. So for
// each read that is suspect at all, which few are, we walk from T1's version to the next ones up to
// T3.
//
// A transaction's causal past is one number per session: how far into that session it reaches. The
// rows of these clocks for all transactions are too large to keep (n × k), so we take a block of
// sessions at a time: rows of one block fit in O(n), blocks are independent of each other, and
// threads share them out. Where the walk would be longer than the number of sessions we look up the
// last writer of each session instead, so a round costs O(n · k) at worst, up to a logarithm.

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <tuple>

#include "base/parallel.h"
#include "check/weak/weak.h"

namespace ouro {
namespace {

// The most sessions in a block.
constexpr std::size_t kBlockSessions = 32;
// When there are so many forced edges, they are compacted.
constexpr std::size_t kCompactAt = 1 << 22;

struct Sessions {
  explicit Sessions(const Observed& observed)
      : position(observed.history().txn_count(), 0), before(session_predecessors(observed)) {
    const History& h = observed.history();
    for (std::size_t s = 0; s < h.session_count(); ++s) {
      std::uint32_t count = 0;
      for (const TxnId txn : h.session_txns(SessionId{s})) {
        count += observed.counted(txn) ? 1 : 0;
        position[txn.index()] = count;
      }
    }
  }

  // By transaction: its number in its session, from 1, counting those that take part. One that does
  // not has the number of the one before it.
  std::vector<std::uint32_t> position;
  std::vector<TxnId> before;  // By transaction: the one before it that takes part.
};

// Finds the edges whose source T2 is in one of the sessions [first, first + count).
class Block {
 public:
  Block(const Observed& observed, const Guess& guess, const Sessions& sessions,
        const Budget& budget, std::size_t width)
      : o_(observed),
        g_(guess),
        sessions_(sessions),
        budget_(budget),
        width_(width),
        rows_(observed.history().txn_count() * width) {}

  void run(std::size_t first, std::size_t count) {
    first_ = first;
    count_ = count;
    fill_rows();
    BudgetTicker ticker(budget_);
    for (const ItemId item : g_.suspects()) {
      if (ticker.tick()) return;
      read(item);
    }
  }

  [[nodiscard]] std::vector<ForcedEdge>& forced() { return forced_; }

  // Keeps, for each target, only the last source of each session: the others precede it.
  void compact() {
    const auto rank = [&](const ForcedEdge& e) {
      return std::tuple(e.to.value, o_.history().session(e.from).value,
                        ~sessions_.position[e.from.index()], e.read.value);
    };
    std::sort(forced_.begin(), forced_.end(),
              [&](const ForcedEdge& a, const ForcedEdge& b) { return rank(a) < rank(b); });
    const auto last =
        std::unique(forced_.begin(), forced_.end(), [&](const ForcedEdge& a, const ForcedEdge& b) {
          return a.to == b.to && o_.history().session(a.from) == o_.history().session(b.from);
        });
    forced_.erase(last, forced_.end());
  }

 private:
  [[nodiscard]] std::uint32_t* row(TxnId txn) { return rows_.data() + txn.index() * width_; }
  [[nodiscard]] bool inside(std::size_t session) const {
    return session >= first_ && session < first_ + count_;
  }

  // Fills the row of every transaction: how far its past, itself included, reaches into each
  // session of the block.
  void fill_rows() {
    const Items& items = o_.items();
    BudgetTicker ticker(budget_);
    for (const Node node : g_.order()) {
      const TxnId txn{node};
      if (!o_.counted(txn)) continue;
      if (ticker.tick()) return;
      std::uint32_t* mine = row(txn);
      const TxnId before = sessions_.before[node];
      if (before.valid()) {
        std::memcpy(mine, row(before), width_ * sizeof(*mine));
      } else {
        std::fill(mine, mine + width_, 0);
      }
      for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
        if (!items.is_read(i) || !o_.external(i)) continue;
        const TxnId writer = o_.writer(i);
        if (writer == kInitialTxn) continue;
        const std::uint32_t* theirs = row(writer);
        for (std::size_t s = 0; s < width_; ++s) mine[s] = std::max(mine[s], theirs[s]);
      }
      const std::size_t session = o_.history().session(txn).index();
      if (inside(session)) mine[session - first_] = sessions_.position[node];
    }
  }

  // Whether `txn` is in the past of the reader with the row `past`.
  [[nodiscard]] bool in_past(TxnId txn, TxnId reader, const std::uint32_t* past) const {
    const std::size_t session = o_.history().session(txn).index();
    return inside(session) && txn != reader &&
           sessions_.position[txn.index()] <= past[session - first_];
  }

  // Adds the edges that a suspect read forces.
  void read(ItemId item) {
    const TxnId reader = o_.txn(item);
    const KeyId key = o_.items().key(item);
    const std::uint32_t* past = row(reader);
    std::size_t steps = 0;
    for (ItemId newer = g_.next(key, o_.write(item)); newer.valid(); newer = g_.next(key, newer)) {
      const TxnId t2 = o_.txn(newer);
      if (g_.rank(t2) >= g_.rank(reader)) return;
      if (++steps > 2 * count_ + 8) return look_up_sessions(item);
      if (in_past(t2, reader, past)) force(t2, o_.writer(item), item);
    }
  }

  // As read(), but looks only at the last writer of each session in the reader's past: the earlier
  // ones precede it anyway.
  void look_up_sessions(ItemId item) {
    const TxnId reader = o_.txn(item);
    const std::uint32_t* past = row(reader);
    const auto& writers = writers_by_session(o_.items().key(item));
    const auto session_of = [&](TxnId txn) { return o_.history().session(txn).index(); };
    for (std::size_t s = first_; s < first_ + count_; ++s) {
      const auto begin = std::partition_point(writers.begin(), writers.end(),
                                              [&](TxnId txn) { return session_of(txn) < s; });
      const auto end = std::partition_point(begin, writers.end(), [&](TxnId txn) {
        return session_of(txn) == s && sessions_.position[txn.index()] <= past[s - first_];
      });
      for (auto at = end; at != begin;) {
        const TxnId txn = *--at;
        if (txn == reader) continue;
        if (g_.is_against(txn, o_.writer(item))) force(txn, o_.writer(item), item);
        break;
      }
    }
  }

  // The writers of a key, by session and in session order; sorted when first asked for.
  const std::vector<TxnId>& writers_by_session(KeyId key) {
    const auto [at, added] = by_session_.try_emplace(key);
    if (added) {
      for (const ItemId item : o_.items_of(key)) {
        const bool final_write = o_.items().is_write(item) && o_.final(item);
        if (final_write && o_.counted(o_.txn(item))) at->second.push_back(o_.txn(item));
      }
      std::sort(at->second.begin(), at->second.end(), [&](TxnId a, TxnId b) {
        return std::pair(o_.history().session(a), a) < std::pair(o_.history().session(b), b);
      });
    }
    return at->second;
  }

  // Adds the edge from `t2` to `t1`, because of the read `item`.
  void force(TxnId t2, TxnId t1, ItemId item) {
    forced_.push_back({t2, t1, item, ItemId{}});
    if (forced_.size() < next_compact_) return;
    compact();
    next_compact_ = std::max(kCompactAt, forced_.size() * 2);
  }

  const Observed& o_;
  const Guess& g_;
  const Sessions& sessions_;
  const Budget& budget_;
  std::size_t width_;
  std::size_t first_ = 0, count_ = 0;
  std::vector<std::uint32_t> rows_;
  absl::flat_hash_map<KeyId, std::vector<TxnId>> by_session_;
  std::vector<ForcedEdge> forced_;
  std::size_t next_compact_ = kCompactAt;
};

}  // namespace

std::vector<ForcedEdge> infer_causal(const Observed& observed, const Guess& guess,
                                     const Budget& budget, unsigned threads) {
  if (guess.suspects().empty()) return {};
  const Sessions session_table(observed);
  const std::size_t sessions = observed.history().session_count();
  // Blocks of equal width, at least one per thread where rows stay a cache line long.
  const std::size_t wanted_blocks =
      std::max<std::size_t>((sessions + kBlockSessions - 1) / kBlockSessions,
                            std::min<std::size_t>(thread_count(threads), (sessions + 15) / 16));
  if (wanted_blocks == 0) return {};
  const std::size_t width = (sessions + wanted_blocks - 1) / wanted_blocks;
  const std::size_t blocks = (sessions + width - 1) / width;
  const std::size_t parts =
      observed.items().size() < 20'000 ? 1 : std::min<std::size_t>(thread_count(threads), blocks);
  std::vector<std::vector<ForcedEdge>> found(blocks);
  budget.charge(observed.items().size() * (2 + sessions / 8));
  std::atomic<std::size_t> next{0};
  for_each_part(parts, [&](std::size_t) {
    Block block(observed, guess, session_table, budget, width);
    for (std::size_t b = next++; b < blocks && !budget.exhausted(); b = next++) {
      block.run(b * width, std::min(width, sessions - b * width));
      block.compact();
      found[b] = std::move(block.forced());
      block.forced().clear();
    }
  });
  std::vector<ForcedEdge> forced;
  for (const auto& edges : found) forced.insert(forced.end(), edges.begin(), edges.end());
  return forced;
}

}  // namespace ouro
