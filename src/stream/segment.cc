#include "stream/segment.h"

#include <fmt/format.h>

#include <algorithm>

#include "ouro/certificate.h"
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

Result<History> Segment::load() const {
  if (file.empty()) return history;
  return read_history(file.string(), {.format = Format::NativeBinary});
}

// A session with the name of the readers' is not theirs: nobody names one like that by chance, and
// if somebody does, the order of that session is kept as well.
Result<History> Segment::whole(const History& txns, std::int64_t clock_drift) const {
  Copier copier;
  const auto source = std::make_shared<const History>(txns);
  for (std::size_t t = 0; t < txns.txn_count(); ++t) copier.add({source, TxnId{t}});
  HistoryBuilder& builder = copier.builder();
  for (const auto& [key, value] : initial) {
    builder.initial(same_key(txns, key, builder), value.in(builder));
  }
  // The cut behind the segment was found by clocks that are later still, so nothing overflows.
  const std::int64_t invoked = completed == kNoClock ? kNoClock : completed + clock_drift + 1;
  if (!final.empty()) Readers(txns, invoked, builder).add(final);
  return copier.freeze();
}

// The readers come last, so without them the numbers of all else stay the same.
std::string Segment::section(const History& txns, const Verdict& verdict,
                             std::int64_t clock_drift) const {
  SegmentSection out{.first = first, .end = end, .late = {}, .without = {}, .certificate = {}};
  std::uint64_t next = first;
  for (const std::uint64_t place : places) {
    if (place < first) {
      out.late.push_back(place);
    } else {
      for (; next < place; ++next) out.without.push_back(next);
      ++next;
    }
  }
  for (; next < end; ++next) out.without.push_back(next);
  Verdict without_readers = verdict;
  std::erase_if(without_readers.order, [&](TxnId txn) { return txn.index() >= txns.txn_count(); });
  std::erase_if(without_readers.schedule,
                [&](const Event& event) { return event.txn.index() >= txns.txn_count(); });
  std::erase_if(without_readers.sources, [&](const ReadSource& source) {
    return source.read.index() >= txns.op_count();
  });
  out.certificate = make_certificate(txns, std::move(without_readers), clock_drift);
  return print_section(out);
}

Result<SegmentOutcome> Segment::decide(Level level, const CheckOptions& options,
                                       bool certified) const {
  const auto txns = load();
  if (!txns.ok()) return txns.error();
  auto checked = whole(*txns, options.clock_drift);
  if (!checked.ok()) return checked.error();
  SegmentOutcome out;
  out.verdict = {.level = level, .outcome = Outcome::Holds};
  if (checked->txn_count() > 0) {
    auto verdict = check(*checked, level, options);
    if (!verdict.ok()) return verdict.error();
    out.verdict = *std::move(verdict);
  }
  out.outcome = out.verdict.outcome;
  out.reason = out.verdict.reason;
  if (!(out.outcome == Outcome::Violated ? sound : usable) && out.outcome != Outcome::Undecided) {
    out.outcome = Outcome::Undecided;
    out.reason = doubt;
  }
  if (certified && out.outcome == Outcome::Holds) {
    out.section = section(*txns, out.verdict, options.clock_drift);
  }
  out.history = *std::move(checked);
  return out;
}

}  // namespace ouro::segments
