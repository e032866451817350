#include "check/polygraph/key_chains.h"

#include <algorithm>

#include "check/observed/phantom.h"

namespace ouro {

// An estimate, exceeded only where orders are known: about every second item is a write that begins
// a chain, the others are reads, with an arc from what they returned and one to what overwrites it.
void KeyChains::reserve(std::size_t first, std::size_t end) {
  const std::size_t items = o_.items_before(KeyId{end}) - o_.items_before(KeyId{first});
  arcs.reserve(2 * items);
  chains.reserve(items + end - first);
  marks.reserve(2 * items);
}

bool KeyChains::add(KeyId key) {
  is_open_ = e_.is_open(key);
  items_ = o_.items_of(key);
  links_ = o_.links_of(key);
  version_count_ = 0;
  version_at_.assign(links_.size(), kNoVersion);
  add_version(kInitialTxn, 0);
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    if (ticker_.tick()) return false;
    if (links_[i].source != KeyLink::kFinalWrite || !o_.counted(txn(i))) continue;
    version_at_[i] = static_cast<std::uint32_t>(version_count_);
    add_version(txn(i), i);
  }
  if (version_count_ == 1) {  // Nobody wrote the key.
    if (is_open_) members.push_back({static_cast<ChainId>(chains.size()), kInitialTxn});
    chains.push_back({});
    return true;
  }
  link_known(key);  // First, as read-modify-writes may only continue it.
  add_reads();
  if (e_.chained()) link_updates();
  for (std::uint32_t v = 0; v < version_count_ && !ticker_.tick(); ++v) {
    if (!versions_[v].has_previous) emit(v);
  }
  if (e_.overwrites()) add_known_overwrites(key);
  return !ticker_.stopped();
}

// Versions are used again for the next key, so that their lists of reads keep their memory.
void KeyChains::add_version(TxnId writer, std::uint32_t write) {
  if (version_count_ == versions_.size()) versions_.emplace_back();
  Version& version = versions_[version_count_++];
  version.writer = writer;
  version.write = write;
  version.next = kNoVersion;
  version.has_previous = false;
  version.reads.clear();
  version.chain = kNoChain;
}

void KeyChains::add_reads() {
  for (std::uint32_t i = 0; i < links_.size() && !ticker_.tick(); ++i) {
    const std::uint32_t source = links_[i].source;
    if (source > Observed::kInitial || !o_.counted(txn(i))) continue;
    Version& version = versions_[source == Observed::kInitial ? 0 : version_at_[source]];
    if (!version.reads.empty() && txn(version.reads.back()) == txn(i)) continue;
    if (version.writer != kInitialTxn) {
      add_arc({e_.commit(version.writer), e_.begin(txn(i))});
    }
    if (e_.phantoms(txn(i)) && is_phantom(o_, items_[i])) continue;
    if (e_.mixture() != nullptr && !e_.mixture()->overwrites(txn(i))) continue;
    version.reads.push_back(i);
  }
}

// Searches from `near` on in growing steps: the next item is mostly not far behind.
std::uint32_t KeyChains::position_of(ItemId item, std::uint32_t near) const {
  std::size_t first = items_[near] <= item ? near : 0;
  std::size_t end = first == 0 ? items_.size() : first + 1;
  for (std::size_t step = 1; end < items_.size() && items_[end] <= item; step *= 2) {
    first = end;
    end = std::min(end + step, items_.size());
  }
  const auto begin = items_.begin();
  return static_cast<std::uint32_t>(std::lower_bound(begin + first, begin + end, item) - begin);
}

// Items of a key that belong to one transaction are neighbours.
std::uint32_t KeyChains::own_version(std::uint32_t position) const {
  for (std::uint32_t i = position; i < links_.size() && txn(i) == txn(position); ++i) {
    if (version_at_[i] != kNoVersion) return version_at_[i];
  }
  for (std::uint32_t i = position; i-- > 0 && txn(i) == txn(position);) {
    if (version_at_[i] != kNoVersion) return version_at_[i];
  }
  return kNoVersion;
}

// Adds the order that the list's reads reveal, or that the history states.
void KeyChains::link_known(KeyId key) {
  ItemId last;  // Where the step before led; mostly the next one begins there.
  std::uint32_t last_position = 0;
  for (const VersionStep& step : o_.version_steps(key)) {
    if (ticker_.tick()) return;
    const std::uint32_t to = position_of(step.to, last_position);
    std::uint32_t previous = 0;
    if (step.from.valid()) {
      const std::uint32_t from = step.from == last ? last_position : position_of(step.from, 0);
      add_arc(e_.ww(txn(from), txn(to)));
      previous = own_version(from);
    }
    if (step.adjacent) link(previous, own_version(to));
    last = step.to;
    last_position = to;
  }
}

// Where the history states that a version came later than the last one of a chain, though not that
// it came next, its writer follows whoever read that one, too.
void KeyChains::add_known_overwrites(KeyId key) {
  for (const VersionStep& step : o_.version_steps(key)) {
    if (ticker_.tick()) return;
    if (step.adjacent || step.read.valid()) continue;
    const TxnId to = o_.txn(step.to);
    const Version& from = versions_[own_version(position_of(step.from, 0))];
    if (from.chain == kNoChain || chains[from.chain].readers == kNoNode) continue;
    const bool reads = std::any_of(from.reads.begin(), from.reads.end(),
                                   [&](std::uint32_t read) { return txn(read) == to; });
    if (!reads) add_arc(e_.rw(chains[from.chain].readers, to));
  }
}

// Whoever reads a version and writes the key is the next writer. If two do, the first is taken, and
// the search finds that the other fits nowhere.
void KeyChains::link_updates() {
  for (std::uint32_t v = 0; v < version_count_ && !ticker_.tick(); ++v) {
    for (const std::uint32_t read : versions_[v].reads) {
      const std::uint32_t own = own_version(read);
      if (own != kNoVersion && e_.chained(txn(read))) link(v, own);
    }
  }
}

// Makes `next` follow `previous` immediately, unless one of them has another neighbour there.
void KeyChains::link(std::uint32_t previous, std::uint32_t next) {
  if (versions_[previous].next != kNoVersion || versions_[next].has_previous) return;
  versions_[previous].next = next;
  versions_[next].has_previous = true;
}

// Adds the chain that begins with version `v`, and the arcs of those who read its versions.
void KeyChains::emit(std::uint32_t v) {
  const auto id = static_cast<ChainId>(chains.size());
  const Version& first = versions_[v];
  if (is_open_) members.push_back({id, first.writer});
  for (; versions_[v].next != kNoVersion && !ticker_.tick(); v = versions_[v].next) {
    const Version& next = versions_[versions_[v].next];
    if (is_open_) members.push_back({id, next.writer});
    for (const std::uint32_t read : versions_[v].reads) {
      if (!e_.overwrites() || txn(read) == next.writer) continue;
      add_arc({e_.begin(txn(read)), e_.commit(next.writer)});
    }
  }
  Version& last = versions_[v];
  last.chain = id;
  Chain chain{.first = first.writer, .last = last.writer};
  mark(id, first, last);
  if (e_.overwrites() && last.reads.size() == 1) {
    chain.readers = e_.begin(txn(last.reads[0]));
  } else if (e_.overwrites() && last.reads.size() > 1) {
    chain.readers = e_.first_readers() + static_cast<Node>(readers_chain.size());
    readers_chain.push_back(id);
    for (const std::uint32_t read : last.reads) add_arc({e_.begin(txn(read)), chain.readers});
  }
  chains.push_back(chain);
}

// Notes the items on whose transactions the position of the chain depends.
void KeyChains::mark(ChainId id, const Version& first, const Version& last) {
  if (first.writer != kInitialTxn) marks.push_back({items_[first.write], id});
  if (last.writer != kInitialTxn && &first != &last) marks.push_back({items_[last.write], id});
  if (last.reads.size() == 1) marks.push_back({items_[last.reads[0]], id});
}

}  // namespace ouro
