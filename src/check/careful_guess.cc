#include "check/careful_guess.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <span>

namespace ouro {
namespace {

class CarefulGuess {
 public:
  CarefulGuess(const Observed& observed, const Positions& places, Premise premise,
               const Budget& budget)
      : o_(observed), h_(observed.history()), places_(places), premise_(premise), ticker_(budget) {
    number_.resize(h_.txn_count());
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      std::uint32_t number = 0;
      for (const TxnId txn : h_.session_txns(SessionId{s})) number_[txn.index()] = ++number;
    }
  }

  std::vector<ReadSource> run() {
    constexpr std::size_t kMostClocks = 50'000'000;
    const bool clocks = premise_ == Premise::WholePast;
    if (clocks && h_.txn_count() * h_.session_count() > kMostClocks) return {};
    if (clocks) clocks_.resize(h_.txn_count() * h_.session_count());
    last_.resize(h_.session_count());
    for (const TxnId txn : in_order()) {
      if (ticker_.stopped()) return {};
      guess(txn);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::vector<TxnId> in_order() const {
    std::vector<TxnId> out;
    for (std::size_t t = 0; t < h_.txn_count(); ++t) {
      if (o_.counted(TxnId{t})) out.emplace_back(t);
    }
    std::sort(out.begin(), out.end(), [&](TxnId a, TxnId b) {
      return places_.commit[a.index()] < places_.commit[b.index()];
    });
    return out;
  }

  void guess(TxnId reader) {
    reader_ = reader;
    seen_.clear();
    TxnId& last = last_[h_.session(reader).index()];
    if (premise_ != Premise::EarlierReads && last.valid()) see(last);
    const Items& items = o_.items();
    const auto open = o_.open_reads();
    const auto first = std::lower_bound(open.begin(), open.end(), items.first(reader));
    const auto end = std::lower_bound(first, open.end(), items.end(reader));
    if (premise_ == Premise::EarlierReads) {
      auto next = first;
      for (ItemId item = items.first(reader); item < items.end(reader); ++item.value) {
        if (next != end && *next == item) {
          const ItemId write = choose(*next++);
          say(item, write);
          if (write.valid()) see(o_.txn(write));
        } else {
          see_write_of(item);
        }
      }
    } else {
      for (ItemId item = items.first(reader); item < items.end(reader); ++item.value) {
        if (!std::binary_search(first, end, item)) see_write_of(item);
      }
      guess_together({first, end});
    }
    last = reader;
    if (!clocks_.empty()) clock(reader)[h_.session(reader).index()] = number_[reader.index()];
  }

  // What one of the reads shows counts for the others, too, so they may have to be newer.
  void guess_together(std::span<const ItemId> open) {
    constexpr int kMostRounds = 8;
    std::vector<ItemId> chosen(open.size());
    bool changes = true;
    for (int round = 0; changes && round < kMostRounds; ++round) {
      changes = false;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (o_.items().is_summed(open[i])) continue;
        const ItemId write = choose(open[i]);
        changes |= write != chosen[i];
        chosen[i] = write;
        if (write.valid()) see(o_.txn(write));
      }
    }
    for (std::size_t i = 0; i < open.size(); ++i) say(open[i], chosen[i]);
  }

  void say(ItemId read, ItemId write) {
    if (o_.items().is_summed(read)) return;
    out_.push_back({o_.items().op(read), o_.items().key(read),
                    write.valid() ? o_.txn(write) : kInitialTxn});
  }

  // The version that the reader knows of if it fits, or else the first one behind that; if none
  // before the reader fits, any.
  ItemId choose(ItemId read) {
    const KeyId key = o_.items().key(read);
    const auto [at, added] = writes_.try_emplace(key);
    if (added) at->second = writes_by_commit(o_, places_, key);
    const WritesByCommit& writes = at->second;
    const std::uint32_t now = places_.begin[reader_.index()];
    const auto end = std::partition_point(writes.begin(), writes.end(),
                                          [&](const auto& write) { return write.first < now; });
    auto known = end;
    while (known != writes.begin() && !knows(o_.txn(std::prev(known)->second))) {
      ticker_.tick();
      --known;
    }
    if (known == writes.begin() && o_.fits(read, {})) return {};
    if (known != writes.begin()) --known;
    for (auto write = known; write != end; ++write) {
      ticker_.tick();
      if (o_.txn(write->second) != reader_ && o_.fits(read, write->second)) return write->second;
    }
    return o_.candidates(read).front();
  }

  void see_write_of(ItemId item) {
    if (!o_.items().is_read(item) || !o_.external(item)) return;
    const TxnId writer = o_.writer(item);
    if (writer != kInitialTxn) see(writer);
  }

  [[nodiscard]] bool knows(TxnId writer) const {
    const bool session = h_.session(writer) == h_.session(reader_);
    switch (premise_) {
      case Premise::WholePast:
        return clock(reader_)[h_.session(writer).index()] >= number_[writer.index()];
      case Premise::DirectPast:
        if (session && number_[writer.index()] < number_[reader_.index()]) return true;
        return seen_.contains(writer);
      case Premise::EarlierReads:
      case Premise::None:
        break;
    }
    return seen_.contains(writer);
  }

  void see(TxnId txn) {
    if (premise_ != Premise::WholePast) {
      seen_.insert(txn);
      return;
    }
    const auto from = clock(txn);
    const auto to = clock(reader_);
    for (std::size_t s = 0; s < to.size(); ++s) to[s] = std::max(to[s], from[s]);
  }

  // How many transactions of each session a transaction knows of, itself among them.
  [[nodiscard]] std::span<std::uint32_t> clock(TxnId txn) {
    return std::span(clocks_).subspan(txn.index() * h_.session_count(), h_.session_count());
  }
  [[nodiscard]] std::span<const std::uint32_t> clock(TxnId txn) const {
    return std::span(clocks_).subspan(txn.index() * h_.session_count(), h_.session_count());
  }

  const Observed& o_;
  const History& h_;
  const Positions& places_;
  const Premise premise_;
  BudgetTicker ticker_;
  std::vector<std::uint32_t> number_;  // By transaction: its number in its session, from 1.
  std::vector<TxnId> last_;            // By session: the last transaction so far.
  std::vector<std::uint32_t> clocks_;  // With Premise::WholePast only.
  absl::flat_hash_map<KeyId, WritesByCommit> writes_;
  TxnId reader_;
  absl::flat_hash_set<TxnId> seen_;  // By the reader; without Premise::WholePast.
  std::vector<ReadSource> out_;
};

}  // namespace

WritesByCommit writes_by_commit(const Observed& observed, const Positions& places, KeyId key) {
  WritesByCommit out;
  for (const ItemId item : observed.items_of(key)) {
    const bool counts = observed.items().is_write(item) && observed.final(item) &&
                        observed.counted(observed.txn(item));
    if (counts) out.emplace_back(places.commit[observed.txn(item).index()], item);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<ReadSource> careful_guess(const Observed& observed, const Positions& places,
                                      Premise premise, const Budget& budget) {
  if (premise == Premise::None) return {};
  return CarefulGuess(observed, places, premise, budget).run();
}

}  // namespace ouro
