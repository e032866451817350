#include "stream/predicates.h"

#include <algorithm>
#include <limits>

#include "check/timeline/rows.h"
#include "history/access.h"
#include "history/undone.h"
#include "stream/batch_reader.h"

namespace ouro::stream {
namespace {

// A fixed hash: it goes to checkpoints, so it must be the same in every run.
std::uint64_t hash_of(std::string_view text) {
  Checksum sum;
  sum.add(text);
  return sum.value();
}

}  // namespace

// ---- batches ----

void Predicates::turn_on(Arrival txns, std::size_t memory, StreamTime now) {
  constexpr Moment kEnd{std::numeric_limits<std::int64_t>::max(), 0, 0};
  on_ = true;
  set_initials();
  std::size_t swept = 0;  // How many bytes were left after the last sweep.
  for (Arrival next = 0; next < txns;) {
    const auto source = find_(next);
    if (!source) {
      lost_ = true;
      return;
    }
    install_all(sheet_of(source->history), next);
    next += source->history->txn_count();
    if (memory == 0 || table_.bytes() + table_.version_bytes() < swept + memory / 4) continue;
    if (const Status status = sweep(kEnd, now); !status.ok()) archive_.set_error(status.error());
    swept = table_.bytes() + table_.version_bytes();
  }
}

Seen Predicates::seen_of(const Initials::Initial& initial) {
  used_ = nullptr;
  table_.store().read_from(initials_.view());
  return {table_.store().add(initial.value), initial.print, !initial.value.is_null()};
}

// REQUIRES: there are no reads yet.
void Predicates::set_initials() {
  table_.set_initial(seen_of(initials_.all()));
  for (const auto& [name, own] : initials_.own()) {
    const Seen seen = seen_of(own);
    RowKey& key = table_.add(name, table_.store().add_key(own.key));
    const KeyState* const state = keys_.find(name);
    key.list = state != nullptr && state->kind == KeyKind::List;
    table_.set_first(key, seen);
  }
}

void Predicates::set_initial(KeyId id) {
  const Name name = name_of(*current_.history, current_.history->key_name(id));
  RowKey& key = key_of(current_, id);
  if (!archive_.prepare(Moment())) lost_ = true;
  const RowVersion* const first = RowTable::first(key);
  const Seen before = first != nullptr ? first->seen() : table_.initial();
  const Seen now = seen_of(initials_.of(name));
  table_.set_first(key, now);
  const auto next = key.versions.next(key.versions.begin());
  std::optional<Moment> until;
  if (next != key.versions.end()) until = key.versions.at(next).at();
  rejudge(key, Moment(), until, before, now);
}

void Predicates::install_all(Sheet& sheet, Arrival first) {
  const History& h = *sheet.history;
  if (table_.initial().alive) {
    for (std::size_t k = 0; k < h.key_count(); ++k) key_of(sheet, KeyId{k});
  }
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const TxnMoments moments = moments_of(h, TxnId{t}, first + t, rules_);
    if (moments.known()) install(sheet, TxnId{t}, moments.commit);
  }
}

void Predicates::enter(std::shared_ptr<const History> batch, Fingerprints& prints) {
  const std::size_t count = batch->key_count();
  used_ = nullptr;
  current_ = {std::move(batch), &prints, std::vector<RowKey*>(count), std::vector<TxnId>(count)};
  use(current_);
  // Keys that counted as rows before may turn out to be lists.
  for (std::size_t k = 0; k < count; ++k) {
    const Name name = name_of(*current_.history, current_.history->key_name(KeyId{k}));
    RowKey* const key = table_.initial().alive ? &key_of(current_, KeyId{k}) : table_.find(name);
    current_.keys[k] = key;
    if (key == nullptr || key->list) continue;
    const KeyState* const state = keys_.find(name);
    if (state != nullptr && state->kind == KeyKind::List) drop_list(*key);
  }
}

void Predicates::use(Sheet& sheet) {
  if (used_ == &sheet) return;
  used_ = &sheet;
  table_.store().read_from(*sheet.history);
}

Predicates::Sheet& Predicates::sheet_of(const std::shared_ptr<const History>& batch) {
  if (current_.history == batch) return current_;
  if (recalled_.history != batch) {
    recalled_prints_.enter(*batch);
    const std::size_t count = batch->key_count();
    recalled_ = {batch, &recalled_prints_, std::vector<RowKey*>(count), std::vector<TxnId>(count)};
    if (used_ == &recalled_) used_ = nullptr;
  }
  return recalled_;
}

RowKey& Predicates::key_of(Sheet& sheet, KeyId id) {
  RowKey*& known = sheet.keys[id.index()];
  if (known != nullptr) return *known;
  const History& h = *sheet.history;
  const Name name = name_of(h, h.key_name(id));
  known = table_.find(name);
  if (known != nullptr) return *known;
  use(sheet);
  known = &table_.add(name, table_.store().add_key(h.key_name(id)));
  const KeyState* const state = keys_.find(name);
  known->list = state != nullptr && state->kind == KeyKind::List;
  // With an initial value that is not null, the key is a row from the beginning of the timeline.
  if (table_.initial().alive) {
    if (!archive_.prepare(Moment())) lost_ = true;
    rejudge(*known, Moment(), std::nullopt, Seen(), table_.initial());
  }
  return *known;
}

// ---- versions ----

Seen Predicates::written(Sheet& sheet, const Op& op) {
  use(sheet);
  return {table_.store().add(op.value), sheet.prints->of(op.value), leaves_own_row(op)};
}

void Predicates::install(TxnId txn, const Moment& commit) {
  if (!archive_.prepare(commit)) lost_ = true;
  install(current_, txn, commit);
}

void Predicates::install(Sheet& sheet, TxnId txn, const Moment& commit) {
  const History& h = *sheet.history;
  for (OpId id = h.end_op(txn); id > h.first_op(txn);) {
    const Op op = h.op(OpId{--id.value});
    if (!writes_register(op.kind)) continue;
    TxnId& last = sheet.written_by[op.key.index()];
    if (std::exchange(last, txn) == txn) continue;
    RowKey& key = key_of(sheet, op.key);
    const Seen before = table_.seen(key, commit);
    const Seen now = written(sheet, op);
    table_.add(key, RowVersion::of(commit, now));
    const bool gone = archive_.is_dropped(commit);
    if (!gone && (reads_.empty() || reads_.rbegin()->first.begin < commit)) continue;
    const auto next = key.versions.lower_bound({commit.physical, commit.logical, commit.order + 1});
    std::optional<Moment> until;
    if (next != key.versions.end()) until = key.versions.at(next).at();
    rejudge(key, commit, until, before, now);
  }
}

// ---- reads ----

void Predicates::add_own(Sheet& sheet, TxnId txn, OpId until, Asked& asked) {
  const History& h = *sheet.history;
  for (OpId id = h.first_op(txn); id < until; ++id.value) {
    const Op op = h.op(id);
    if (!is_own_row(h, op, until)) continue;
    const KeyId key = key_of(sheet, op.key).id;
    asked.own.push_back({key, written(sheet, op)});
  }
  // The last write of each key counts.
  std::reverse(asked.own.begin(), asked.own.end());
  std::stable_sort(asked.own.begin(), asked.own.end(),
                   [](const Asked::Own& a, const Asked::Own& b) { return a.key < b.key; });
  const auto end =
      std::unique(asked.own.begin(), asked.own.end(),
                  [](const Asked::Own& a, const Asked::Own& b) { return a.key == b.key; });
  asked.own.erase(end, asked.own.end());
}

Asked Predicates::make(Sheet& sheet, TxnId txn, std::uint32_t op) {
  const History& h = *sheet.history;
  const OpId id{h.first_op(txn).index() + op};
  const PredicateRead& read = h.predicate_read(id);
  Asked asked;
  asked.kind = h.op(id).kind;
  add_own(sheet, txn, id, asked);
  if (asked.kind != OpKind::Aggregate) {
    for (const KeyVersion& row : h.rows(read)) {
      RowKey& key = key_of(sheet, row.key);
      key.returned = true;
      asked.returned.push_back({key.id, sheet.prints->of(row.value)});
    }
    std::sort(asked.returned.begin(), asked.returned.end());
  } else {
    asked.observed = !read.result.is_unobserved();
    asked.result = asked.observed ? h.text(read.result) : std::string();
  }
  use(sheet);
  RowStore& store = table_.store();
  asked.read.aggregate = read.aggregate;
  asked.read.column = store.translated(read.column);
  if (asked.kind == OpKind::Scan) {
    asked.read.lower = store.add(read.lower);
    asked.read.upper = store.add(read.upper);
  } else {
    asked.read.predicate = store.add(read.predicate);
  }
  return asked;
}

const Asked* Predicates::asked(Reads::iterator read) {
  if (read->second.asked != nullptr) return read->second.asked.get();
  const auto source = find_(read->first.begin.number());
  if (!source) return nullptr;
  Sheet& sheet = sheet_of(source->history);
  read->second.asked = std::make_unique<Asked>(make(sheet, source->txn, read->first.op));
  made_.push_back(read->first);
  return read->second.asked.get();
}

bool Predicates::judge_aggregate(const ReadMoment& moment, TimedRead& read, const Asked& asked) {
  const Judge judge(table_, asked, moment.begin);
  const std::string text = judge.aggregated();
  read.wrong = asked.observed && !judge.gives(asked.result) ? 1 : 0;
  const std::uint64_t hash = hash_of(text);
  return std::exchange(read.expected, hash) != hash;
}

std::optional<bool> Predicates::add(TxnId txn, const Moment& begin, std::uint32_t op) {
  if (!archive_.prepare(begin)) return std::nullopt;
  const ReadMoment moment{begin, op};
  auto made = std::make_unique<Asked>(make(current_, txn, op));
  TimedRead read;
  if (made->kind == OpKind::Aggregate) {
    judge_aggregate(moment, read, *made);
  } else {
    read.wrong = Judge(table_, *made, begin).wrong_keys();
  }
  const bool wrong = read.wrong > 0;
  read.asked = std::move(made);
  made_.push_back(moment);
  reads_.emplace(moment, std::move(read));
  return wrong;
}

// ---- what changes ----

Predicates::Touched& Predicates::touch(Reads::iterator read) {
  return touched_.try_emplace(read->first, Touched{read->second.wrong > 0, false}).first->second;
}

void Predicates::doubt(Reads::iterator read) {
  lost_ = true;
  touch(read);
  read->second.wrong = 0;
  read->second.unsure = true;
}

void Predicates::doubt(const ReadMoment& read) {
  const auto at = reads_.find(read);
  if (at == reads_.end()) return;
  at->second.wrong = 0;
  at->second.unsure = true;
}

// REQUIRES: all reads from `from` to `until` that are not gone are in memory. What a key held when
// a read that may be gone began is not known; but at later moments it is: the version that was seen
// then was not replaced before.
void Predicates::rejudge(const RowKey& key, const Moment& from, const std::optional<Moment>& until,
                         const Seen& before, const Seen& now) {
  const bool gone = archive_.is_dropped(from);
  if (gone) lost_ranges_.push_back({from, until});
  if (before == now && !gone) return;
  for (auto at = reads_.lower_bound({from, 0}); at != reads_.end(); ++at) {
    if (until && *until < at->first.begin) return;
    if (at->second.unsure) continue;
    const Asked* const what = asked(at);
    if (what == nullptr || archive_.is_dropped(at->first.begin)) {
      doubt(at);
      continue;
    }
    const Judge judge(table_, *what, at->first.begin);
    if (judge.owns(key)) continue;
    const bool selected = judge.selects(key, before);
    const bool selects = judge.selects(key, now);
    if (what->kind == OpKind::Aggregate) {
      if (selected || selects) touch(at);
      continue;
    }
    const bool was_wrong = judge.wrong(key, before);
    const bool wrong = judge.wrong(key, now);
    if (!selected && !selects && was_wrong == wrong) continue;
    touch(at).changed |= selected || selects;
    at->second.wrong += (wrong ? 1u : 0u) - (was_wrong ? 1u : 0u);
  }
}

// The key turned out to be a list: it is no row, whatever its initial value, and rows that reads
// returned for it do not count.
void Predicates::drop_list(RowKey& key) {
  if (!key.returned && key.versions.empty() && !table_.initial().alive) {
    key.list = true;
    return;
  }
  if (!archive_.prepare(Moment())) lost_ = true;
  if (archive_.is_dropped(Moment())) lost_ranges_.push_back({Moment(), std::nullopt});
  for (auto at = reads_.begin(); at != reads_.end(); ++at) {
    if (at->second.unsure) continue;
    const Asked* const what = asked(at);
    if (what == nullptr || archive_.is_dropped(at->first.begin)) {
      doubt(at);
      continue;
    }
    const Judge judge(table_, *what, at->first.begin);
    const Seen seen = judge.seen(key);
    const bool selected = judge.selects(key, seen);
    if (what->kind == OpKind::Aggregate) {
      if (selected) touch(at);
      continue;
    }
    const bool wrong = judge.wrong(key, seen);
    if (!selected && !wrong) continue;
    touch(at).changed |= selected;
    at->second.wrong -= wrong ? 1 : 0;
  }
  key.list = true;
}

std::vector<Change> Predicates::take_changes(bool& lost) {
  std::vector<Change> changes;
  for (auto& [moment, touched] : touched_) {
    const auto at = reads_.find(moment);
    if (at == reads_.end()) continue;
    const Asked* const what = at->second.unsure ? nullptr : asked(at);
    if (what == nullptr) {
      lost_ = true;
      at->second.wrong = 0;
      at->second.unsure = true;
    } else if (what->kind == OpKind::Aggregate) {
      touched.changed = judge_aggregate(moment, at->second, *what);
    }
    const bool wrong = at->second.wrong > 0;
    if (wrong == touched.was_wrong && !(wrong && touched.changed)) continue;
    changes.push_back({moment.begin.number(), moment.op, moment.begin, touched.was_wrong, wrong,
                       !at->second.unsure});
  }
  touched_.clear();
  lost |= std::exchange(lost_, false);
  return changes;
}

// ---- what is told ----

bool Predicates::wrong(const Moment& begin, std::uint32_t op) {
  static_cast<void>(archive_.prepare(begin));
  const auto at = reads_.find({begin, op});
  return at != reads_.end() && at->second.wrong > 0;
}

Predicates::Expected Predicates::expected(const Moment& begin, std::uint32_t op) {
  constexpr std::size_t kWriters = 64;
  Expected out;
  static_cast<void>(archive_.prepare(begin));
  const auto at = reads_.find({begin, op});
  const Asked* const what = at == reads_.end() ? nullptr : asked(at);
  if (what == nullptr) return out;
  const Judge judge(table_, *what, at->first.begin);
  const std::vector<KeyVersion> rows = judge.selected();
  out.text =
      what->kind == OpKind::Aggregate ? judge.aggregated() : rows_text(table_.store().view(), rows);
  const auto add_writer = [&](const RowKey& key) {
    const RowVersion* const version = RowTable::version(key, begin);
    if (version == nullptr || version->is_initial() || judge.owns(key)) return;
    if (out.writers.size() == kWriters) return;
    out.writers.push_back(version->at().number());
  };
  for (const KeyVersion& row : rows) add_writer(table_.at(row.key));
  for (const Asked::Returned& row : what->returned) {
    const RowKey& key = table_.at(row.key);
    if (judge.wrong(key, judge.seen(key))) add_writer(key);
  }
  return out;
}

// ---- memory ----

void Predicates::close(const Moment& begin) {
  for (auto at = reads_.lower_bound({begin, 0}); at != reads_.end() && at->first.begin == begin;
       ++at) {
    at->second.asked = nullptr;
  }
}

void Predicates::release_all() {
  for (const ReadMoment& moment : made_) {
    if (const auto at = reads_.find(moment); at != reads_.end()) at->second.asked = nullptr;
  }
  made_.clear();
  table_.store().clear_predicates();
}

void Predicates::tidy() {
  const bool many = table_.store().predicate_count() > kManyPredicates;
  if (many || made_.size() > kManyPredicates) release_all();
}

// Versions that were moved to disk leave their values in the store. When it has grown much, it is
// replaced by a copy with only what is still needed.
Status Predicates::sweep(const Moment& until, StreamTime now) {
  if (Status status = archive_.sweep(until, now); !status.ok()) return status;
  if (table_.store().bytes() < compact_at_) return {};
  release_all();
  table_.compact();
  used_ = nullptr;
  compact_at_ = std::max(kSmallStore, 2 * table_.store().bytes());
  return {};
}

// ---- checkpoints ----

void Predicates::save(Encoder& out) {
  out.number(on_);
  if (!on_) return;
  RowStore& store = table_.store();
  store.encode_columns(out);
  out.number<std::uint64_t>(table_.keys().size());
  for (const RowKey& key : table_.keys()) {
    out.number(key.name);
    store.encode(store.view().key_name(key.id), out);
    out.number(key.list);
    out.number(key.returned);
    out.number<std::uint64_t>(key.versions.size());
    for (auto c = key.versions.begin(); c != key.versions.end(); c = key.versions.next(c)) {
      out.number(key.versions.at(c));
      store.encode(key.versions.at(c).value, out);
    }
  }
  out.number<std::uint64_t>(reads_.size());
  for (const auto& [moment, read] : reads_) {
    out.number(moment);
    out.number(packed(read));
    out.number(read.expected);
  }
  archive_.save(out);
}

Status Predicates::restore(Decoder& in, const std::string& folder, bool limited) {
  on_ = in.number<bool>();
  if (!on_) return limited ? archive_.open(folder) : Status();
  RowStore& store = table_.store();
  store.decode_columns(in);
  table_.set_initial(seen_of(initials_.all()));
  const auto keys = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < keys && in.ok(); ++i) {
    const auto name = in.number<Name>();
    RowKey& key = table_.add(name, store.decode_key(in));
    key.list = in.number<bool>();
    key.returned = in.number<bool>();
    const auto versions = in.number<std::uint64_t>();
    for (std::uint64_t v = 0; v < versions && in.ok(); ++v) {
      auto version = in.number<RowVersion>();
      version.value = store.decode(in);
      table_.add(key, version);
    }
  }
  const auto reads = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < reads && in.ok(); ++i) {
    TimedRead& read = reads_[in.number<ReadMoment>()];
    unpack(in.number<std::uint32_t>(), read);
    read.expected = in.number<std::uint64_t>();
  }
  return archive_.restore(in, folder, limited);
}

}  // namespace ouro::stream
