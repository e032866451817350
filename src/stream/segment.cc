#include "stream/segment.h"

#include <fmt/format.h>

#include <algorithm>

#include "ouro/format.h"
#include "ouro/history_builder.h"
#include "stream/copier.h"

namespace ouro::segments {

using stream::Copier;
namespace {

KeyId same_key(const History& history, KeyId key, HistoryBuilder& builder) {
  return builder.key(KeptValue(history, history.key_name(key)).in(builder));
}

// The read-only transactions behind a segment, which read what later ones say. There are several if
// later ones disagree.
class Readers {
 public:
  Readers(const History& history, std::int64_t invoked, HistoryBuilder& builder)
      : h_(history), invoked_(invoked), b_(builder) {}

  void add(std::span<const Segment::KeyValue> final) {
    std::vector<Segment::KeyValue> rest(final.begin(), final.end());
    while (!rest.empty()) {
      b_.begin_txn(b_.session("(behind the segment)"));
      b_.name(b_.text("(what later transactions read)"));
      b_.clocks(invoked_, kNoClock);
      std::vector<Segment::KeyValue> again;
      absl::flat_hash_map<KeyId, bool> read;
      for (Segment::KeyValue& wanted : rest) {
        const KeyId key = same_key(h_, wanted.first, b_);
        if (!read.try_emplace(key, true).second) {
          again.push_back(std::move(wanted));
        } else {
          b_.read(key, wanted.second.in(b_));
        }
      }
      rest = std::move(again);
    }
  }

 private:
  const History& h_;
  std::int64_t invoked_;
  HistoryBuilder& b_;
};

}  // namespace

Status Segment::put_away(const std::filesystem::path& folder) {
  const auto path = folder / fmt::format("{}.ouro", number);
  const auto written = write_history(history, path.string(), Format::NativeBinary);
  if (!written.ok()) return written.error();
  file = path;
  history = History();
  return {};
}

// A session with the name of the readers' is not theirs: nobody names one like that by chance, and
// if somebody does, the order of that session is kept as well.
Result<History> Segment::whole(std::int64_t clock_drift) const {
  History h = history;
  if (!file.empty()) {
    auto read = read_history(file.string(), {.format = Format::NativeBinary});
    if (!read.ok()) return read.error();
    h = *std::move(read);
  }
  Copier copier;
  const auto source = std::make_shared<const History>(h);
  for (std::size_t t = 0; t < h.txn_count(); ++t) copier.add({source, TxnId{t}});
  HistoryBuilder& builder = copier.builder();
  for (const auto& [key, value] : initial) {
    builder.initial(same_key(h, key, builder), value.in(builder));
  }
  // The cut behind the segment was found by clocks that are later still, so nothing overflows.
  const std::int64_t invoked = completed == kNoClock ? kNoClock : completed + clock_drift + 1;
  if (!final.empty()) Readers(h, invoked, builder).add(final);
  return copier.freeze();
}

Result<SegmentOutcome> Segment::decide(Level level, const CheckOptions& options) const {
  auto checked = whole(options.clock_drift);
  if (!checked.ok()) return checked.error();
  if (checked->txn_count() == 0) return SegmentOutcome{.outcome = Outcome::Holds};
  auto verdict = check(*checked, level, options);
  if (!verdict.ok()) return verdict.error();
  SegmentOutcome out{.outcome = verdict->outcome, .reason = verdict->reason};
  if (!(out.outcome == Outcome::Violated ? sound : usable) && out.outcome != Outcome::Undecided) {
    out.outcome = Outcome::Undecided;
    out.reason = doubt;
  }
  out.history = *std::move(checked);
  out.verdict = *std::move(verdict);
  return out;
}

}  // namespace ouro::segments
