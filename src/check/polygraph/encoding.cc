#include "check/polygraph/encoding.h"

#include <algorithm>

#include "check/likely_order.h"
#include "check/versions/predicate_reads.h"

namespace ouro {
namespace {

constexpr std::uint32_t kNoVersion = 0xffffffff;

}  // namespace

Encoding::Encoding(const Observed& observed, Level level, std::int64_t clock_drift, bool chains)
    : o_(observed) {
  RealTime real_time = RealTime::None;
  switch (level) {
    case Level::Prefix:
      split_ = sessions_ = ww_to_commit_ = true;
      chained_ = false;
      break;
    case Level::ParallelSi:
      sessions_ = true;
      overwrites_ = false;
      break;
    case Level::Si:
      split_ = true;
      break;
    case Level::SessionSi:
      split_ = sessions_ = true;
      break;
    case Level::Gsi:
      split_ = true;
      real_time = RealTime::CommitToCommit;
      break;
    case Level::StrongSi:
      split_ = sessions_ = true;
      real_time = RealTime::CommitToBegin;
      break;
    case Level::RepeatableRead:
      phantoms_ = true;
      break;
    case Level::SessionSerializable:
      sessions_ = true;
      break;
    case Level::StrictSerializable:
      sessions_ = true;
      real_time = RealTime::Txns;
      break;
    default:
      break;
  }
  if (split_ && !chains) chained_ = false;
  const std::size_t txns = o_.history().txn_count();
  first_readers_ = static_cast<Node>(split_ ? txns * 2 : txns);
  node_count_ = first_readers_;
  if (split_) {
    for (std::size_t t = 0; t < txns; ++t) add_arc(begin(TxnId{t}), commit(TxnId{t}));
  }
  if (sessions_) add_sessions();
  add_reads();
  add_predicates();
  add_chains();
  first_time_ = static_cast<Node>(node_count_);
  if (real_time != RealTime::None) add_real_time(real_time, clock_drift);
}

TxnId Encoding::txn(Node node) const {
  if (node >= first_readers_) return kInitialTxn;
  return TxnId{split_ ? node / 2 : node};
}

Arc Encoding::ww(TxnId from, TxnId to) const {
  return {commit(from), ww_to_commit_ ? commit(to) : begin(to)};
}

Side Encoding::before(ChainId a, ChainId b) const {
  Side side;
  const Chain& first = chains_[a];
  const Chain& second = chains_[b];
  if (first.last != kInitialTxn) side.add(ww(first.last, second.first));
  if (first.readers != kNoNode) side.add(rw(first.readers, second.first));
  return side;
}

KeyId Encoding::key_of(ChainId chain) const {
  const auto after = std::upper_bound(chain_first_.begin(), chain_first_.end(), chain);
  return KeyId{static_cast<std::size_t>(after - chain_first_.begin() - 1)};
}

void Encoding::add_sessions() {
  const History& h = o_.history();
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    TxnId before;
    for (const TxnId txn : h.session_txns(SessionId{s})) {
      if (!o_.counted(txn)) continue;
      if (before.valid()) add_arc(commit(before), begin(txn));
      before = txn;
    }
  }
}

void Encoding::add_reads() {
  const Items& items = o_.items();
  for (std::size_t t = 0; t < o_.history().txn_count(); ++t) {
    const TxnId txn{t};
    if (!o_.counted(txn)) continue;
    TxnId last;
    for (ItemId i = items.first(txn); i < items.end(txn); ++i.value) {
      if (!items.is_read(i) || !o_.external(i)) continue;
      const TxnId writer = o_.writer(i);
      if (writer == kInitialTxn || writer == last) continue;
      add_arc(commit(writer), begin(txn));
      last = writer;
    }
  }
}

void Encoding::add_predicates() {
  for (const PredicateEdge& edge : o_.predicate_edges()) {
    const TxnId writer = o_.txn(edge.write);
    if (!edge.overwrites) {
      add_arc(commit(writer), begin(edge.reader));
    } else if (overwrites_ && !phantoms_) {
      add_arc(begin(edge.reader), commit(writer));
    }
  }
}

// A chain of nodes, one for each completed transaction in order of time; a transaction hangs behind
// the last one that completed, by more than the drift, before it was invoked.
void Encoding::add_real_time(RealTime kind, std::int64_t clock_drift) {
  const History& h = o_.history();
  std::vector<std::pair<std::int64_t, TxnId>> completed;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const auto clock = h.completed(TxnId{t});
    if (clock && o_.counted(TxnId{t})) completed.emplace_back(*clock, TxnId{t});
  }
  std::sort(completed.begin(), completed.end());
  for (std::size_t i = 0; i < completed.size(); ++i) {
    const Node here = first_time_ + static_cast<Node>(i);
    if (i > 0) add_arc(here - 1, here);
    add_arc(commit(completed[i].second), here);
  }
  node_count_ += completed.size();
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const TxnId txn{t};
    const auto clock = h.invoked(txn);
    if (!clock || !o_.counted(txn)) continue;
    const auto after = std::partition_point(completed.begin(), completed.end(), [&](const auto& c) {
      return c.first < *clock - clock_drift;
    });
    if (after == completed.begin()) continue;
    const Node time = first_time_ + static_cast<Node>(after - completed.begin() - 1);
    add_arc(time, kind == RealTime::CommitToCommit ? commit(txn) : begin(txn));
  }
}

// ---- chains ----

void Encoding::add_chains() {
  const History& h = o_.history();
  item_chain_.assign(o_.items().size(), kNoChain);
  version_of_.assign(h.txn_count(), kNoVersion);
  chain_first_.reserve(h.key_count() + 1);
  for (std::size_t k = 0; k < h.key_count(); ++k) {
    chain_first_.push_back(static_cast<ChainId>(chains_.size()));
    add_key(KeyId{k});
  }
  chain_first_.push_back(static_cast<ChainId>(chains_.size()));
  versions_ = {};
  version_of_ = {};
}

void Encoding::add_key(KeyId key) {
  const Items& items = o_.items();
  const auto new_version = [&](TxnId writer, ItemId write) {
    if (version_count_ == versions_.size()) versions_.emplace_back();
    Version& version = versions_[version_count_++];
    version.writer = writer;
    version.write = write;
    version.next = kNoVersion;
    version.has_previous = false;
    version.reads.clear();
    version.chain = kNoChain;
  };
  version_count_ = 0;
  new_version(kInitialTxn, {});
  for (const ItemId item : o_.items_of(key)) {
    const TxnId txn = o_.txn(item);
    if (!items.is_write(item) || !o_.final(item) || !o_.counted(txn)) continue;
    version_of_[txn.index()] = static_cast<std::uint32_t>(version_count_);
    new_version(txn, item);
  }
  if (version_count_ == 1) {  // Nobody wrote the key.
    chains_.push_back({});
    return;
  }
  link_known(key);  // Before read-modify-writes, which may only continue it.
  for (const ItemId item : o_.items_of(key)) {
    if (!items.is_read(item) || !o_.external(item) || !o_.counted(o_.txn(item))) continue;
    if (phantoms_ && items.is_absence(item)) continue;
    const TxnId writer = o_.writer(item);
    Version& version = versions_[writer == kInitialTxn ? 0 : version_of_[writer.index()]];
    if (version.reads.empty() || o_.txn(version.reads.back()) != o_.txn(item)) {
      version.reads.push_back(item);
    }
  }
  if (chained_) link_updates();
  for (std::uint32_t v = 0; v < version_count_; ++v) {
    if (!versions_[v].has_previous) emit_chain(v);
  }
  if (overwrites_) add_known_overwrites(key);
  for (std::uint32_t v = 1; v < version_count_; ++v) {
    version_of_[versions_[v].writer.index()] = kNoVersion;
  }
}

// Adds the order that the list's reads reveal, or that the history states.
void Encoding::link_known(KeyId key) {
  for (const VersionStep& step : o_.version_steps(key)) {
    const TxnId to = o_.txn(step.to);
    std::uint32_t previous = 0;
    if (step.from.valid()) {
      arcs_.push_back(ww(o_.txn(step.from), to));
      previous = version_of_[o_.txn(step.from).index()];
    }
    if (step.adjacent) link(previous, version_of_[to.index()]);
  }
}

// Where the history says that a version came later than the last one of a chain, though not next,
// it came later than whoever read that one too.
void Encoding::add_known_overwrites(KeyId key) {
  for (const VersionStep& step : o_.version_steps(key)) {
    if (step.adjacent || step.read.valid()) continue;
    const TxnId to = o_.txn(step.to);
    const Version& from = versions_[version_of_[o_.txn(step.from).index()]];
    if (from.chain == kNoChain || chains_[from.chain].readers == kNoNode) continue;
    const bool reads = std::any_of(from.reads.begin(), from.reads.end(),
                                   [&](ItemId read) { return o_.txn(read) == to; });
    if (!reads) arcs_.push_back(rw(chains_[from.chain].readers, to));
  }
}

// Who reads a version and writes the key is the next writer. If two do, one of them is: the search
// then finds that the other fits nowhere.
void Encoding::link_updates() {
  for (std::uint32_t v = 0; v < version_count_; ++v) {
    for (const ItemId read : versions_[v].reads) {
      const std::uint32_t own = version_of_[o_.txn(read).index()];
      if (own != kNoVersion) link(v, own);
    }
  }
}

void Encoding::link(std::uint32_t previous, std::uint32_t next) {
  if (versions_[previous].next != kNoVersion || versions_[next].has_previous) return;
  versions_[previous].next = next;
  versions_[next].has_previous = true;
}

void Encoding::emit_chain(std::uint32_t v) {
  const auto id = static_cast<ChainId>(chains_.size());
  Chain chain{.first = versions_[v].writer};
  while (versions_[v].next != kNoVersion) {
    const Version& next = versions_[versions_[v].next];
    for (const ItemId read : versions_[v].reads) {
      if (!overwrites_ || o_.txn(read) == next.writer) continue;
      add_arc(begin(o_.txn(read)), commit(next.writer));
    }
    v = versions_[v].next;
  }
  versions_[v].chain = id;
  const Version& last = versions_[v];
  chain.last = last.writer;
  mark(id, chain, last);
  if (!overwrites_) {
    chain.readers = kNoNode;
  } else if (last.reads.size() == 1) {
    chain.readers = begin(o_.txn(last.reads[0]));
  } else if (last.reads.size() > 1) {
    chain.readers = static_cast<Node>(node_count_++);
    readers_chain_.push_back(id);
    for (const ItemId read : last.reads) add_arc(begin(o_.txn(read)), chain.readers);
  }
  chains_.push_back(chain);
}

// Remembers which transactions the chain's place depends on.
void Encoding::mark(ChainId id, const Chain& chain, const Version& last) {
  if (chain.first != kInitialTxn) {
    item_chain_[versions_[version_of_[chain.first.index()]].write.index()] = id;
  }
  if (last.writer != kInitialTxn) item_chain_[last.write.index()] = id;
  if (last.reads.size() == 1) item_chain_[last.reads[0].index()] = id;
}

// A transaction begins just before it commits, as if nothing were concurrent. Nodes that gather
// readers or carry time come as soon as they may.
std::vector<Node> Encoding::likely_order() const {
  const std::vector<Node> txns = likely_commit_order(o_.history());
  std::vector<Node> order;
  order.reserve(node_count_);
  for (Node node = first_readers_; node < node_count_; ++node) order.push_back(node);
  for (const Node txn : txns) {
    order.push_back(begin(TxnId{txn}));
    if (split_) order.push_back(commit(TxnId{txn}));
  }
  return order;
}

}  // namespace ouro
