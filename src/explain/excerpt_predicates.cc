#include "explain/excerpt_predicates.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "history/access.h"
#include "history/value_order.h"

namespace ouro {
namespace {

class PredicateExcerpt {
 public:
  explicit PredicateExcerpt(ExcerptDraft& draft)
      : d_(draft), e_(draft.excerpter()), h_(draft.whole()), s_(draft.storage()) {}

  std::optional<std::size_t> add(const Op& op) {
    PredicateRead read = h_.predicate_read(op.id);
    const std::size_t first_row = s_.row_reads.size();
    const std::size_t first_version = s_.version_sets.size();
    const auto* grounds = e_.grounds(op.id);
    if (const auto* rows = e_.counter_rows(op)) {
      // Without one of the increments it would have to add up to something else.
      const bool all = std::all_of(rows->writes.begin(), rows->writes.end(),
                                   [&](OpId write) { return d_.stays(write); });
      if (!all) return std::nullopt;
      for (const KeyId row : rows->initial) d_.key(row);
    }
    bool exact = true;  // Whether the result of an aggregate is still about the same rows.
    if (!keeps_open_rows(op, exact) || (grounds != nullptr && !stands(op, *grounds, read, exact)) ||
        ((read.has_version_set || op.kind == OpKind::Scan) && !keeps_own_writes(op, read, exact)) ||
        !add_rows(op, read, grounds) || !add_version_set(op, read, grounds, exact)) {
      s_.row_reads.resize(first_row);
      s_.version_sets.resize(first_version);
      return std::nullopt;
    }
    read.first_row = static_cast<std::uint32_t>(first_row);
    read.row_count = static_cast<std::uint32_t>(s_.row_reads.size() - first_row);
    read.first_version = static_cast<std::uint32_t>(first_version);
    read.version_count = static_cast<std::uint32_t>(s_.version_sets.size() - first_version);
    if (op.kind == OpKind::Aggregate && !exact) read.result = Value::unobserved();
    s_.predicate_reads.push_back(read);
    return s_.predicate_reads.size() - 1;
  }

 private:
  using Left = ExcerptDraft::Left;
  static constexpr std::uint64_t kStepsPerWrite = 4;
  static constexpr std::uint64_t kStepsPerGround = 10;

  // Of a read of which it is open what it saw: whether each row that mattered to it has all its
  // versions in this part, or none. With some of them the read could have seen less than it could.
  bool keeps_open_rows(const Op& op, bool& exact) {
    const auto* rows = e_.open_rows(op.id);
    if (rows == nullptr) return true;
    for (const RowGrounds::Matter& row : *rows) {
      const auto writes = e_.writes_of(row.key);
      bool any = row.initially;
      bool all = e_.knows(row.key);
      for (const OpId write : writes) {
        d_.note_steps(kStepsPerWrite);
        const bool stays = d_.stays(write);
        any |= stays;
        all &= stays;
        if (any && !all) return false;
      }
      if (any && !all) return false;
      if (all && row.initially) d_.key(row.key);  // Nobody may mention it.
      exact &= all;
    }
    return true;
  }

  [[nodiscard]] bool is_grounded(const RowGrounds::Row& row) const {
    return std::all_of(row.needed.begin(), row.needed.end(),
                       [&](OpId op) { return !op.valid() || d_.stays(op); });
  }
  [[nodiscard]] bool is_even(OpId read, const RowGrounds::Row& row) const {
    return e_.is_even(read, row, [&](OpId op) { return d_.stays(op); });
  }

  // Whether of each row either all that the read rests on stays, or nothing, so that it says
  // nothing about the row.
  bool stands(const Op& op, const std::vector<RowGrounds::Row>& grounds, const PredicateRead& read,
              bool& exact) {
    d_.note_steps(kStepsPerGround * grounds.size());
    for (const RowGrounds::Row& row : grounds) {
      const bool stands = is_grounded(row) || is_even(op.id, row);
      if (!stands && d_.is_written(row.key)) return false;
      if (read.has_version_set) {
        // The initial version would be left, and a set that does not list it would be wrong.
        if (!stands && row.initial_matches && e_.knows(row.key)) return false;
        if (row.missed && e_.knows(row.key)) d_.key(row.key);
        continue;
      }
      if (!stands && row.initial_matches) return false;
      if (!row.matches || !e_.knows(row.key)) continue;
      // A row that was there from the beginning counts, even if no operation names it.
      if (!row.seen.valid()) d_.key(row.key);
      if (row.seen.valid() && !d_.stays(row.seen)) exact = false;
    }
    return true;
  }

  // Whether of each key that the transaction wrote before the read, either the last such write
  // stays or none does.
  bool keeps_own_writes(const Op& op, const PredicateRead& read, bool& exact) const {
    struct Own {
      OpId last;
      bool any_stays = false;
    };
    absl::flat_hash_map<KeyId, Own> own;
    for (OpId id = h_.first_op(h_.txn_of(op.id)); id < op.id; ++id.value) {
      if (!writes_register(h_.op(id).kind)) continue;
      Own& known = own[h_.op(id).key];
      known = {id, known.any_stays || d_.stays(id)};
    }
    for (const auto& [key, writes] : own) {
      if (d_.stays(writes.last)) continue;
      if (writes.any_stays) return false;
      if (op.kind != OpKind::Aggregate) continue;
      exact &= evaluate(h_, read.predicate, key, h_.op(writes.last).value) != Truth::True;
    }
    return true;
  }

  // Adds the returned rows that are left. False if the read must go: a scan that loses a row would
  // say that its key is absent, which must then be so in this part.
  bool add_rows(const Op& op, const PredicateRead& read,
                const std::vector<RowGrounds::Row>* judged) {
    const auto rows = h_.rows(read);
    for (const KeyVersion& row : rows) {
      const Left left = d_.left(op.id, row);
      if (left == Left::Some) return false;
      if (left == Left::All) {
        s_.row_reads.push_back({d_.key(row.key), row.value});
      } else if (op.kind == OpKind::Scan ? !d_.is_absent(row.key)
                                         : judged != nullptr && d_.is_written(row.key)) {
        return false;
      }
    }
    return op.kind != OpKind::Scan || add_absences(op.id, read);
  }

  // Adds keys with an initial value that a scan did not return, since perhaps no operation names
  // them. False if they, unclear rows or deleted ones would not be absent as they are in the whole.
  bool add_absences(OpId id, const PredicateRead& read) {
    const auto initial_rows = e_.initial_rows(read.lower, read.upper);
    const auto unclear_rows = e_.unclear_rows(read.lower, read.upper);
    const auto deleted_rows = e_.deleted_rows(read.lower, read.upper);
    if (initial_rows.empty() && unclear_rows.empty() && deleted_rows.empty()) return true;
    absl::flat_hash_set<KeyId> found;
    for (const KeyVersion& row : h_.rows(read)) {
      if (deleted_rows.empty() || !row.value.is_null()) found.insert(row.key);
    }
    for (const KeyId missed : initial_rows) {
      if (found.contains(missed)) continue;
      const bool stands = d_.left(id, {missed, Value::null()}) == Left::All;
      if (!stands || lacks_deletes(missed)) return false;
      d_.key(missed);
    }
    const bool deleted =
        std::all_of(deleted_rows.begin(), deleted_rows.end(), [&](KeyId missed) {
          return found.contains(missed) || read.has_version_set || keeps_deletes(missed);
        });
    return deleted && std::all_of(unclear_rows.begin(), unclear_rows.end(), [&](KeyId missed) {
             return found.contains(missed) || stays_unclear(missed);
           });
  }

  // Whether a scan may have missed the key for all the reasons that there are in the whole, or the
  // key is never there in this part.
  [[nodiscard]] bool keeps_deletes(KeyId key) {
    if (d_.is_absent(key)) return true;
    const auto deletes = e_.deletes(key);
    return std::all_of(deletes.begin(), deletes.end(), [&](OpId op) { return d_.stays(op); });
  }

  // Whether a scan may lack the key for more than one reason in this part, too, or the key is not
  // written at all.
  [[nodiscard]] bool stays_unclear(KeyId key) {
    const bool initially = h_.initial(key).is_null();
    if (initially && !d_.is_written(key)) return true;
    const auto deletes = e_.deletes(key);
    const auto left = std::count_if(deletes.begin(), deletes.end(), [&](OpId op) {
      return !h_.op(op).value.is_null() && d_.stays(op);
    });
    return left >= (initially ? 1 : 2);
  }

  // Whether a row was deleted, but not in this part, where it would be there all the time.
  [[nodiscard]] bool lacks_deletes(KeyId key) const {
    const auto deletes = e_.deletes(key);
    return !deletes.empty() &&
           std::none_of(deletes.begin(), deletes.end(), [&](OpId op) { return d_.stays(op); });
  }

  // Adds what is left of the version set; versions that are gone are replaced by others that match,
  // or do not, like them. False if there is none, so that the read must go.
  bool add_version_set(const Op& op, const PredicateRead& read,
                       const std::vector<RowGrounds::Row>* judged, bool& exact) {
    for (const KeyVersion& version : h_.version_set(read)) {
      const Left left = d_.left(op.id, version);
      if (left == Left::Some) return false;
      if (left == Left::All) {
        s_.version_sets.push_back({d_.key(version.key), version.value});
        continue;
      }
      if (op.kind == OpKind::Scan) {
        if (!d_.is_absent(version.key)) return false;
        continue;
      }
      exact &= evaluate(h_, read.predicate, version.key, version.value) != Truth::True;
      if (judged == nullptr || !e_.knows(version.key)) continue;
      const auto row =
          std::lower_bound(judged->begin(), judged->end(), version.key,
                           [](const RowGrounds::Row& each, KeyId key) { return each.key < key; });
      if (row == judged->end() || row->key != version.key) continue;  // It never matched.
      if (!d_.is_written(version.key)) {
        if (row->initial_matches) {
          s_.version_sets.push_back({d_.key(version.key), h_.initial(version.key)});
        }
        continue;
      }
      const Value instead = is_grounded(*row) ? row->like : row->initially;
      if (row->value != version.value || instead.is_unobserved()) return false;
      if (!instead.is_null()) s_.version_sets.push_back({d_.key(version.key), instead});
    }
    return true;
  }

  ExcerptDraft& d_;
  const Excerpter& e_;
  const History& h_;
  ExcerptDraft::Storage& s_;
};

}  // namespace

std::optional<std::size_t> add_predicate_read(ExcerptDraft& draft, const Op& op) {
  return PredicateExcerpt(draft).add(op);
}

}  // namespace ouro
