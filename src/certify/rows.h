// The rows of a database at one moment, and what predicate reads give over them.
#pragma once

#include <string>
#include <vector>

#include "ouro/history.h"

namespace ouro::recheck {

// What one key holds.
struct Content {
  Value value;
  bool row = false;  // False: absent, deleted, or a list.
  bool list = false;
  std::vector<Value> elements;  // Of a list.
};

// Every key as the initial transaction leaves it.
[[nodiscard]] std::vector<Content> initial_contents(const History& history);
// Applies a write.
void apply(const Op& write, Content& content);

// What an aggregate gives over `rows`, as JSON. SQL: nulls do not count; the sum, least and
// greatest of nothing are null.
[[nodiscard]] std::string aggregate(const History& history, const PredicateRead& read,
                                    const std::vector<KeyVersion>& rows);

// Whether a scan, select or aggregate returned what `contents` give.
[[nodiscard]] bool returned_right(const History& history, OpId read,
                                  const std::vector<Content>& contents);

}  // namespace ouro::recheck
