#include "tests/random_predicates.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ouro/check.h"
#include "ouro/history_builder.h"

namespace ouro::oracle {
namespace {

constexpr std::size_t kAskedKeys = 6;  // Of which the last two may be lists.
constexpr std::size_t kAskedValues = 13;
constexpr std::size_t kAskedPredicates = 17;

struct AskedOp {
  OpKind kind = OpKind::Select;
  std::size_t key = 0;
  std::size_t value = 0;
  std::size_t predicate = 0;
  std::size_t lower = 0, upper = 0;  // Names; kAskedKeys: open.
  AggregateKind aggregate = AggregateKind::Count;
  std::size_t column = 0;
  std::vector<std::pair<std::size_t, std::size_t>> rows;  // Keys and values.
  std::string result;
  bool unobserved = false;
};

struct AskingTxn {
  std::size_t session = 0;
  TxnStatus status = TxnStatus::Committed;
  std::int64_t start = 0, commit = 0;
  bool stamped = true;
  std::vector<AskedOp> ops;
};

// Keys, values and predicates, made first and in the same order, so that every history that is
// built has them under the same ids.
struct AskingWords {
  explicit AskingWords(HistoryBuilder& b) {
    const auto n = [&](std::int64_t number) { return b.integer(number); };
    keys = {b.key(3), b.key("b"), b.key(-1), b.key("a"), b.key("l"), b.key(9)};
    names = {n(3), b.text("b"), n(-1), b.text("a"), b.text("l"), n(9)};
    using Cells = std::vector<HistoryBuilder::NamedCell>;
    const auto row = [&](const Cells& cells) { return b.row(cells); };
    values = {row({{"c", n(1)}, {"d", b.text("x")}}),
              row({{"d", b.text("y")}, {"c", n(2)}}),
              row({{"c", Value::null()}}),
              row({{"d", n(4)}}),
              row({{"c", n(INT64_MAX)}, {"d", b.text("xyz")}}),
              row({}),
              n(7),
              b.text("plain"),
              Value::null(),
              n(INT64_MIN),
              row({{"c", b.decimal("1.5")}, {"d", Value::boolean(true)}}),
              row({{"c", b.floating(0.1)}, {"d", b.decimal("0.1")}}),
              b.decimal("-2.75")};
    using Kind = PredicateKind;
    const ColumnId c = b.column("c");
    const ColumnId d = b.column("d");
    const auto compare = [&](Kind kind, ColumnId column, std::vector<Value> operands) {
      return b.compare(kind, column, operands);
    };
    const PredicateId some = compare(Kind::Ge, c, {n(1)});
    const PredicateId text = compare(Kind::Eq, d, {b.text("x")});
    const PredicateId absent = compare(Kind::IsNull, d, {});
    const PredicateId from = compare(Kind::Ge, ColumnId{}, {n(0)});
    const PredicateId to = compare(Kind::Le, ColumnId{}, {n(5)});
    const auto combine = [&](Kind kind, std::vector<PredicateId> parts) {
      return b.combine(kind, parts);
    };
    predicates = {
        b.always(),
        some,
        text,
        absent,
        from,
        combine(Kind::And, {from, to}),
        combine(Kind::Or, {text, combine(Kind::Not, {some})}),
        compare(Kind::Between, d, {b.text("w"), b.text("xz")}),
        compare(Kind::In, ColumnId{}, {b.text("a"), n(3), n(9)}),
        combine(Kind::And, {}),
        compare(Kind::Eq, ColumnId{}, {b.text("b")}),
        combine(Kind::And, {some, combine(Kind::Not, {absent})}),
        compare(Kind::Between, c, {n(1), n(2)}),
        combine(Kind::Or, {compare(Kind::Eq, d, {Value::boolean(true)}),
                           compare(Kind::Gt, c, {b.decimal("0.1")})}),
        compare(Kind::Like, d, {b.text("x%")}),
        combine(Kind::LtTerms,
                {compare(Kind::Column, c, {}), compare(Kind::Column, ColumnId{}, {})}),
        combine(Kind::GeTerms, {combine(Kind::Multiply, {compare(Kind::Column, c, {}),
                                                         compare(Kind::Constant, {}, {n(2)})}),
                                combine(Kind::Add, {compare(Kind::Column, d, {}),
                                                    compare(Kind::Constant, {}, {n(1)})})})};
    columns = {ColumnId{}, c, d};
  }
  std::vector<KeyId> keys;
  std::vector<Value> names, values;
  std::vector<PredicateId> predicates;
  std::vector<ColumnId> columns;
};

class AskingGenerator {
 public:
  AskingGenerator(std::uint64_t seed, const PredicateShape& shape) : random_(seed), shape_(shape) {}

  // Builds the history first with empty results; its check says what they should have been. Then
  // builds it again with those.
  History make() {
    for (std::size_t t = 0; t < shape_.txns; ++t) plan();
    const History blank = build();
    CheckOptions options;
    options.evidence = Evidence::Timestamps;
    options.examples = 1'000'000;
    const auto verdict = check(blank, shape_.level, options);
    for (const Anomaly& anomaly : verdict->anomalies) {
      if (anomaly.kind != AnomalyKind::ResultSetMismatch) continue;
      const TxnId txn = blank.txn_of(anomaly.ops[0]);
      AskedOp& op = txns_[txn.index()].ops[anomaly.ops[0].index() - blank.first_op(txn).index()];
      answer(op, anomaly.expected);
    }
    for (AskingTxn& txn : txns_) {
      for (AskedOp& op : txn.ops) spoil(op);
    }
    return build();
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool chance(double share) { return static_cast<double>(below(100'000)) < share * 100'000; }
  [[nodiscard]] bool is_list(std::size_t key) const {
    return shape_.lists && key >= kAskedKeys - 2;
  }

  void plan() {
    AskingTxn txn;
    const auto last = static_cast<std::size_t>(shape_.last_stamp);
    txn.session = below(5);
    txn.start = static_cast<std::int64_t>(below(last));
    txn.commit = txn.start + static_cast<std::int64_t>(below(last / 4 + 1));
    if (chance(0.1)) txn.status = chance(0.5) ? TxnStatus::Aborted : TxnStatus::Unknown;
    txn.stamped = txns_.empty() || !chance(0.04);
    const auto silent = static_cast<double>(shape_.txns) * shape_.late_asking;
    const bool asks = static_cast<double>(txns_.size()) >= silent;
    for (std::size_t i = 1 + below(4); i > 0; --i) txn.ops.push_back(plan_op(asks));
    txns_.push_back(txn);
  }

  AskedOp plan_op(bool asks) {
    AskedOp op;
    op.key = below(kAskedKeys);
    op.value = below(kAskedValues);
    if (!asks || chance(0.55)) {
      op.kind = is_list(op.key) ? OpKind::Append : chance(0.3) ? OpKind::Delete : OpKind::Write;
      if (is_list(op.key)) op.value = 6;
      if (chance(0.1)) op.kind = OpKind::Read;
      return op;
    }
    op.kind = static_cast<OpKind>(static_cast<int>(OpKind::Scan) + static_cast<int>(below(3)));
    op.predicate = below(kAskedPredicates);
    op.lower = chance(0.4) ? kAskedKeys : below(kAskedKeys);
    op.upper = chance(0.4) ? kAskedKeys : below(kAskedKeys);
    op.aggregate = static_cast<AggregateKind>(below(kAggregateKindCount));
    op.column = below(3);
    op.unobserved = chance(0.1);
    return op;
  }

  History build() {
    HistoryBuilder b;
    const AskingWords all(b);
    if (shape_.initial) b.default_initial(Value::small(7));
    for (const AskingTxn& txn : txns_) {
      b.begin_txn(b.session("s" + std::to_string(txn.session)));
      b.status(txn.status);
      if (txn.stamped) b.timestamps({txn.start, 0}, {txn.commit, 0});
      for (const AskedOp& op : txn.ops) add(b, all, op);
    }
    return *std::move(b).freeze();
  }

  static void add(HistoryBuilder& b, const AskingWords& all, const AskedOp& op) {
    std::vector<KeyVersion> found;
    for (const auto& [key, value] : op.rows) found.push_back({all.keys[key], all.values[value]});
    const HistoryBuilder::Rows rows{.rows = found};
    const auto name = [&](std::size_t i) { return i == kAskedKeys ? Value::null() : all.names[i]; };
    switch (op.kind) {
      case OpKind::Write:
        b.write(all.keys[op.key], all.values[op.value]);
        break;
      case OpKind::Delete:
        b.remove(all.keys[op.key], all.values[op.value]);
        break;
      case OpKind::Append:
        b.append(all.keys[op.key], all.values[op.value]);
        break;
      case OpKind::Scan:
        b.scan(name(op.lower), name(op.upper), rows);
        break;
      case OpKind::Select:
        b.select(all.predicates[op.predicate], rows);
        break;
      case OpKind::Aggregate:
        b.aggregate(op.aggregate, all.columns[op.column], all.predicates[op.predicate],
                    result(b, op), {});
        break;
      default:
        b.read(all.keys[op.key], Value::unobserved());
    }
  }

  static Value result(HistoryBuilder& b, const AskedOp& op) {
    if (op.unobserved) return Value::unobserved();
    if (op.result.empty() || op.result == "null") return Value::null();
    if (op.result[0] == '"') return b.text(op.result.substr(1, op.result.size() - 2));
    if (op.result == "true" || op.result == "false") return Value::boolean(op.result == "true");
    if (op.result[0] != '{') return b.precise_decimal(op.result);
    std::string digits = op.result.substr(10, op.result.size() - 11);
    std::erase(digits, '"');
    return b.floating(std::stod(digits));
  }

  // `expected` is a list of keys and values, or the result of an aggregate.
  static void answer(AskedOp& op, const std::string& expected) {
    op.result = expected;
    if (op.kind == OpKind::Aggregate) return;
    HistoryBuilder b;
    const AskingWords all(b);
    const History texts = *std::move(b).freeze();
    for (std::size_t at = 1; at + 1 < expected.size(); ++at) {
      for (std::size_t k = 0; k < kAskedKeys; ++k) {
        for (std::size_t v = 0; v < kAskedValues; ++v) {
          const std::string row =
              '[' + texts.text(all.names[k]) + ',' + texts.text(all.values[v]) + ']';
          if (expected.compare(at, row.size(), row) == 0) op.rows.emplace_back(k, v);
        }
      }
    }
  }

  void spoil(AskedOp& op) {
    if (!is_predicate_read(op.kind)) return;
    std::shuffle(op.rows.begin(), op.rows.end(), random_);
    if (chance(shape_.wrong)) {
      op.result = std::to_string(below(4));
      if (op.rows.empty() || chance(0.3)) {
        op.rows.emplace_back(below(kAskedKeys), below(kAskedValues));
      } else if (chance(0.5)) {
        op.rows.pop_back();
      } else {
        op.rows.push_back(op.rows.front());
      }
    }
    // Rows of lists do not count, and neither do tombstones if they are there.
    if (shape_.lists && chance(0.3)) op.rows.emplace_back(kAskedKeys - 1 - below(2), 6);
    const AskingTxn& other = txns_[below(txns_.size())];
    const AskedOp& deleted = other.ops[below(other.ops.size())];
    if (deleted.kind == OpKind::Delete && chance(0.3)) {
      op.rows.emplace_back(deleted.key, deleted.value);
    }
  }

  std::mt19937_64 random_;
  const PredicateShape& shape_;
  std::vector<AskingTxn> txns_;
};

}  // namespace

History random_predicates(std::uint64_t seed, const PredicateShape& shape) {
  return AskingGenerator(seed, shape).make();
}

PredicateShape mixed_predicates(std::uint64_t seed) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + 5);
  constexpr Level kLevels[] = {Level::Si, Level::SessionSi, Level::Serializable,
                               Level::SessionSerializable};
  PredicateShape shape;
  shape.level = kLevels[random() % 4];
  shape.txns = 4 + random() % 20;
  shape.last_stamp = static_cast<std::int64_t>(4 + random() % 80);
  shape.lists = random() % 3 == 0;
  shape.initial = !shape.lists && random() % 2 == 0;
  shape.late_asking = random() % 3 == 0 ? 0.6 : 0;
  shape.wrong = random() % 2 == 0 ? 0 : 0.15;
  return shape;
}

}  // namespace ouro::oracle
