// Cuts a history into segments that can be decided one by one, as it comes (check_segments.cc).
//
// Between two segments there is one state: what each key holds. Mostly that is known without any
// search, because only one writer of the key can have been the last one. Where several can, the key
// is unsettled: the first later transaction that reads it says what it was, unless it is
// overwritten before. A segment is ready when none of its keys can be asked for any more.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ouro/history.h"
#include "ouro/result.h"
#include "stream/floating.h"
#include "stream/segment.h"
#include "stream/segment_cuts.h"
#include "stream/segment_facts.h"
#include "stream/segment_keys.h"
#include "stream/window.h"

namespace ouro::segments {

using stream::Source;

class Segmenter {
 public:
  Segmenter(std::int64_t clock_drift, std::uint64_t least, std::uint64_t ahead)
      : drift_(clock_drift), cuts_(clock_drift, least, ahead) {}

  // Takes the next piece of the history. The error is what cannot be decided in segments.
  [[nodiscard]] Status add(std::shared_ptr<const History> piece);
  // Makes the segments that are certain by now; at the `end` of the history all.
  [[nodiscard]] Status cut(bool end);
  // Drops all transactions that are in no segment yet, those that come up to the next cut, and what
  // is known of keys. The segments so far are ready.
  void give_up();

  // The next segment that is ready, if there is one.
  [[nodiscard]] std::unique_ptr<Segment> next_ready();
  // Says that there is nothing more to come: all segments are ready.
  void finish();
  // Moves segments that wait to `folder`, oldest first, until at most so many operations are left
  // in memory.
  [[nodiscard]] Status put_away(std::uint64_t ops, const std::filesystem::path& folder);

  // The number of operations in memory: in no segment yet, and in segments that wait.
  [[nodiscard]] std::uint64_t held_ops() const { return buffered_ops_; }
  [[nodiscard]] std::uint64_t waiting_ops() const { return waiting_ops_; }
  [[nodiscard]] bool blocked() const { return cuts_.blocked(); }
  // A transaction that may have come before a cut that was taken: the first one. Nothing more can
  // be taken after it.
  struct Straggler {
    std::optional<std::int64_t> invoked;
    std::string place;
  };
  [[nodiscard]] const std::optional<Straggler>& straggler() const { return straggler_; }

 private:
  struct Piece {
    std::shared_ptr<const History> history;
    std::uint64_t first = 0;  // The place of its first transaction in the whole.
  };
  // What is needed while one segment is made.
  struct Making {
    std::unique_ptr<Segment> segment;
    std::vector<KeyNumber> numbers;    // By key of its history.
    absl::flat_hash_set<TxnId> late;   // Those that belong to an earlier segment.
    absl::flat_hash_set<TxnId> unfit;  // Unknown ones with reads that may not be right.
    std::vector<bool> has_initial;     // By key.
  };

  [[nodiscard]] Status refuse(const History& piece) const;
  [[nodiscard]] Status take_initials(const History& piece);
  [[nodiscard]] Status make(std::uint64_t end, std::int64_t completed);
  [[nodiscard]] std::vector<Source> take_buffered(std::uint64_t end);
  [[nodiscard]] Result<std::unique_ptr<Segment>> copy(const std::vector<Floating::Txn>& late,
                                                      const std::vector<Source>& txns,
                                                      std::uint64_t first,
                                                      const std::vector<bool>& leave_out);
  [[nodiscard]] Status build(Making& making, const std::vector<Source>& txns, std::uint64_t first,
                             std::optional<SegmentFacts>& facts);
  [[nodiscard]] std::vector<bool> still_floating(const Making& making,
                                                 const SegmentFacts& facts) const;
  void read_keys(Making& making, const SegmentFacts& facts);
  void read_at_first(Making& making, const SegmentFacts& facts, const SegmentFacts::Read& read);
  void look_at_others(Making& making, const SegmentFacts& facts, const SegmentFacts::Read& read);
  void set_initial(Making& making, KeyId key, KeptValue value);
  void doubt_late(Making& making, const SegmentFacts& facts);
  void write_keys(Making& making, const SegmentFacts& facts);
  void write_key(Making& making, const SegmentFacts& facts,
                 std::span<const SegmentFacts::Write> writes);

  // Whether a key may hold a value where the next segment begins.
  [[nodiscard]] bool may_hold(const SegmentKey& state, const KeptValue& value) const;
  // A later transaction read `value`: tells the segments that left it open.
  void ask(KeyNumber key, const KeptValue& value);
  // Nobody will ask any more what that was.
  void retire(SegmentKey state);
  void close_one(Segment& segment);

  const std::int64_t drift_;
  CutFinder cuts_;
  SegmentKeys keys_;
  Floating floating_;
  bool begun_ = false;
  bool dropping_ = false;  // What comes is dropped, up to the next cut.
  std::int64_t last_completed_ = kNoClock;  // The same of the segment made last.
  std::int64_t asking_ = 0;  // When the last transaction of the segment that asks completed.
  std::deque<Piece> buffer_;
  std::uint64_t buffered_ops_ = 0;
  std::uint64_t next_place_ = 0;  // Of the next transaction that comes,
  std::uint64_t made_ = 0;        // and of the first that is in no segment.
  std::vector<std::unique_ptr<Segment>> segments_;  // By number; null if it was handed out.
  std::vector<std::size_t> ready_;                  // Numbers of those that are.
  std::size_t oldest_ = 0;                          // No segment before it is in memory.
  std::uint64_t waiting_ops_ = 0;
  std::optional<Straggler> straggler_;
};

}  // namespace ouro::segments
