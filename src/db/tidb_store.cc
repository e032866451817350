#include "db/tidb_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "db/sql.h"
#include "format/json_tree.h"

namespace ouro::db {
namespace {

using Node = JsonTree::Node;
using End = Journal::End;

// Kinds of records in the store; Put is left out of the text.
enum class Stored : std::int64_t { Put = 0, Delete = 1, Lock = 2, Rollback = 3 };

Error bad_answer(std::string_view what) {
  return Error{.what = fmt::format("the status port of TiDB: {}", what)};
}

// The columns of the version that began at `start`, from {"start_ts":{"column":"text"}}.
std::vector<std::string> decoded(Node data, std::int64_t start,
                                 std::span<const std::string_view> columns) {
  const Node row = data.member(std::to_string(start));
  std::vector<std::string> texts;
  for (const std::string_view column : columns) {
    const auto text = row.member(column).text();
    if (!text) return {};
    texts.emplace_back(*text);
  }
  return texts;
}

// Whether what is stored is what the transaction wrote to `key`.
bool same(const StoredVersion& version, const Journal::Txn& txn, Key key, Model model) {
  const auto last = std::find_if(txn.writes.rbegin(), txn.writes.rend(),
                                 [&](const Journal::Write& write) { return write.key == key; });
  if (last == txn.writes.rend()) return false;
  if (version.removed || last->removed) return version.removed == last->removed;
  if (version.columns.empty()) return true;  // Not told.
  if (model == Model::Lists) {
    const std::vector<Number> elements = parse_list(version.columns[0]);
    return !elements.empty() && elements.back() == last->row[0];
  }
  for (std::size_t i = 0; i < version.columns.size(); ++i) {
    if (version.columns[i] != std::to_string(last->row[i])) return false;
  }
  return true;
}

// Compares what is stored with the journals, key by key.
class Settling {
 public:
  Settling(Model model, Journals& journals) : model_(model) {
    journals.for_each([&](Journal::Txn& txn) {
      if (txn.start == kNoTimestamp || txn.writes.empty()) return;
      by_start_[txn.start.physical] = &txn;
      for (const Journal::Write& write : txn.writes) {
        keys_.insert(write.key);
        const std::pair version(write.key, txn.start.physical);
        if (txn.end != End::Committed) continue;
        // A row that was written and deleted again may leave nothing.
        if (write.removed) missing_.erase(version);
        if (!write.removed) missing_.insert(version);
      }
    });
  }

  [[nodiscard]] const std::set<Key>& keys() const { return keys_; }

  void take(Key key, const StoredRow& row) {
    for (const StoredVersion& version : row.versions) take(key, version);
    for (const std::int64_t start : row.rolled_back) {
      const auto found = by_start_.find(start);
      if (found != by_start_.end() && found->second->end == End::Unknown) {
        found->second->end = End::Aborted;
        ++settled_;
      }
    }
  }

  StoredSettlement finish() && {
    note(missing_.size(),
         "the store has {} versions no more that committed transactions wrote (it forgets them "
         "after tidb_gc_life_time)");
    note(settled_, "the store knows how {} transactions ended whose commits were not answered");
    note(strangers_, "the store has {} versions that nobody is known to have written");
    note(undone_, "the store has {} versions of transactions that were rolled back");
    note(moved_, "of {} versions the store has another commit_ts than the session was told");
    note(changed_, "of {} versions the store has another value than was written");
    return std::move(settlement_);
  }

 private:
  void take(Key key, const StoredVersion& version) {
    const auto found = by_start_.find(version.start);
    if (found == by_start_.end() || found->second->end == End::Aborted) {
      ++(found == by_start_.end() ? strangers_ : undone_);
      settlement_.unexplained.insert(key);
      return;
    }
    missing_.erase({key, version.start});
    Journal::Txn& txn = *found->second;
    const Timestamp commit{version.commit, 0};
    if (txn.end != End::Committed) ++settled_;
    if (txn.end == End::Committed && txn.commit != kNoTimestamp && txn.commit != commit) ++moved_;
    if (!same(version, txn, key, model_)) ++changed_;
    txn.end = End::Committed;
    txn.commit = commit;
  }
  template <std::size_t N>
  void note(std::uint64_t count, const char (&text)[N]) {
    if (count > 0) settlement_.notes.push_back(fmt::format(fmt::runtime(text), count));
  }

  Model model_;
  std::unordered_map<std::int64_t, Journal::Txn*> by_start_;
  std::set<Key> keys_;
  std::set<std::pair<Key, std::int64_t>> missing_;  // Not found yet: a key, and a start_ts.
  StoredSettlement settlement_;
  std::uint64_t settled_ = 0;
  std::uint64_t strangers_ = 0;
  std::uint64_t undone_ = 0;
  std::uint64_t moved_ = 0;
  std::uint64_t changed_ = 0;
};

}  // namespace

Result<StoredRow> read_stored_row(std::string_view json,
                                  std::span<const std::string_view> columns) {
  JsonTree tree;
  if (!tree.parse(json) || !tree.root().is_map()) return bad_answer("it sent no JSON object");
  // With decoded columns "info" is outside; otherwise it is in "value".
  Node info = tree.root().member("info");
  if (!info.exists()) info = tree.root().member("value").member("info");
  StoredRow row;
  const Node writes = info.member("writes");
  if (!writes.is_list()) return row;  // The row never was.
  bool good = true;
  writes.for_each([&](Node write) {
    const auto start = write.member("start_ts").integer();
    const auto commit = write.member("commit_ts").integer();
    const auto kind = static_cast<Stored>(write.member("type").integer().value_or(0));
    good = good && start && commit;
    if (!good) return;
    if (kind == Stored::Rollback) row.rolled_back.push_back(*start);
    if (kind != Stored::Put && kind != Stored::Delete) return;
    row.versions.push_back({.start = *start,
                            .commit = *commit,
                            .removed = kind == Stored::Delete,
                            .columns = decoded(tree.root().member("data"), *start, columns)});
  });
  if (!good) return bad_answer("a version has no \"start_ts\" or no \"commit_ts\"");
  return row;
}

Result<StoredSettlement> settle_by_store(const std::function<Result<std::string>(Key)>& ask,
                                         Model model, Journals& journals) {
  constexpr std::array<std::string_view, 1> kValue{"v"};
  constexpr std::array<std::string_view, kColumns> kRow{"c0", "c1", "c2"};
  Settling settling(model, journals);
  for (const Key key : settling.keys()) {
    const auto json = ask(key);
    if (!json.ok()) return json.error();
    const auto row =
        model == Model::Rows ? read_stored_row(*json, kRow) : read_stored_row(*json, kValue);
    if (!row.ok()) return row.error();
    settling.take(key, *row);
  }
  return std::move(settling).finish();
}

}  // namespace ouro::db
