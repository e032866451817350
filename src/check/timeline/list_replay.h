// One list on the timeline: what is committed, and what the transaction at hand did to it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "history/columns.h"
#include "ouro/history.h"

namespace ouro {

// How far the trunks of list reads are known to agree with the committed lists. Lists only grow, so
// a prefix that agrees once agrees forever, and each element is compared once per trunk.
class TrunkAgreement {
 public:
  explicit TrunkAgreement(const History& history)
      : h_(history), known_(columns_of(history).trunk_end.size()) {}

  // Whether `read` and `list`, what is committed of `key`, have the same first `count` elements.
  bool agrees(KeyId key, Value read, std::size_t count, const std::vector<Value>& list) {
    if (count > list.size()) return false;
    if (count == 0) return true;
    auto& [of_key, length] = known_[read.trunk()];
    if (of_key != key) length = 0;
    of_key = key;
    const auto shown = h_.list(read);
    while (length < count && shown[length] == list[length]) ++length;
    return length >= count;
  }

 private:
  const History& h_;
  // By trunk: the key that it is of, and the length of the prefix that agrees.
  std::vector<std::pair<KeyId, std::size_t>> known_;
};

class ListReplay {
 public:
  // What a read shows: what it should; something else than its snapshot; not the own appends at its
  // end; or something else than an earlier read of the transaction.
  enum class Finding { Right, Snapshot, OwnAppends, Repeated };

  // Another transaction is at hand from here on.
  void enter() {
    own_.clear();
    has_read_ = false;
  }
  void append(Value element) { own_.push_back(element); }
  // Judges a read that returned `value`.
  [[nodiscard]] Finding judge(const History& history, KeyId key, Value value,
                              TrunkAgreement& agreement) const;
  // What a read should return now, as JSON.
  [[nodiscard]] std::string expected(const History& history) const;
  // Notes what a read returned, right or wrong: later reads of the transaction must agree with it.
  void read(Value value) {
    has_read_ = true;
    last_read_ = value;
    own_.clear();
  }

  // Adds an element that a transaction appended and now commits.
  void commit(Value element) { committed_.push_back(element); }

 private:
  [[nodiscard]] bool ends_with_own(const History& history, Value value) const;
  [[nodiscard]] bool continues_read(const History& history, Value value) const;

  std::vector<Value> committed_;
  std::vector<Value> own_;  // Appends since the last read, or since the transaction began.
  bool has_read_ = false;
  // Of the transaction at hand, if has_read_.
  Value last_read_;
};

}  // namespace ouro
