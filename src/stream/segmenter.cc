#include "stream/segmenter.h"

#include <fmt/format.h>

#include <algorithm>

#include "history/columns.h"
#include "stream/copier.h"

namespace ouro::segments {

using stream::Copier;
namespace {

constexpr char kUnknownReads[] =
    "a transaction of unknown outcome may have read what nobody else can tell";
constexpr char kOpenReads[] =
    "a compare-and-set failed on a key of which the segments before leave open what it held";
constexpr char kRepeated[] =
    "a value was read that both the segment and the ones before it may have written";
constexpr char kLate[] =
    "a transaction of unknown outcome, of which nobody knows when it ended, may have taken effect "
    "in an earlier segment";

Error refusal(const History& history, OpId op, const char* what) {
  Error error;
  const Place place = history.place(op);
  error.file = std::string(place.file);
  if (place.unit == PlaceUnit::Line) error.line = place.position;
  error.what = fmt::format(
      "{}: piece by piece only reads and writes of registers are decided without timestamps; check "
      "the history as a whole, without --stream",
      what);
  return error;
}

}  // namespace

Status Segmenter::refuse(const History& piece) const {
  for (std::size_t i = 0; i < piece.op_count(); ++i) {
    const Op op = piece.op(OpId{i});
    if (is_predicate_read(op.kind)) return refusal(piece, op.id, "a scan, select or aggregate");
    if (op.kind == OpKind::Inc || op.kind == OpKind::Add) {
      return refusal(piece, op.id, "a counter or set");
    }
    if (op.kind == OpKind::Append || op.kind == OpKind::UndoneAppend || op.value.is_list()) {
      return refusal(piece, op.id, "a list");
    }
  }
  return {};
}

Status Segmenter::take_initials(const History& piece) {
  if (!begun_) keys_.initial(KeptValue(piece, piece.default_initial()));
  begun_ = true;
  for (const KeyVersion& own : columns_of(piece).key_initial) {
    if (keys_.initial(piece, own.key)) continue;
    Error error;
    error.file = std::string(piece.file());
    error.what = fmt::format(
        "the initial value of key {} is told after transactions with that key; piece by piece it "
        "must come before them",
        piece.key_label(own.key));
    return error;
  }
  return {};
}

Status Segmenter::add(std::shared_ptr<const History> piece) {
  if (Status fit = refuse(*piece); !fit.ok()) return fit;
  if (Status taken = take_initials(*piece); !taken.ok()) return taken;
  for (std::size_t t = 0; t < piece->txn_count() && !straggler_; ++t) {
    if (cuts_.add(*piece, TxnId{t})) continue;
    straggler_ = {piece->invoked(TxnId{t}), piece->place(TxnId{t}).to_string()};
  }
  if (piece->txn_count() == 0) return {};
  buffered_ops_ += piece->op_count();
  buffer_.push_back({piece, next_place_});
  next_place_ += piece->txn_count();
  return {};
}

Status Segmenter::cut(bool end) {
  while (!straggler_) {
    const auto found = cuts_.next(end);
    if (!found) break;
    if (std::exchange(dropping_, false)) {
      last_completed_ = found->completed;
      static_cast<void>(take_buffered(found->end));
      continue;
    }
    if (Status made = make(found->end, found->completed); !made.ok()) return made;
  }
  if (!end || straggler_ || made_ == next_place_) return {};
  if (dropping_) static_cast<void>(take_buffered(next_place_));
  return dropping_ ? Status() : make(next_place_, kNoClock);
}

void Segmenter::give_up() {
  static_cast<void>(take_buffered(next_place_));
  dropping_ = true;
  cuts_.restart();
  floating_.clear();
  keys_.forget();
  for (const auto& segment : segments_) {
    if (segment != nullptr && segment->open > 0) {
      segment->open = 1;
      close_one(*segment);
    }
  }
}

void Segmenter::close_one(Segment& segment) {
  if (--segment.open == 0) ready_.push_back(segment.number);
}

std::unique_ptr<Segment> Segmenter::next_ready() {
  if (ready_.empty()) return nullptr;
  std::unique_ptr<Segment> segment = std::move(segments_[ready_.back()]);
  ready_.pop_back();
  if (segment->file.empty()) waiting_ops_ -= segment->ops;
  return segment;
}

void Segmenter::finish() {
  for (const auto& segment : segments_) {
    if (segment == nullptr || segment->open == 0) continue;
    segment->open = 0;
    ready_.push_back(segment->number);
  }
}

Status Segmenter::put_away(std::uint64_t ops, const std::filesystem::path& folder) {
  while (waiting_ops_ > ops && oldest_ < segments_.size()) {
    Segment* segment = segments_[oldest_].get();
    ++oldest_;
    if (segment == nullptr || !segment->file.empty() || segment->open == 0) continue;
    waiting_ops_ -= segment->ops;
    if (Status done = segment->put_away(folder); !done.ok()) return done;
  }
  return {};
}

// The transactions up to the place `end`, which leave the buffer.
std::vector<Source> Segmenter::take_buffered(std::uint64_t end) {
  std::vector<Source> txns;
  while (!buffer_.empty() && made_ < end) {
    const Piece& piece = buffer_.front();
    const std::uint64_t piece_end = piece.first + piece.history->txn_count();
    for (; made_ < std::min(end, piece_end); ++made_) {
      txns.push_back({piece.history, TxnId{static_cast<std::size_t>(made_ - piece.first)}});
    }
    if (made_ < piece_end) break;
    buffered_ops_ -= piece.history->op_count();
    buffer_.pop_front();
  }
  return txns;
}

Result<std::unique_ptr<Segment>> Segmenter::copy(const std::vector<Floating::Txn>& late,
                                                 const std::vector<Source>& txns,
                                                 std::uint64_t first,
                                                 const std::vector<bool>& leave_out) {
  auto segment = std::make_unique<Segment>();
  Copier copier;
  std::size_t next = 0;
  const auto add = [&](const Source& source, std::uint64_t place) {
    const bool left_out = next < leave_out.size() && leave_out[next];
    ++next;
    if (left_out) return;
    copier.add(source);
    segment->places.push_back(place);
  };
  for (const Floating::Txn& txn : late) add({txn.history, TxnId{0}}, txn.place);
  for (std::size_t i = 0; i < txns.size(); ++i) add(txns[i], first + i);
  auto history = copier.freeze();
  if (!history.ok()) return history.error();
  segment->history = *std::move(history);
  segment->ops = segment->history.op_count();
  return segment;
}

// Which transactions may still take effect behind the segment.
std::vector<bool> Segmenter::still_floating(const Making& making, const SegmentFacts& facts) const {
  const History& h = making.segment->history;
  std::vector<bool> floating;
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    const TxnId txn{t};
    if (h.status(txn) != TxnStatus::Unknown || h.completed(txn) || facts.counts(txn) ||
        !may_write(h, txn)) {
      continue;
    }
    bool goes_on = false;  // Whether its session does, so that it ended, too.
    for (const TxnId other : h.session_txns(h.session(txn))) {
      goes_on = goes_on || (other > txn && facts.counts(other));
    }
    if (goes_on) continue;
    floating.resize(h.txn_count());
    floating[t] = true;
  }
  return floating;
}

// Copies the transactions and finds the facts; twice if some of them turn out to be floating.
Status Segmenter::build(Making& making, const std::vector<Source>& txns, std::uint64_t first,
                        std::optional<SegmentFacts>& facts) {
  std::vector<Floating::Txn> late = floating_.take(txns, keys_);
  std::vector<bool> leave_out;
  const auto attempt = [&]() -> Status {
    auto segment = copy(late, txns, first, leave_out);
    if (!segment.ok()) return segment.error();
    making.segment = *std::move(segment);
    const History& h = making.segment->history;
    making.late.clear();
    for (std::size_t t = 0; t < h.txn_count() && making.segment->places[t] < first; ++t) {
      making.late.emplace(t);
    }
    making.numbers.clear();
    for (std::size_t k = 0; k < h.key_count(); ++k) {
      making.numbers.push_back(keys_.number(h, KeyId{k}));
    }
    making.has_initial.assign(h.key_count(), false);
    facts.emplace(h, drift_, making.late, [this, &making, &h](KeyId key, Value value) {
      return may_hold(keys_[making.numbers[key.index()]], KeptValue(h, value));
    });
    return {};
  };
  if (Status done = attempt(); !done.ok()) return done;
  leave_out = still_floating(making, *facts);
  if (leave_out.empty()) return {};
  bool may_be_read = false;
  for (std::size_t t = 0; t < leave_out.size(); ++t) {
    if (!leave_out[t]) continue;
    floating_.add(making.segment->history, TxnId{t}, making.segment->places[t], keys_);
    may_be_read = may_be_read || facts->may_be_read(TxnId{t});
  }
  if (Status done = attempt(); !done.ok()) return done;
  if (may_be_read) making.segment->doubt_violation(kLate);
  return {};
}

Status Segmenter::make(std::uint64_t end, std::int64_t completed) {
  const std::uint64_t first = made_;
  const std::vector<Source> txns = take_buffered(end);
  Making making;
  std::optional<SegmentFacts> facts;
  if (Status built = build(making, txns, first, facts); !built.ok()) return built;
  Segment& segment = *making.segment;
  segment.number = segments_.size();
  segment.first = first;
  segment.end = end;
  segment.completed = completed;
  segment.before = std::exchange(last_completed_, completed);
  read_keys(making, *facts);
  doubt_late(making, *facts);
  write_keys(making, *facts);
  segment.open = segment.unsettled.size();
  waiting_ops_ += segment.ops;
  if (segment.open == 0) ready_.push_back(segment.number);
  segments_.push_back(std::move(making.segment));
  return {};
}

void Segmenter::doubt_late(Making& making, const SegmentFacts& facts) {
  Segment& segment = *making.segment;
  for (const TxnId txn : making.late) {
    if (facts.may_be_read(txn)) segment.doubt_violation(kLate);
  }
  for (const TxnId txn : making.unfit) {
    if (facts.may_be_read(txn)) segment.doubt_all(kUnknownReads);
  }
}

bool Segmenter::may_hold(const SegmentKey& state, const KeptValue& value) const {
  const SegmentKey* s = &state;
  for (;;) {
    if (s->kind == SegmentKey::Kind::Known) return s->value == value;
    if (s->kind == SegmentKey::Kind::Unknown) return true;
    const UnsettledKey& key = segments_[s->segment]->unsettled[s->unsettled];
    for (const UnsettledKey::Candidate& candidate : key.candidates) {
      if (candidate.value == value) return true;
    }
    if (!key.may_be_older) return false;
    s = &key.older;
  }
}

void Segmenter::set_initial(Making& making, KeyId key, KeptValue value) {
  if (making.has_initial[key.index()]) return;
  making.has_initial[key.index()] = true;
  making.segment->initial.emplace_back(key, std::move(value));
}

// First all reads that tell what a key held before the segment, since nobody in it wrote that.
void Segmenter::read_keys(Making& making, const SegmentFacts& facts) {
  asking_ = making.segment->completed;
  for (const SegmentFacts::Read& read : facts.reads()) read_at_first(making, facts, read);
  for (const SegmentFacts::Read& read : facts.reads()) look_at_others(making, facts, read);
}

void Segmenter::read_at_first(Making& making, const SegmentFacts& facts,
                              const SegmentFacts::Read& read) {
  const KeyNumber number = making.numbers[read.key.index()];
  const SegmentKey& state = keys_[number];
  if (state.kind == SegmentKey::Kind::Known) return set_initial(making, read.key, state.value);
  if (read.open || !facts.is_here(read.txn) || facts.wrote(read.key, read.value)) return;
  ask(number, KeptValue(making.segment->history, read.value));
  set_initial(making, read.key, keys_[number].value);
}

void Segmenter::look_at_others(Making& making, const SegmentFacts& facts,
                               const SegmentFacts::Read& read) {
  const SegmentKey& state = keys_[making.numbers[read.key.index()]];
  if (state.kind == SegmentKey::Kind::Known) return set_initial(making, read.key, state.value);
  Segment& segment = *making.segment;
  if (read.open) return segment.doubt_all(kOpenReads);
  if (facts.wrote(read.key, read.value)) {
    // It must not seem to have read what the key held before: that is none of these values.
    if (may_hold(state, KeptValue(segment.history, read.value))) segment.doubt_all(kRepeated);
    if (state.kind == SegmentKey::Kind::Pending) {
      const auto& unsettled = segments_[state.segment]->unsettled[state.unsettled];
      set_initial(making, read.key, unsettled.candidates.front().value);
    }
  } else if (facts.counts(read.txn)) {
    segment.doubt_all(kLate);
  } else {
    making.unfit.insert(read.txn);
  }
}

void Segmenter::ask(KeyNumber number, const KeptValue& value) {
  SegmentKey state = keys_[number];
  keys_[number] = {.kind = SegmentKey::Kind::Known, .value = value};
  while (state.kind == SegmentKey::Kind::Pending) {
    Segment& segment = *segments_[state.segment];
    const UnsettledKey& key = segment.unsettled[state.unsettled];
    segment.final.emplace_back(key.key, value);
    segment.asked_until = asking_;
    const auto found =
        std::find_if(key.candidates.begin(), key.candidates.end(),
                     [&](const UnsettledKey::Candidate& c) { return c.value == value; });
    const bool is_older = found == key.candidates.end() && key.may_be_older;
    if (found != key.candidates.end()) {
      if (!found->sound) segment.doubt_violation(kLate);
      if (!found->usable) segment.doubt_all(kUnknownReads);
      if (key.may_be_older) retire(key.older);
    }
    const SegmentKey older = key.older;
    if (is_older) {
      const auto has = [&](const Segment::KeyValue& own) { return own.first == key.key; };
      std::erase_if(segment.initial, has);
      segment.initial.emplace_back(
          key.key, older.kind == SegmentKey::Kind::Known ? older.value : value);
    }
    close_one(segment);
    if (!is_older) break;
    state = older;
  }
}

void Segmenter::retire(SegmentKey state) {
  while (state.kind == SegmentKey::Kind::Pending) {
    Segment& segment = *segments_[state.segment];
    const UnsettledKey& key = segment.unsettled[state.unsettled];
    const SegmentKey older = key.older;
    const bool may_be_older = key.may_be_older;
    close_one(segment);
    if (!may_be_older) break;
    state = older;
  }
}

void Segmenter::write_keys(Making& making, const SegmentFacts& facts) {
  const auto& writes = facts.writes();
  for (std::size_t begin = 0; begin < writes.size();) {
    std::size_t end = begin;
    while (end < writes.size() && writes[end].key == writes[begin].key) ++end;
    write_key(making, facts, std::span(writes).subspan(begin, end - begin));
    begin = end;
  }
}

void Segmenter::write_key(Making& making, const SegmentFacts& facts,
                          std::span<const SegmentFacts::Write> writes) {
  Segment& segment = *making.segment;
  UnsettledKey key{.number = making.numbers[writes[0].key.index()], .key = writes[0].key};
  bool here = false;  // Whether it was surely overwritten in this segment,
  bool last = false;  // and by one that may be the last.
  const auto add = [&](const SegmentFacts::Write& write) {
    KeptValue value(segment.history, write.value);
    const bool sound = !making.late.contains(write.txn);
    const bool usable = !making.unfit.contains(write.txn);
    for (UnsettledKey::Candidate& other : key.candidates) {
      if (!(other.value == value)) continue;
      other.sound = other.sound && sound;
      other.usable = other.usable && usable;
      return;
    }
    key.candidates.push_back({std::move(value), sound, usable});
  };
  for (const SegmentFacts::Write& write : writes) {
    const bool is_here = facts.is_here(write.txn);
    here = here || is_here;
    if (facts.is_overwritten(write)) continue;
    last = last || is_here;
    add(write);
  }
  if (key.candidates.empty()) {
    for (const SegmentFacts::Write& write : writes) add(write);
  }
  SegmentKey& state = keys_[key.number];
  if (here) retire(state);
  if (last && key.candidates.size() == 1) {
    state = {.kind = SegmentKey::Kind::Known, .value = std::move(key.candidates[0].value)};
    return;
  }
  key.may_be_older = !here;
  if (!here) key.older = state;
  state = {.kind = SegmentKey::Kind::Pending,
           .value = {},
           .segment = static_cast<std::uint32_t>(segment.number),
           .unsettled = static_cast<std::uint32_t>(segment.unsettled.size())};
  segment.unsettled.push_back(std::move(key));
}

}  // namespace ouro::segments
