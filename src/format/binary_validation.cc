#include "format/binary_validation.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/parallel.h"
#include "base/utf8.h"
#include "history/columns.h"
#include "history/decimal.h"
#include "history/real_time.h"

namespace ouro {
namespace {

using Fault = std::optional<std::string>;  // What is wrong; nothing if all is right.

template <class T>
concept HoldsValues = std::is_same_v<T, Value> || std::is_same_v<T, KeyVersion> ||
    std::is_same_v<T, Cell> || std::is_same_v<T, PredicateRead>;

// Each check relies on those before it: pools first, since all others use values.
class Validator {
 public:
  Validator(const HistoryColumns& columns, unsigned threads)
      : c_(columns), threads_(thread_count(threads)) {}

  Fault run() {
    for (const auto check :
         {&Validator::pools, &Validator::names, &Validator::txns, &Validator::ops,
          &Validator::trunks, &Validator::parts, &Validator::predicates,
          &Validator::predicate_reads, &Validator::version_orders}) {
      if (Fault fault = (this->*check)()) return fault;
    }
    return std::nullopt;
  }

 private:
  // ---- values ----

  // Whether a handle is valid for a scalar, for a name, for a version (a scalar or a row), and for
  // the result of a read.

  [[nodiscard]] bool scalar(Value value) const {
    switch (value.kind()) {
      case ValueKind::Integer:
        return true;
      case ValueKind::Null:
        return value == Value::null();
      case ValueKind::Boolean:
        return value == Value::boolean(value.truth());
      case ValueKind::Decimal:
        return pooled(value) && !text(value.payload()).ends_with('0');
      default:
        return pooled(value);
    }
  }
  // Whether it is in the pool of texts, as an entry of its kind.
  [[nodiscard]] bool pooled(Value value) const {
    return is_pooled_text(value.kind()) && value.payload() < kinds_.size() &&
           kinds_[value.payload()] == value.kind();
  }
  [[nodiscard]] bool name(Value value) const {
    if (value.kind() == ValueKind::Wide)
      return pooled(value) && fits_64_bits(text(value.payload()));
    return (value.kind() == ValueKind::Integer || value.kind() == ValueKind::Text) && scalar(value);
  }
  // Only sums and averages keep the zeros at the end of a result.
  [[nodiscard]] bool result(const PredicateRead& read) const {
    return scalar(read.result) || read.result == Value::unobserved() ||
           (adds_up(read.aggregate) && read.result.kind() == ValueKind::Decimal &&
            pooled(read.result));
  }
  [[nodiscard]] bool version(Value value) const {
    return value.kind() == ValueKind::Row ? value.payload() < c_.row_end.size() : scalar(value);
  }
  [[nodiscard]] bool read_result(Value value) const {
    if (value.is_unobserved()) return value == Value::unobserved();
    if (!value.is_list()) return version(value);
    if (value.length() == 0) return value == Value::list(0, 0);
    if (value.trunk() >= c_.trunk_end.size()) return false;
    const std::uint64_t first = value.trunk() == 0 ? 0 : c_.trunk_end[value.trunk() - 1];
    return value.length() <= c_.trunk_end[value.trunk()] - first;
  }
  [[nodiscard]] bool versions(std::span<const KeyVersion> list) const {
    const std::size_t parts = std::min<std::size_t>(threads_, list.size() / kChunk + 1);
    std::atomic<bool> fit = true;
    for_each_part(parts, [&](std::size_t part) {
      const auto first = static_cast<std::ptrdiff_t>(list.size() * part / parts);
      const auto end = static_cast<std::ptrdiff_t>(list.size() * (part + 1) / parts);
      if (!std::all_of(list.begin() + first, list.begin() + end, [&](const KeyVersion& entry) {
            return entry.key.index() < c_.key_name.size() && version(entry.value);
          })) {
        fit = false;
      }
    });
    return fit;
  }

  static bool utf8(std::string_view bytes) { return is_utf8(bytes); }

  // Whether `end` are the ends of consecutive parts that fill a pool of `total` entries.
  static bool ends(std::span<const std::uint64_t> end, std::size_t total) {
    return std::is_sorted(end.begin(), end.end()) && (end.empty() ? 0 : end.back()) == total;
  }

  // Several kinds of values are pooled as texts. Only the kinds of the handles tell which entries
  // of the pool are of which kind, so this looks at all handles first. An entry must not be used as
  // two kinds: scalar() refuses that.
  void find_kinds() {
    kinds_.assign(c_.text_end.size(), kUnused);
    if (kinds_.empty()) return;
    for_each_column(
        [&]<class T>(std::span<const T> column) {
          if constexpr (HoldsValues<T>) {
            for (const T& entry : column) note_kind(entry);
          }
        },
        c_);
    note_kind(c_.default_initial);
  }
  void note_kind(Value value) {
    const bool pooled = is_pooled_text(value.kind()) && value.payload() < kinds_.size();
    if (pooled) kinds_[value.payload()] = value.kind();
  }
  void note_kind(const KeyVersion& version) { note_kind(version.value); }
  void note_kind(const Cell& cell) { note_kind(cell.value); }
  void note_kind(const PredicateRead& read) {
    for (const Value value : {read.lower, read.upper, read.result}) note_kind(value);
  }

  [[nodiscard]] std::string_view text(std::size_t i) const {
    const std::uint64_t first = i == 0 ? 0 : c_.text_end[i - 1];
    return {c_.text_bytes.data() + first, c_.text_end[i] - first};
  }

  // Whether `digits` are an entry of this kind as the builder makes it: without needless signs or
  // zeros, and not of another kind. Zeros at the end of a decimal: see result().
  static bool spelled_well(ValueKind kind, std::string_view digits) {
    const bool point = digits.find('.') != std::string_view::npos;
    switch (kind) {
      case ValueKind::Wide: {
        std::int64_t number = 0;
        const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        const bool small = parsed.ec == std::errc() && Value::fits(number);
        return is_plain_decimal(digits) && !point && !small;
      }
      case ValueKind::Decimal:
        return is_plain_decimal(digits) && point;
      case ValueKind::Float:
        return float_digits(float_of(digits)) == digits;
      default:
        return utf8(digits);
    }
  }

  Fault pools() {
    if (!ends(c_.text_end, c_.text_bytes.size())) return "texts do not fill their pool";
    if (!ends(c_.row_end, c_.cells.size())) return "rows do not fill their pool";
    if (!ends(c_.trunk_end, c_.elements.size())) return "lists do not fill their pool";
    if (c_.trunk_end.size() >= std::uint64_t{1} << 29) return "too many lists";
    find_kinds();
    absl::flat_hash_set<std::pair<std::string_view, ValueKind>> texts;
    texts.reserve(c_.text_end.size());
    for (std::size_t i = 0; i < c_.text_end.size(); ++i) {
      if (kinds_[i] == kUnused) continue;
      if (kinds_[i] == ValueKind::Text && !utf8(text(i))) {
        return fmt::format("text {} is not UTF-8", i);
      }
      if (!spelled_well(kinds_[i], text(i))) {
        return fmt::format("text {} is not the number that it should be", i);
      }
      if (!texts.insert({text(i), kinds_[i]}).second) {
        return fmt::format("text {} appears twice", i);
      }
    }
    absl::flat_hash_set<std::vector<std::pair<std::uint32_t, std::uint64_t>>> rows;
    for (std::size_t i = 0; i < c_.row_end.size(); ++i) {
      std::vector<std::pair<std::uint32_t, std::uint64_t>> row;
      for (std::uint64_t j = i == 0 ? 0 : c_.row_end[i - 1]; j < c_.row_end[i]; ++j) {
        const Cell& cell = c_.cells[j];
        if (cell.column.index() >= c_.column_name.size() || !scalar(cell.value) ||
            (!row.empty() && row.back().first >= cell.column.value)) {
          return fmt::format("row {} is inconsistent", i);
        }
        row.emplace_back(cell.column.value, cell.value.bits());
      }
      if (!rows.insert(std::move(row)).second) return fmt::format("row {} appears twice", i);
    }
    for (const Value element : c_.elements) {
      if (!version(element)) return "a list has an invalid element";
    }
    return std::nullopt;
  }

  Fault unique_names(std::span<const Value> names, std::string_view what) const {
    absl::flat_hash_set<std::uint64_t> seen;
    seen.reserve(names.size());
    for (const Value value : names) {
      if (!name(value)) return fmt::format("the name of a {} is invalid", what);
      if (!seen.insert(value.bits()).second)
        return fmt::format("the name of a {} appears twice", what);
    }
    return std::nullopt;
  }

  Fault names() {
    if (Fault fault = unique_names(c_.key_name, "key")) return fault;
    // Transactions of which no session is known have one without a name.
    std::vector<Value> sessions;
    std::copy_if(c_.session_name.begin(), c_.session_name.end(), std::back_inserter(sessions),
                 [](Value value) { return !value.is_null(); });
    if (Fault fault = unique_names(sessions, "session")) return fault;
    for (const Value column : c_.column_name) {
      if (column.kind() != ValueKind::Text) return "the name of a column is no text";
    }
    if (Fault fault = unique_names(c_.column_name, "column")) return fault;
    if (!version(c_.default_initial)) return "the initial value is invalid";
    if (!versions(c_.key_initial)) return "a key's initial value is invalid";
    const auto misplaced = [](const KeyVersion& a, const KeyVersion& b) { return a.key >= b.key; };
    if (std::adjacent_find(c_.key_initial.begin(), c_.key_initial.end(), misplaced) !=
        c_.key_initial.end()) {
      return "initial values are not sorted by key";
    }
    for (const Remark& remark : c_.remarks) {
      if (!utf8(remark.name) || !utf8(remark.text)) return "a remark is not UTF-8";
    }
    return std::nullopt;
  }

  // ---- transactions and operations ----

  Fault txns() {
    const std::size_t n = c_.txn_session.size();
    if (c_.txn_first_op.size() != n + 1 || c_.txn_first_op.front() != 0 ||
        c_.txn_first_op.back() != c_.op_kind.size() ||
        !std::is_sorted(c_.txn_first_op.begin(), c_.txn_first_op.end())) {
      return "transactions do not cover the operations";
    }
    if (c_.txn_status.size() != n) return "not every transaction has a status";
    bool fits = true;
    TxnColumns<ColumnSpan>::each_optional(
        [&](const auto&, const auto& column) { fits &= column.empty() || column.size() == n; }, c_);
    if (!fits) return "a column of transactions has the wrong length";
    if (const auto wrong =
            first_clock_disorder({c_.invoked, c_.began, c_.committing, c_.completed})) {
      return fmt::format("transaction {} {}", wrong->txn, wrong->what);
    }
    std::vector<bool> met(c_.session_name.size(), false);
    for (const SessionId session : c_.txn_session) {
      if (session.index() >= c_.session_name.size()) return "a transaction has no session";
      if (met[session.index()] && c_.session_name[session.index()].is_null()) {
        return "a session without a name has several transactions";
      }
      met[session.index()] = true;
    }
    for (const TxnStatus status : c_.txn_status) {
      if (status > TxnStatus::Unknown) return "a transaction has an invalid status";
    }
    for (const std::uint8_t number : c_.txn_level) {
      if (number != kNoLevel && number >= kLevelCount) return "a transaction states no known level";
    }
    for (const Value value : c_.txn_name) {
      if (!scalar(value)) return "the name of a transaction is invalid";
    }
    return std::nullopt;
  }

  Fault ops() {
    if (c_.op_key.size() != c_.op_kind.size() || c_.op_value.size() != c_.op_kind.size()) {
      return "columns of operations differ in length";
    }
    if (c_.op_kind.size() >= 0xfffffff0) return "too many operations";
    const std::size_t count = c_.op_kind.size();
    const std::size_t parts = std::min<std::size_t>(threads_, count / kChunk + 1);
    std::vector<std::size_t> first_bad(parts, count);
    for_each_part(parts, [&](std::size_t part) {
      first_bad[part] = first_bad_op(count * part / parts, count * (part + 1) / parts);
    });
    for (const std::size_t i : first_bad) {
      if (i != count) return fmt::format("operation {} is inconsistent", i);
    }
    return std::nullopt;
  }

  // Reads of one list share trunks, but lists of two keys have none in common.
  Fault trunks() {
    std::vector<KeyId> list_of(c_.trunk_end.size());
    for (std::size_t i = 0; i < c_.op_value.size() && !list_of.empty(); ++i) {
      const Value value = c_.op_value[i];
      if (is_predicate_read(c_.op_kind[i]) || !value.is_list() || value.length() == 0) continue;
      KeyId& list = list_of[value.trunk()];
      if (!list.valid()) list = c_.op_key[i];
      if (list != c_.op_key[i]) {
        return fmt::format("operation {} shares the elements of another list", i);
      }
    }
    return std::nullopt;
  }

  // Undone parts are numbered in the order in which they begin, each within one transaction, and
  // their operations stand together.
  Fault parts() {
    if (!c_.op_part.empty() && c_.op_part.size() != c_.op_kind.size()) {
      return "columns of operations differ in length";
    }
    for (std::size_t p = 0; p < c_.outer_part.size(); ++p) {
      if (c_.outer_part[p] > p) return fmt::format("undone part {} is inconsistent", p + 1);
    }
    begun_.assign(c_.outer_part.size() + 1, false);
    if (c_.op_part.empty()) return no_undone_ops();
    std::vector<std::uint32_t> open;
    for (std::size_t t = 0; t < c_.txn_session.size(); ++t) {
      open.clear();
      forget_undone(open);
      for (std::size_t i = c_.txn_first_op[t]; i < c_.txn_first_op[t + 1]; ++i) {
        if (!enter_parts(i, open)) return fmt::format("operation {} is in a wrong part", i);
        if (!fits_part(i, !open.empty())) {
          return fmt::format("operation {} does not fit into its undone part", i);
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Fault no_undone_ops() const {
    const auto odd = std::find_if(c_.op_kind.begin(), c_.op_kind.end(),
                                  [](OpKind kind) { return is_undone(kind) || info(kind).back; });
    if (odd == c_.op_kind.end()) return std::nullopt;
    return fmt::format("operation {} does not fit into its undone part", odd - c_.op_kind.begin());
  }

  // Forgets the undone writes that are in none of the open parts: they were undone by now.
  void forget_undone(const std::vector<std::uint32_t>& open) {
    while (!undone_.empty()) {
      const std::size_t i = undone_.back();
      if (std::find(open.begin(), open.end(), c_.op_part[i]) != open.end()) return;
      const auto of_key = undone_of_key_.find(c_.op_key[i]);
      if (--of_key->second.writes == 0) undone_of_key_.erase(of_key);
      undone_.pop_back();
    }
  }

  // Makes `open` the parts that operation `i` is in, outermost first. False if one of them began
  // before, and ended.
  bool enter_parts(std::size_t i, std::vector<std::uint32_t>& open) {
    std::uint32_t part = c_.op_part.empty() ? 0 : c_.op_part[i];
    if (part > c_.outer_part.size()) return false;
    std::vector<std::uint32_t> wanted;
    for (; part != 0 && wanted.size() <= kMaxPredicateDepth; part = c_.outer_part[part - 1]) {
      wanted.insert(wanted.begin(), part);
    }
    std::size_t same = 0;
    while (same < std::min(open.size(), wanted.size()) && open[same] == wanted[same]) ++same;
    for (std::size_t p = same; p < wanted.size(); ++p) {
      if (begun_[wanted[p]]) return false;
      begun_[wanted[p]] = true;
    }
    open = std::move(wanted);
    forget_undone(open);
    return part == 0;
  }

  // Whether writes are undone exactly within undone parts, and reads are ReadBack exactly if they
  // see such a write, as HistoryBuilder makes them.
  bool fits_part(std::size_t i, bool within) {
    const OpKind kind = c_.op_kind[i];
    const KeyId key = c_.op_key[i];
    if (!within) return !is_undone(kind) && !info(kind).back;
    if (is_write(kind)) return false;
    if (is_undone(kind)) {
      UndoneOfKey& of_key = undone_of_key_[key];
      ++of_key.writes;
      of_key.list = kind == OpKind::UndoneAppend;
      undone_.push_back(i);
      return true;
    }
    if (is_predicate_read(kind)) return true;
    const auto seen = undone_of_key_.find(key);
    if (seen == undone_of_key_.end() || info(kind).back) {
      return info(kind).back == (seen != undone_of_key_.end());
    }
    return kind == OpKind::Read && seen->second.list && c_.op_value[i].is_list();
  }

  // The first bad operation in [from, to), or the number of all operations if there is none.
  [[nodiscard]] std::size_t first_bad_op(std::size_t from, std::size_t to) const {
    for (; from < to; from += std::min(kChunk, to - from)) {
      const std::size_t end = from + std::min(kChunk, to - from);
      if (plain_ops(from, end)) continue;
      for (std::size_t i = from; i < end; ++i) {
        if (!good_op(i)) return i;
      }
    }
    return c_.op_kind.size();
  }

  // Whether [from, to) has only reads and writes of small integers and null, of valid keys; such
  // operations are good. Has no branches, so that the compiler can check several at once.
  [[nodiscard]] bool plain_ops(std::size_t from, std::size_t to) const {
    const std::size_t keys = c_.key_name.size();
    bool plain = true;
    for (std::size_t i = from; i < to; ++i) plain &= is_plain(c_.op_kind[i]);
    for (std::size_t i = from; i < to; ++i) plain &= c_.op_key[i].index() < keys;
    for (std::size_t i = from; i < to; ++i) {
      const Value value = c_.op_value[i];
      plain &= value.kind() == ValueKind::Integer || value == Value::null();
    }
    return plain;
  }

  // Whether operations of this kind need no more checks than their key and value. `kind` may be any
  // byte.
  [[nodiscard]] static bool is_plain(OpKind kind) {
    constexpr std::uint32_t kPlain =
        (op_kinds_with(&OpInfo::reads) | op_kinds_with(&OpInfo::writes)) &
        ~(op_kinds_with(&OpInfo::first) | op_kinds_with(&OpInfo::second));
    const auto number = static_cast<unsigned>(kind);
    return number < kOpKindCount && (kPlain >> (number & 31) & 1) != 0;
  }

  [[nodiscard]] bool good_op(std::size_t i) const {
    const OpKind kind = c_.op_kind[i];
    const Value value = c_.op_value[i];
    if (static_cast<std::size_t>(kind) >= kOpKindCount) return false;
    if (is_predicate_read(kind)) {
      return !c_.op_key[i].valid() && value.kind() == ValueKind::Integer && value.number() >= 0 &&
             static_cast<std::uint64_t>(value.number()) < c_.predicate_reads.size();
    }
    if (!good_half(i)) return false;
    return c_.op_key[i].index() < c_.key_name.size() &&
           (info(kind).model == KeyModel::Either ? read_result(value) : version(value));
  }

  // A compare-and-set takes two operations in a row, and so does an increment. Whether operation
  // `i`, if it is half of one, has the other half beside it, in the same transaction; and of a
  // compare-and-set, of the same key.
  [[nodiscard]] bool good_half(std::size_t i) const {
    const auto fits = [&](std::size_t first) {
      return first + 1 < c_.op_kind.size() &&
             static_cast<std::size_t>(c_.op_kind[first]) < kOpKindCount &&
             info(c_.op_kind[first]).first &&
             (c_.op_kind[first] == OpKind::Inc || c_.op_key[first] == c_.op_key[first + 1]) &&
             c_.op_kind[first + 1] == info(c_.op_kind[first]).other &&
             !std::binary_search(c_.txn_first_op.begin(), c_.txn_first_op.end(),
                                 static_cast<std::uint32_t>(first + 1));
    };
    const OpInfo& kind = info(c_.op_kind[i]);
    if (kind.second) return i > 0 && fits(i - 1);
    return !kind.first || fits(i);
  }

  // ---- predicates ----

  // Predicates may share nodes, so a small file could have a predicate that is too large to walk:
  // size_ becomes the number of nodes and operands that a walk visits.
  Fault predicates() {
    std::vector<std::uint32_t> depth(c_.predicate_nodes.size(), 1);
    size_.assign(c_.predicate_nodes.size(), 1);
    for (std::size_t i = 0; i < c_.predicate_nodes.size(); ++i) {
      const PredicateNode& node = c_.predicate_nodes[i];
      if (static_cast<std::size_t>(node.kind) >= kPredicateKindCount) {
        return fmt::format("predicate {} is inconsistent", i);
      }
      const bool combines = info(node.kind).has_children;
      const std::size_t pool =
          combines ? c_.predicate_children.size() : c_.predicate_operands.size();
      if (std::uint64_t{node.first} + node.count > pool ||
          (node.column.valid() && node.column.index() >= c_.column_name.size()) ||
          !operands_fit(node)) {
        return fmt::format("predicate {} is inconsistent", i);
      }
      if (!combines) size_[i] += node.count;
      for (std::uint32_t j = 0; combines && j < node.count; ++j) {
        const std::uint32_t child = c_.predicate_children[node.first + j];
        if (child >= i) return fmt::format("predicate {} contains itself", i);
        if (info(c_.predicate_nodes[child].kind).term != info(node.kind).takes_terms) {
          return fmt::format("predicate {} is inconsistent", i);
        }
        depth[i] = std::max(depth[i], depth[child] + 1);
        size_[i] = std::min(size_[i] + size_[child], kHuge);
      }
      if (depth[i] > kMaxPredicateDepth) return fmt::format("predicate {} is nested too deeply", i);
    }
    return std::nullopt;
  }

  // REQUIRES: the children or operands that the node points at are in range.
  [[nodiscard]] bool operands_fit(const PredicateNode& node) const {
    if (!operand_count_fits(node)) return false;
    if (!info(node.kind).compares) return true;
    const auto operands = c_.predicate_operands.subspan(node.first, node.count);
    if (node.kind == PredicateKind::Like) return operands[0].kind() == ValueKind::Text;
    return std::all_of(operands.begin(), operands.end(), [&](Value operand) {
      return node.kind == PredicateKind::In ? version(operand) : scalar(operand);
    });
  }

  static bool operand_count_fits(const PredicateNode& node) {
    switch (node.kind) {
      case PredicateKind::True:
      case PredicateKind::IsNull:
      case PredicateKind::Column:
        return node.count == 0;
      case PredicateKind::Add:
      case PredicateKind::Multiply:
        return node.count >= 2;
      case PredicateKind::EqTerms:
      case PredicateKind::NeTerms:
      case PredicateKind::LtTerms:
      case PredicateKind::LeTerms:
      case PredicateKind::GtTerms:
      case PredicateKind::GeTerms:
      case PredicateKind::Subtract:
      case PredicateKind::And:
      case PredicateKind::Or:
      case PredicateKind::In:
        return true;
      case PredicateKind::Between:
        return node.count == 2;
      default:
        return node.count == 1;
    }
  }

  static bool good_aggregate(AggregateKind kind) {
    return static_cast<std::size_t>(kind) < kAggregateKindCount;
  }

  Fault predicate_reads() {
    if (!versions(c_.row_reads) || !versions(c_.version_sets)) return "a returned row is invalid";
    std::uint64_t rows = 0;
    std::uint64_t versions = 0;
    std::uint64_t visited = 0;
    const std::uint64_t most_visited =
        c_.predicate_nodes.size() + c_.predicate_operands.size() + kMaxShared;
    // ops() has shown that without predicate reads no operation points at one.
    const std::size_t ops = c_.predicate_reads.empty() ? 0 : c_.op_kind.size();
    for (std::size_t i = 0; i < ops; ++i) {
      if (!is_predicate_read(c_.op_kind[i])) continue;
      const auto number = static_cast<std::size_t>(c_.op_value[i].number());
      const PredicateRead& read = c_.predicate_reads[number];
      rows += read.row_count;
      versions += read.version_count;
      if (!info(c_.op_kind[i]).condition) continue;
      if (read.predicate.index() >= c_.predicate_nodes.size() ||
          info(c_.predicate_nodes[read.predicate.index()].kind).term) {
        return fmt::format("operation {} has no predicate", i);
      }
      visited += size_[read.predicate.index()];
      if (visited > most_visited) return "predicates share too many parts";
    }
    if (rows > c_.row_reads.size() || versions > c_.version_sets.size()) {
      return "predicate reads share rows";
    }
    for (std::size_t i = 0; i < c_.predicate_reads.size(); ++i) {
      const PredicateRead& read = c_.predicate_reads[i];
      const bool ranges =
          std::uint64_t{read.first_row} + read.row_count <= c_.row_reads.size() &&
          std::uint64_t{read.first_version} + read.version_count <= c_.version_sets.size();
      const bool column = !read.column.valid() || (read.column.index() < c_.column_name.size() &&
                                                   !is_key_column(read.column));
      if (!ranges || !column || !good_aggregate(read.aggregate) || !scalar(read.lower) ||
          !scalar(read.upper) || !result(read)) {
        return fmt::format("predicate read {} is inconsistent", i);
      }
    }
    return std::nullopt;
  }

  // In predicates, "@key" stands for the key, which cannot be aggregated.
  [[nodiscard]] bool is_key_column(ColumnId column) const {
    return text(c_.column_name[column.index()].payload()) == "@key";
  }

  Fault version_orders() {
    std::uint64_t count = 0;
    for (const VersionOrder& order : c_.version_orders) {
      count += order.count;
      if (order.key.index() >= c_.key_name.size() ||
          std::uint64_t{order.first} + order.count > c_.versions.size()) {
        return "a version order is inconsistent";
      }
    }
    if (count > c_.versions.size()) return "version orders share versions";
    for (const Value value : c_.versions) {
      if (!version(value)) return "a version order has an invalid version";
    }
    return version_writers();
  }

  // A version that is named by a transaction, which has a name, is its last write of the key.
  Fault version_writers() {
    if (c_.version_txn.empty()) return std::nullopt;
    if (c_.version_txn.size() != c_.versions.size()) return "writers of versions are missing";
    absl::flat_hash_map<std::pair<TxnId, KeyId>, Value> last;
    const auto for_each_named = [&](const auto& visit) {
      for (const VersionOrder& order : c_.version_orders) {
        for (std::uint32_t i = order.first; i < order.first + order.count; ++i) {
          if (c_.version_txn[i].valid() && !visit(c_.version_txn[i], order.key, c_.versions[i])) {
            return false;
          }
        }
      }
      return true;
    };
    std::vector<bool> named(c_.txn_session.size(), false);
    const bool known = for_each_named([&](TxnId txn, KeyId key, Value) {
      if (txn.index() >= named.size() || c_.txn_name.empty()) return false;
      named[txn.index()] = true;
      last.try_emplace({txn, key}, Value::unobserved());
      return !c_.txn_name[txn.index()].is_null();
    });
    if (!known) return "a version order names a transaction that has no name";
    for (std::size_t t = 0; t < named.size(); ++t) {
      for (std::size_t op = c_.txn_first_op[t]; named[t] && op < c_.txn_first_op[t + 1]; ++op) {
        if (!is_write(c_.op_kind[op])) continue;
        const auto found = last.find({TxnId{t}, c_.op_key[op]});
        if (found != last.end()) found->second = c_.op_value[op];
      }
    }
    const bool right = for_each_named([&](TxnId txn, KeyId key, Value value) {
      return last.at({txn, key}) == value;
    });
    return right ? Fault() : "a version order names a transaction that did not write the version";
  }

  // How many more nodes walks of all predicates may visit than there are, because of sharing.
  static constexpr std::uint64_t kMaxShared = 1 << 24;
  // How many operations plain_ops() looks at; they fit into the processor's first cache.
  static constexpr std::size_t kChunk = 2048;
  static constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;  // More than any file has nodes.

  const HistoryColumns& c_;
  const unsigned threads_;
  static constexpr ValueKind kUnused = ValueKind::Null;
  std::vector<ValueKind> kinds_;  // For each pooled text, what it is used as.
  std::vector<bool> begun_;       // For each undone part, whether it began.
  // The undone writes of the transaction that were not undone yet, and those of each key.
  struct UndoneOfKey {
    std::size_t writes = 0;
    bool list = false;  // The last one is an append.
  };
  std::vector<std::size_t> undone_;
  absl::flat_hash_map<KeyId, UndoneOfKey> undone_of_key_;
  std::vector<std::uint64_t> size_;  // For each predicate, how much a walk of it visits.
};

}  // namespace

std::optional<std::string> validate_columns(const HistoryColumns& columns, unsigned threads) {
  return Validator(columns, threads).run();
}

}  // namespace ouro
