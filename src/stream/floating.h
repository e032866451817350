// Transactions of unknown outcome that may still take effect: nobody heard that they ended, and
// nobody has read what they wrote (check_segments.cc).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ouro/history.h"
#include "stream/segment_keys.h"
#include "stream/window.h"

namespace ouro::segments {

using stream::Source;

// "" if nobody knows the session.
[[nodiscard]] std::string session_text(const History& history, TxnId txn);

class Floating {
 public:
  struct Txn {
    std::uint64_t place = 0;                   // In the whole history.
    std::shared_ptr<const History> history;    // It alone.
    std::string session;
  };

  [[nodiscard]] bool empty() const { return txns_.empty(); }
  void add(const History& history, TxnId txn, std::uint64_t place, SegmentKeys& keys);
  // Takes out those of which a segment with `txns` may tell that they happened, in the order of
  // their places: a transaction of the segment may have read what they wrote, or their session went
  // on.
  [[nodiscard]] std::vector<Txn> take(const std::vector<Source>& txns, SegmentKeys& keys);
  void clear();

 private:
  using Version = std::pair<KeyNumber, KeptValue>;
  void find_read(const History& history, TxnId txn, SegmentKeys& keys,
                 std::vector<std::uint64_t>& found) const;
  void find_session(const std::string& session, std::vector<std::uint64_t>& found) const;
  Txn take_one(std::uint64_t place, SegmentKeys& keys);

  std::map<std::uint64_t, Txn> txns_;  // By place.
  absl::flat_hash_map<std::string, std::vector<std::uint64_t>> by_session_;
  absl::flat_hash_map<Version, std::vector<std::uint64_t>> by_version_;
  absl::flat_hash_map<KeyNumber, std::vector<std::uint64_t>> by_key_;
};

}  // namespace ouro::segments
