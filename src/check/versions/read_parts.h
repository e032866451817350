// What selects and aggregates get from versions, and from what their transaction wrote before.
#pragma once

#include <utility>
#include <vector>

#include "check/observed/observed.h"
#include "check/predicates/possible_result.h"
#include "ouro/check.h"

namespace ouro {

// The keys that a transaction wrote before one of its operations, sorted, and the last write of
// each.
using OwnWrites = std::vector<std::pair<KeyId, OpId>>;
[[nodiscard]] OwnWrites written_before(const History& history, OpId op);
[[nodiscard]] bool has_key(const OwnWrites& sorted, KeyId key);

// What the own writes before a read give, but for rows that it returned.
struct KeyPart {
  KeyId key;
  RowPart part;
};
[[nodiscard]] std::vector<KeyPart> own_parts(const History& history, OpId op, const OwnWrites& own);
// Adds that to what the read may return.
void add_own(const History& history, OpId op, const OwnWrites& own, PossibleResult& result);

// What a write, or the initial version if it is invalid, is to a read.
[[nodiscard]] RowPart part_of(const Observed& observed, const PredicateRead& read, KeyId key,
                              ItemId write);

// The verdict of a history in which no versions give what `read` returned.
[[nodiscard]] Verdict impossible_read(const Observed& observed, Level level, OpId read);

}  // namespace ouro
