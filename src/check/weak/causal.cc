// Causal consistency: T3 reads x from T1, and T2 writes x too and causally precedes T3 (a path of
// session order and reads-from): then T2 commits before T1.
//
// A transaction's causal past is one number per session: how far into that session it reaches. The
// rows of these clocks for all transactions are too large to keep (n × k), so we take a block of
// sessions at a time: rows of one block fit in O(n), blocks are independent of each other, and
// threads share them out.
//
// Within a block we go key by key. Of each session only the last writer of x in T3's past matters,
// for earlier writers precede it. Reads are taken session by session, so a reader's past only grows
// and a cursor into each session's writers only moves forward: O(n · k) in all. And if that writer
// is in T1's past already, or is T1, there is nothing to force; this drops almost all pairs.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "base/parallel.h"
#include "check/weak/weak.h"

namespace ouro {
namespace {

constexpr std::size_t kBlockSessions = 32;
constexpr std::size_t kCompactAt = 1 << 22;

// Positions of transactions among those of their session that take part, from 1.
std::vector<std::uint32_t> session_positions(const Observed& o) {
  std::vector<std::uint32_t> positions(o.history().txn_count(), 0);
  for (std::size_t s = 0; s < o.history().session_count(); ++s) {
    std::uint32_t position = 0;
    for (const TxnId txn : o.history().session_txns(SessionId{s})) {
      if (o.counted(txn)) positions[txn.index()] = ++position;
    }
  }
  return positions;
}

// The transaction before each in its session, of those that take part.
std::vector<TxnId> session_predecessors(const Observed& o) {
  std::vector<TxnId> before(o.history().txn_count());
  for (std::size_t s = 0; s < o.history().session_count(); ++s) {
    TxnId last;
    for (const TxnId txn : o.history().session_txns(SessionId{s})) {
      if (!o.counted(txn)) continue;
      before[txn.index()] = last;
      last = txn;
    }
  }
  return before;
}

// What blocks share.
struct Shared {
  const Observed& o;
  const Budget& budget;
  std::vector<Node> order;
  std::vector<std::uint32_t> position;
  std::vector<TxnId> before;
};

// Sessions [first, first + width).
class Block {
 public:
  Block(const Shared& shared, std::size_t width)
      : s_(shared), o_(shared.o), width_(width), rows_(shared.position.size() * width) {}

  void run(std::size_t first, std::size_t count) {
    first_ = first;
    count_ = count;
    fill_rows();
    BudgetTicker ticker(s_.budget);
    for (std::size_t k = 0; k < o_.history().key_count() && !ticker.tick(); ++k) key(KeyId{k});
  }

  [[nodiscard]] std::vector<ForcedEdge>& forced() { return forced_; }

  // Keeps, for each target, only the last source of each session: the others precede it.
  void compact() {
    const auto rank = [&](const ForcedEdge& e) {
      return std::tuple(e.to.value, o_.history().session(e.from).value,
                        ~s_.position[e.from.index()], e.read.value);
    };
    std::sort(forced_.begin(), forced_.end(),
              [&](const ForcedEdge& a, const ForcedEdge& b) { return rank(a) < rank(b); });
    const auto last = std::unique(
        forced_.begin(), forced_.end(), [&](const ForcedEdge& a, const ForcedEdge& b) {
          return a.to == b.to && o_.history().session(a.from) == o_.history().session(b.from);
        });
    forced_.erase(last, forced_.end());
  }

 private:
  [[nodiscard]] std::uint32_t* row(TxnId txn) { return rows_.data() + txn.index() * width_; }
  [[nodiscard]] bool inside(std::size_t session) const {
    return session >= first_ && session < first_ + count_;
  }

  // A row says how far the transaction's past reaches into each session, itself included.
  void fill_rows() {
    const Items& items = o_.items();
    BudgetTicker ticker(s_.budget);
    for (const Node node : s_.order) {
      const TxnId txn{node};
      if (!o_.counted(txn)) continue;
      if (ticker.tick()) return;
      std::uint32_t* mine = row(txn);
      const TxnId before = s_.before[node];
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
      if (inside(session)) mine[session - first_] = s_.position[node];
    }
  }

  // The writers of a key that belong to one session, in session order.
  struct Run {
    std::uint32_t session;
    std::uint32_t first, end;  // Into writers_.
    std::uint32_t next;        // The first writer not known to be in the reader's past.
  };

  void key(KeyId key) {
    collect_writers(key);
    if (runs_.empty()) return;
    const Items& items = o_.items();
    SessionId session;
    for (const ItemId item : o_.items_of(key)) {
      if (!items.is_read(item) || !o_.external(item) || !o_.counted(o_.txn(item))) continue;
      const SessionId reader_session = o_.history().session(o_.txn(item));
      if (reader_session != session) {
        for (Run& run : runs_) run.next = run.first;
        session = reader_session;
      }
      read(item);
    }
  }

  void collect_writers(KeyId key) {
    runs_.clear();
    writers_.clear();
    for (const ItemId item : o_.items_of(key)) {
      if (!o_.items().is_write(item) || !o_.final(item)) continue;
      const TxnId txn = o_.txn(item);
      const std::size_t session = o_.history().session(txn).index();
      if (!inside(session) || !o_.counted(txn)) continue;
      const auto at = static_cast<std::uint32_t>(writers_.size());
      if (runs_.empty() || runs_.back().session != session) {
        runs_.push_back({static_cast<std::uint32_t>(session), at, at, at});
      }
      writers_.push_back({txn, s_.position[txn.index()]});
      runs_.back().end = at + 1;
    }
  }

  void read(ItemId item) {
    const TxnId reader = o_.txn(item);
    const TxnId t1 = o_.writer(item);
    const std::size_t own = o_.history().session(reader).index();
    const std::uint32_t* past = row(reader);
    const std::uint32_t* known = t1 == kInitialTxn ? nullptr : row(t1);
    for (Run& run : runs_) {
      const std::size_t column = run.session - first_;
      const std::uint32_t reach =
          run.session == own ? s_.position[reader.index()] - 1 : past[column];
      while (run.next < run.end && writers_[run.next].position <= reach) ++run.next;
      if (run.next == run.first) continue;
      const Writer& t2 = writers_[run.next - 1];
      if (known != nullptr && known[column] >= t2.position) continue;
      forced_.push_back({t2.txn, t1, item, ItemId{}});
      if (forced_.size() >= next_compact_) {
        compact();
        next_compact_ = std::max(kCompactAt, forced_.size() * 2);
      }
    }
  }

  struct Writer {
    TxnId txn;
    std::uint32_t position;
  };

  const Shared& s_;
  const Observed& o_;
  std::size_t width_;
  std::size_t first_ = 0, count_ = 0;
  std::vector<std::uint32_t> rows_;
  std::vector<Run> runs_;
  std::vector<Writer> writers_;
  std::vector<ForcedEdge> forced_;
  std::size_t next_compact_ = kCompactAt;
};

}  // namespace

std::vector<ForcedEdge> infer_causal(const Observed& observed, std::span<const Node> order,
                                     const Budget& budget, unsigned threads) {
  const Shared shared{observed, budget, {order.begin(), order.end()}, session_positions(observed),
                      session_predecessors(observed)};
  const std::size_t sessions = observed.history().session_count();
  // Blocks of equal width, at least one per thread where rows stay a cache line long.
  const std::size_t wanted_blocks = std::max<std::size_t>(
      (sessions + kBlockSessions - 1) / kBlockSessions,
      std::min<std::size_t>(thread_count(threads), (sessions + 15) / 16));
  if (wanted_blocks == 0) return {};
  const std::size_t width = (sessions + wanted_blocks - 1) / wanted_blocks;
  const std::size_t blocks = (sessions + width - 1) / width;
  const std::size_t parts = observed.items().size() < 20'000
                                ? 1
                                : std::min<std::size_t>(thread_count(threads), blocks);
  std::vector<std::vector<ForcedEdge>> found(blocks);
  std::atomic<std::size_t> next{0};
  for_each_part(parts, [&](std::size_t) {
    Block block(shared, width);
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
