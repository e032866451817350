// A segment of a history: the transactions between two cuts, what keys hold before them, and what
// they must hold behind them (check_segments.cc).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/result.h"
#include "stream/segment_keys.h"
#include "stream/segment_proof.h"

namespace ouro::segments {

// A key of which a segment leaves it open what it holds at the end.
struct UnsettledKey {
  KeyNumber number = 0;
  KeyId key;
  struct Candidate {
    KeptValue value;
    bool sound = true;   // False: nothing is proven by that the segment does not allow it.
    bool usable = true;  // False: nothing is proven by that the segment allows it either.
  };
  std::vector<Candidate> candidates;
  bool may_be_older = false;  // It may also hold what it held before the segment, which is `older`.
  SegmentKey older;
};

struct SegmentOutcome {
  Outcome outcome = Outcome::Undecided;
  std::string reason;  // Undecided: why.
  History history;     // What was checked,
  Verdict verdict;     // and what that came to.
  // If a certificate is wanted: its part of one, if it holds, and what to look for if it is
  // violated.
  std::string section;
  SegmentNeeds needs;
};

struct Segment {
  std::size_t number = 0;
  std::uint64_t first = 0;  // Its transactions, in the order of the whole: [first, end).
  std::uint64_t end = 0;
  std::int64_t before = kNoClock;     // When the last transaction before it completed.
  std::int64_t completed = kNoClock;  // When its last transaction completed.
  // The transactions, as a history of their own: those of unknown outcome that belong to an earlier
  // segment come first. Empty while it is in the file.
  History history;
  std::vector<std::uint64_t> places;  // Of each transaction of `history`: its place in the whole.
  std::filesystem::path file;
  std::size_t ops = 0;

  using KeyValue = std::pair<KeyId, KeptValue>;
  std::vector<KeyValue> initial;  // What keys that are read hold before.
  std::vector<KeyValue> final;    // What later reads say keys hold behind.
  std::vector<UnsettledKey> unsettled;
  std::size_t open = 0;                 // How many of these may still be asked for.
  std::int64_t asked_until = kNoClock;  // When the last segment that asked for `final` completed.
  bool sound = true;   // False: it is no proof if it is not allowed; `doubt` says why.
  bool usable = true;  // False: it is no proof either if it is.
  std::string doubt;

  // Says that the outcome proves nothing.
  void doubt_violation(const char* why) {
    if (sound) doubt = why;
    sound = false;
  }
  void doubt_all(const char* why) {
    doubt_violation(why);
    usable = false;
  }

  // Moves the history to a file in `folder`.
  Status put_away(const std::filesystem::path& folder);
  // The transactions, from memory or the file.
  [[nodiscard]] Result<History> load() const;
  // The history to check: with what keys hold before, and with a reader behind.
  [[nodiscard]] Result<History> whole(const History& txns, std::int64_t clock_drift) const;
  // The same for stories about a violation. What keys hold before was written by a transaction, and
  // so was what nobody of the segment wrote but somebody read: nothing is known of values that
  // were written elsewhere and replaced, or come later. So nothing is told of weaker levels that
  // only the whole history could tell.
  [[nodiscard]] Result<History> told(const History& txns, std::int64_t clock_drift) const;
  // Decides it; with its part of a certificate if that is `certified`.
  [[nodiscard]] Result<SegmentOutcome> decide(Level level, const CheckOptions& options,
                                              bool certified) const;
  // What a proof of a violation needs of the rest of the history.
  [[nodiscard]] SegmentNeeds needs(const History& txns) const;
  // What a certificate says of it. `verdict` is on whole(`txns`), and holds.
  [[nodiscard]] std::string section(const History& txns, const Verdict& verdict,
                                    std::int64_t clock_drift) const;
};

}  // namespace ouro::segments
