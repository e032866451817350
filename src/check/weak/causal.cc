// Causal consistency: T3 reads x from T1, and T2 writes x too and causally precedes T3 (a path of
// session order and reads-from): then T2 commits before T1.
//
// A commit order is guessed: any topological order of what is known. Where it puts T2 before T1
// already nothing needs to be said, so only those T2 matter that the order puts between T1 and T3.
// Writers of a key are sorted by the order, so these are a short walk from T1; few of them are in
// T3's past, and those that are give edges for the next guess. If there is none the guess is right.
//
// A transaction's causal past is one number per session: how far into that session it reaches. The
// rows of these clocks for all transactions are too large to keep (n × k), so we take a block of
// sessions at a time: rows of one block fit in O(n), blocks are independent of each other, and
// threads share them out. Where the walk would be longer than the number of sessions we look up the
// last writer of each session instead, so a round costs O(n · k) at worst, up to a logarithm.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <tuple>

#include "base/parallel.h"
#include "check/weak/weak.h"

namespace ouro {
namespace {

constexpr std::size_t kBlockSessions = 32;
constexpr std::size_t kCompactAt = 1 << 22;

struct Writer {
  std::uint32_t rank = 0;  // In the guessed order.
  TxnId txn;
};

// What blocks share.
class Guess {
 public:
  Guess(const Observed& observed, std::span<const Node> guessed, const Budget& limits)
      : o(observed),
        budget(limits),
        order(guessed),
        rank(observed.history().txn_count()),
        position(observed.history().txn_count(), 0),
        before(observed.history().txn_count()),
        writer_first_(observed.history().key_count() + 1, 0) {
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<std::uint32_t>(i);
    index_sessions();
    sort_writers();
  }

  // The writers of a key, by rank.
  [[nodiscard]] std::span<const Writer> writers(KeyId key) const {
    return std::span(writers_).subspan(writer_first_[key.index()],
                                       writer_first_[key.index() + 1] - writer_first_[key.index()]);
  }
  // Those behind `rank`.
  [[nodiscard]] static std::span<const Writer> behind(std::span<const Writer> all,
                                                      std::uint32_t rank) {
    const auto at = std::upper_bound(all.begin(), all.end(), rank,
                                     [](std::uint32_t r, const Writer& w) { return r < w.rank; });
    return all.subspan(static_cast<std::size_t>(at - all.begin()));
  }

  const Observed& o;
  const Budget& budget;
  std::span<const Node> order;
  std::vector<std::uint32_t> rank;      // Of each transaction in the order.
  std::vector<std::uint32_t> position;  // In its session, of those that take part, from 1; one that
                                        // does not has the position of the one before it.
  std::vector<TxnId> before;            // The one before it there.

 private:
  void index_sessions() {
    for (std::size_t s = 0; s < o.history().session_count(); ++s) {
      TxnId last;
      std::uint32_t count = 0;
      for (const TxnId txn : o.history().session_txns(SessionId{s})) {
        if (o.counted(txn)) {
          ++count;
          before[txn.index()] = last;
          last = txn;
        }
        position[txn.index()] = count;
      }
    }
  }

  // A counting sort by key that takes transactions in the guessed order.
  void sort_writers() {
    const Items& items = o.items();
    const auto for_each_write = [&](const auto& f) {
      for (const Node node : order) {
        const TxnId txn{node};
        if (!o.counted(txn)) continue;
        for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
          if (items.is_write(i) && o.final(i)) f(items.key(i), txn);
        }
      }
    };
    for_each_write([&](KeyId key, TxnId) { ++writer_first_[key.index() + 1]; });
    for (std::size_t k = 1; k < writer_first_.size(); ++k) writer_first_[k] += writer_first_[k - 1];
    writers_.resize(writer_first_.back());
    std::vector<std::uint32_t> next(writer_first_.begin(), writer_first_.end() - 1);
    for_each_write([&](KeyId key, TxnId txn) {
      writers_[next[key.index()]++] = {rank[txn.index()], txn};
    });
  }

  std::vector<std::uint32_t> writer_first_;
  std::vector<Writer> writers_;
};

// Sessions [first, first + count).
class Block {
 public:
  Block(const Guess& guess, std::size_t width)
      : g_(guess), o_(guess.o), width_(width), rows_(guess.rank.size() * width) {}

  void run(std::size_t first, std::size_t count) {
    first_ = first;
    count_ = count;
    fill_rows();
    BudgetTicker ticker(g_.budget);
    for (std::size_t k = 0; k < o_.history().key_count(); ++k) {
      const auto writers = g_.writers(KeyId{k});
      if (writers.empty()) continue;
      for (const ItemId item : o_.items_of(KeyId{k})) {
        if (ticker.tick()) return;
        if (o_.items().is_read(item) && o_.external(item) && o_.counted(o_.txn(item))) {
          read(item, writers);
        }
      }
    }
  }

  [[nodiscard]] std::vector<ForcedEdge>& forced() { return forced_; }

  // Keeps, for each target, only the last source of each session: the others precede it.
  void compact() {
    const auto rank = [&](const ForcedEdge& e) {
      return std::tuple(e.to.value, o_.history().session(e.from).value,
                        ~g_.position[e.from.index()], e.read.value);
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

  // A row says how far the transaction's past reaches into each session, itself included.
  void fill_rows() {
    const Items& items = o_.items();
    BudgetTicker ticker(g_.budget);
    for (const Node node : g_.order) {
      const TxnId txn{node};
      if (!o_.counted(txn)) continue;
      if (ticker.tick()) return;
      std::uint32_t* mine = row(txn);
      const TxnId before = g_.before[node];
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
      if (inside(session)) mine[session - first_] = g_.position[node];
    }
  }

  // Whether `txn` is in the past of the reader with the row `past`.
  [[nodiscard]] bool in_past(TxnId txn, TxnId reader, const std::uint32_t* past) const {
    const std::size_t session = o_.history().session(txn).index();
    return inside(session) && txn != reader && g_.position[txn.index()] <= past[session - first_];
  }

  void read(ItemId item, std::span<const Writer> writers) {
    const TxnId reader = o_.txn(item);
    const TxnId t1 = o_.writer(item);
    const std::uint32_t end = g_.rank[reader.index()];
    auto rest = t1 == kInitialTxn ? writers : g_.behind(writers, g_.rank[t1.index()]);
    if (rest.empty() || rest.front().rank >= end) return;
    const std::uint32_t* past = row(reader);
    for (std::size_t i = 0; i < rest.size() && rest[i].rank < end; ++i) {
      if (i == 2 * count_ + 8) return look_up_sessions(item, rest.front().rank);
      if (in_past(rest[i].txn, reader, past)) force(rest[i].txn, t1, item);
    }
  }

  // As read(), by the last writer of each session in the reader's past.
  void look_up_sessions(ItemId item, std::uint32_t first_rank) {
    const TxnId reader = o_.txn(item);
    const std::uint32_t* past = row(reader);
    const auto items = o_.items_of(o_.items().key(item));
    const auto session_of = [&](ItemId i) { return o_.history().session(o_.txn(i)).index(); };
    for (std::size_t s = first_; s < first_ + count_; ++s) {
      const auto begin = std::partition_point(items.begin(), items.end(),
                                              [&](ItemId i) { return session_of(i) < s; });
      auto at = std::partition_point(begin, items.end(), [&](ItemId i) {
        return session_of(i) == s && g_.position[o_.txn(i).index()] <= past[s - first_];
      });
      while (at != begin) {
        const ItemId write = *--at;
        const TxnId txn = o_.txn(write);
        if (!o_.items().is_write(write) || !o_.counted(txn) || txn == reader) continue;
        if (g_.rank[txn.index()] >= first_rank) force(txn, o_.writer(item), item);
        break;
      }
    }
  }

  void force(TxnId t2, TxnId t1, ItemId item) {
    forced_.push_back({t2, t1, item, ItemId{}});
    if (forced_.size() < next_compact_) return;
    compact();
    next_compact_ = std::max(kCompactAt, forced_.size() * 2);
  }

  const Guess& g_;
  const Observed& o_;
  std::size_t width_;
  std::size_t first_ = 0, count_ = 0;
  std::vector<std::uint32_t> rows_;
  std::vector<ForcedEdge> forced_;
  std::size_t next_compact_ = kCompactAt;
};

}  // namespace

std::vector<ForcedEdge> infer_causal(const Observed& observed, std::span<const Node> order,
                                     const Budget& budget, unsigned threads) {
  const Guess guess(observed, order, budget);
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
  std::atomic<std::size_t> next{0};
  for_each_part(parts, [&](std::size_t) {
    Block block(guess, width);
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
