// Sessions whose transactions have numbers (History::sno), and so may arrive in any order: who
// began before a transaction committed that comes earlier in its session?
//
// That is the question of RealTime, with a number for the clock. What late transactions can no
// longer concern is forgotten: in a session without gaps nobody can come between two that are
// known.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>

#include "stream/codec.h"
#include "stream/key_table.h"
#include "stream/moment.h"
#include "stream/real_time.h"

namespace ouro::stream {

class NumberedSessions {
 public:
  [[nodiscard]] bool has(const Name& session) const { return sessions_.contains(session); }
  // Whether the session has a transaction of this number, as far as that is not forgotten.
  [[nodiscard]] bool has(const Name& session, std::int64_t sno) const;
  // Adds a transaction. `known`: set to false if some that it may concern were forgotten.
  // Afterwards missed_by() is one that it should have followed, and changes() has those that should
  // have followed it.
  void add(const Name& session, std::int64_t sno, const Lifetime& life, Arrival txn, bool& known);
  // Adds a transaction that has no place on the timeline, so that its number is not missing.
  void pass(const Name& session, std::int64_t sno, Arrival txn);
  [[nodiscard]] const std::vector<RealTime::Change>& changes() const { return changes_; }
  // A transaction of the session that this one should have followed, but does not; or kNobody.
  [[nodiscard]] Arrival missed_by(const Name& session, std::int64_t sno, Arrival txn) const;

  // Transactions before `open` are final; of those before `kept` nothing else is known any more.
  void forget(Arrival open, Arrival kept);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  void save(Encoder& out) const;
  void restore(Decoder& in);

 private:
  RealTime& session(const Name& name);
  void measure();

  absl::flat_hash_map<Name, RealTime> sessions_;
  std::vector<RealTime::Change> changes_;
  std::size_t bytes_ = 0;
};

}  // namespace ouro::stream
