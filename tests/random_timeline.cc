#include "tests/random_timeline.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ouro/history_builder.h"
#include "tests/timeline_oracle.h"

namespace ouro::oracle {
namespace {

constexpr std::size_t kPredicates = 12;
constexpr std::int64_t kThinAir = 999;

struct TimedOp {
  OpKind kind = OpKind::Read;
  std::size_t key = 0;
  Value value;                  // Of reads, the result.
  std::vector<Value> elements;  // Of list reads.
  std::size_t predicate = 0;
  Value lower, upper;
  AggregateKind aggregate = AggregateKind::Count;
  bool of_column = false;
  std::vector<KeyVersion> rows;
};

struct TimedTxn {
  std::size_t session = 0;
  TxnStatus status = TxnStatus::Committed;
  Timestamp start, commit;
  std::int64_t invoked = kNoClock, completed = kNoClock;
  std::vector<TimedOp> ops;
};

class Generator {
 public:
  Generator(std::uint64_t seed, const TimelineShape& shape) : random_(seed), shape_(shape) {}

  History make() {
    for (std::size_t t = 0; t < shape_.txns; ++t) txns_.push_back(plan());
    // Build the history first without results, and ask the oracle what they should be.
    const History blank = build();
    const TimestampOracle oracle(blank, shape_.level);
    for (std::size_t t = 0; t < txns_.size(); ++t) {
      if (!oracle.has(TxnId{t})) continue;
      for (std::size_t i = 0; i < txns_[t].ops.size(); ++i) answer(blank, oracle, t, i);
    }
    return build();
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool chance(double probability) {
    return static_cast<double>(below(1'000'000)) < probability * 1'000'000;
  }
  Timestamp stamp(std::int64_t at) const {
    return shape_.pairs ? Timestamp{at / 3, at % 3} : Timestamp{at, 0};
  }

  TimedTxn plan() {
    TimedTxn txn;
    txn.session = below(shape_.sessions);
    if (chance(shape_.aborted)) txn.status = TxnStatus::Aborted;
    if (chance(shape_.unknown)) txn.status = TxnStatus::Unknown;
    const auto last = static_cast<std::size_t>(shape_.last_stamp);
    auto start = static_cast<std::int64_t>(below(last));
    auto commit = start + static_cast<std::int64_t>(below(last / 4 + 1));
    if (chance(shape_.inverted)) std::swap(start, commit);
    const bool first = txns_.empty();  // At least this one has a commit timestamp.
    txn.start = chance(shape_.missing) ? kNoTimestamp : stamp(start);
    txn.commit = !first && chance(shape_.missing) ? kNoTimestamp : stamp(commit);
    if (chance(shape_.clocks)) {
      txn.invoked = start * 10 + static_cast<std::int64_t>(below(10));
      txn.completed = txn.invoked + static_cast<std::int64_t>(below(30));
    }
    const std::size_t ops = 1 + below(shape_.max_ops);
    for (std::size_t i = 0; i < ops; ++i) {
      if (shape_.cas > 0 && chance(shape_.cas)) {
        plan_cas(txn);
      } else {
        txn.ops.push_back(plan_op());
      }
    }
    return txn;
  }

  void plan_cas(TimedTxn& txn) {
    const bool failed = chance(0.5);
    TimedOp op;
    op.key = below(shape_.keys);
    op.kind = failed ? OpKind::CasFailed : OpKind::CasRead;
    op.value = Value::small(kThinAir);
    txn.ops.push_back(op);
    op.kind = failed ? OpKind::CasUnwritten : OpKind::CasWrite;
    op.value = Value::small(shape_.unique_values ? ++value_ : std::int64_t(below(3)));
    txn.ops.push_back(op);
  }

  TimedOp plan_op() {
    TimedOp op;
    op.key = below(shape_.keys);
    op.value = Value::unobserved();
    if (chance(0.5)) {
      const bool rows = shape_.kind == TimelineKind::Rows;
      op.kind = shape_.kind == TimelineKind::Lists ? OpKind::Append : OpKind::Write;
      const std::int64_t number = shape_.unique_values ? ++value_ : std::int64_t(below(3));
      op.value = rows ? Value::from(ValueKind::Row, below(kRows)) : Value::small(number);
      if (rows && chance(0.3)) {
        op.kind = OpKind::Delete;
        op.value = chance(0.5) ? Value::null() : Value::small(1000 + ++value_);
      }
      if (!shape_.unique_values && shape_.kind == TimelineKind::Registers && chance(0.2)) {
        op.kind = OpKind::Delete;
        op.value = Value::null();
      }
      return op;
    }
    if (shape_.kind != TimelineKind::Rows || chance(0.4)) return op;
    op.kind = chance(0.3) ? OpKind::Scan : chance(0.5) ? OpKind::Select : OpKind::Aggregate;
    op.predicate = below(kPredicates);
    if (chance(0.7)) op.lower = Value::small(std::int64_t(below(shape_.keys)));
    if (chance(0.7)) op.upper = Value::small(std::int64_t(below(shape_.keys)));
    op.aggregate = static_cast<AggregateKind>(below(4));
    op.of_column = chance(0.6);
    return op;
  }

  // The keys, rows and predicates come first, so that they are the same in every build.
  History build() {
    HistoryBuilder builder;
    std::vector<KeyId> keys;
    for (std::size_t k = 0; k < shape_.keys; ++k) keys.push_back(builder.key(std::int64_t(k)));
    if (shape_.kind == TimelineKind::Rows) make_rows(builder);
    const auto predicates = make_predicates(builder);
    if (shape_.kind == TimelineKind::Registers && shape_.unique_values) {
      builder.default_initial(Value::small(0));
    }
    for (const TimedTxn& txn : txns_) {
      builder.begin_txn(builder.session("s" + std::to_string(txn.session)));
      builder.status(txn.status);
      builder.timestamps(txn.start, txn.commit);
      if (txn.invoked != kNoClock) builder.clocks(txn.invoked, txn.completed);
      for (const TimedOp& op : txn.ops) add(builder, op, keys, predicates);
    }
    return *std::move(builder).freeze();
  }

  static constexpr std::size_t kRows = 6;
  static void make_rows(HistoryBuilder& builder) {
    using Cells = std::vector<HistoryBuilder::NamedCell>;
    const auto n = [](std::int64_t number) { return Value::small(number); };
    const Cells rows[kRows] = {
        {{"c", n(0)}, {"d", n(5)}}, {{"c", n(1)}}, {{"c", n(2)}, {"d", n(1)}},
        {{"c", Value::null()}},     {{"d", n(3)}}, {{"c", n(3)}, {"d", Value::null()}},
    };
    for (const Cells& cells : rows) (void)builder.row(cells);
  }

  static std::vector<PredicateId> make_predicates(HistoryBuilder& builder) {
    using Kind = PredicateKind;
    const auto compare = [&](Kind kind, ColumnId column, std::vector<Value> operands) {
      return builder.compare(kind, column, operands);
    };
    const auto n = [](std::int64_t number) { return Value::small(number); };
    const ColumnId c = builder.column("c");
    const ColumnId d = builder.column("d");
    const PredicateId small = compare(Kind::Lt, c, {n(2)});
    const PredicateId absent = compare(Kind::IsNull, d, {});
    const std::vector<PredicateId> both = {small, absent};
    const std::vector<PredicateId> one = {small};
    const PredicateId any = builder.combine(Kind::Or, both);
    return {builder.always(),
            small,
            absent,
            builder.combine(Kind::And, both),
            any,
            builder.combine(Kind::Not, one),
            builder.combine(Kind::Not, std::vector<PredicateId>{any}),
            compare(Kind::Between, c, {n(1), n(2)}),
            compare(Kind::In, d, {n(1), n(5), Value::null()}),
            compare(Kind::Ne, c, {n(1)}),
            compare(Kind::Ge, ColumnId{}, {n(1)}),
            compare(Kind::Eq, c, {Value::null()})};
  }

  static void add(HistoryBuilder& builder, const TimedOp& op, const std::vector<KeyId>& keys,
                  const std::vector<PredicateId>& predicates) {
    const HistoryBuilder::Rows rows{.rows = op.rows};
    switch (op.kind) {
      case OpKind::Write:
        builder.write(keys[op.key], op.value);
        break;
      case OpKind::Delete:
        builder.remove(keys[op.key], op.value);
        break;
      case OpKind::Append:
        builder.append(keys[op.key], op.value);
        break;
      case OpKind::Scan:
        builder.scan(op.lower, op.upper, rows);
        break;
      case OpKind::Select:
        builder.select(predicates[op.predicate], rows);
        break;
      case OpKind::Aggregate:
        builder.aggregate(op.aggregate, op.of_column ? builder.column("c") : ColumnId{},
                          predicates[op.predicate], op.value, rows);
        break;
      case OpKind::Read:
        if (op.elements.empty()) {
          builder.read(keys[op.key], op.value);
        } else {
          builder.read_list(keys[op.key], op.elements);
        }
        break;
      default:
        builder.add(op.kind, keys[op.key], op.value);
    }
  }

  void answer(const History& blank, const TimestampOracle& oracle, std::size_t t, std::size_t i) {
    TimedOp& op = txns_[t].ops[i];
    const OpId id{blank.first_op(TxnId{t}).index() + i};
    const bool wrong = chance(shape_.wrong);
    if (op.kind == OpKind::Aggregate) {
      const std::string text = oracle.aggregated(TxnId{t}, id);
      op.value = text == "null" ? Value::null() : Value::small(std::stoll(text));
      if (wrong) op.value = Value::small(std::int64_t(below(4)));
    } else if (is_predicate_read(op.kind)) {
      op.rows = oracle.selected(TxnId{t}, id);
      std::shuffle(op.rows.begin(), op.rows.end(), random_);
      if (wrong && !op.rows.empty()) op.rows.pop_back();
    } else if (op.kind == OpKind::CasRead || op.kind == OpKind::CasFailed) {
      op.value = oracle.held(TxnId{t}, KeyId{op.key}, id).value;
      if ((op.kind == OpKind::CasRead) != wrong) return;
      const Value other = Value::small(std::int64_t(below(static_cast<std::size_t>(value_) + 1)));
      op.value = other == op.value ? Value::small(kThinAir) : other;
    } else if (op.kind == OpKind::Read && !chance(0.05)) {
      const Held held = oracle.held(TxnId{t}, KeyId{op.key}, id);
      op.value = shape_.kind == TimelineKind::Lists ? Value::null() : held.value;
      op.elements = held.elements;
      if (wrong) spoil(op);
    }
  }

  void spoil(TimedOp& op) {
    if (shape_.kind == TimelineKind::Lists) {
      if (op.elements.empty() || chance(0.3)) {
        op.elements.push_back(Value::small(kThinAir));
      } else if (chance(0.5)) {
        op.elements.pop_back();
      } else {
        std::swap(op.elements.front(), op.elements.back());
      }
      return;
    }
    // What somebody wrote to the key, or nobody did.
    std::vector<Value> candidates{Value::small(kThinAir)};
    for (const TimedTxn& txn : txns_) {
      for (const TimedOp& other : txn.ops) {
        if (is_write(other.kind) && other.key == op.key) candidates.push_back(other.value);
      }
    }
    op.value = candidates[below(candidates.size())];
  }

  std::mt19937_64 random_;
  const TimelineShape& shape_;
  std::vector<TimedTxn> txns_;
  std::int64_t value_ = 0;
};

}  // namespace

History random_timeline(std::uint64_t seed, const TimelineShape& shape) {
  return Generator(seed, shape).make();
}

TimelineShape mixed_timeline(std::uint64_t seed) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + 3);
  const auto pick = [&random](std::initializer_list<double> choices) {
    return choices.begin()[random() % choices.size()];
  };
  constexpr Level kLevels[] = {Level::Si, Level::SessionSi, Level::Serializable,
                               Level::SessionSerializable};
  TimelineShape shape;
  shape.kind = static_cast<TimelineKind>(random() % 3);
  shape.level = kLevels[random() % 4];
  shape.unique_values = random() % 2 == 0;
  shape.txns = 2 + random() % 7;
  shape.max_ops = 1 + random() % 5;
  shape.keys = 1 + random() % 4;
  shape.sessions = 1 + random() % 6;
  shape.last_stamp = static_cast<std::int64_t>(3 + random() % 60);
  shape.pairs = random() % 3 == 0;
  shape.wrong = pick({0, 0, 0.1});
  shape.missing = pick({0, 0, 0.1});
  shape.inverted = pick({0, 0, 0.1});
  shape.aborted = pick({0, 0.2});
  shape.unknown = pick({0, 0.2});
  shape.clocks = pick({0, 0, 1});
  shape.cas = shape.kind == TimelineKind::Registers && seed % 2 == 0 ? 0.3 : 0;
  return shape;
}

}  // namespace ouro::oracle
