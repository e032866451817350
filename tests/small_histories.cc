#include "tests/small_histories.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ouro/history_builder.h"

namespace ouro::oracle {
namespace {

struct ShapedOp {
  enum Kind { kRead, kWrite, kCas, kFailedCas, kScan } kind = kRead;
  std::size_t key = 0;
  [[nodiscard]] bool writes() const { return kind == kWrite || kind == kCas; }
  auto operator<=>(const ShapedOp&) const = default;
};
using ShapedTxn = std::vector<ShapedOp>;
using Plan = std::vector<ShapedTxn>;     // Sessions one after the other.
using Sizes = std::vector<std::size_t>;  // Transactions of each session.

// All transactions of one up to shape.ops operations.
std::vector<ShapedTxn> all_txns(const Shape& shape) {
  std::vector<ShapedTxn> out{{}};
  for (std::size_t first = 0, length = 1; length <= shape.ops; ++length) {
    const std::size_t end = out.size();
    for (; first < end; ++first) {
      for (std::size_t key = 0; key < shape.keys; ++key) {
        for (const auto kind : {ShapedOp::kRead, ShapedOp::kWrite, ShapedOp::kCas,
                                ShapedOp::kFailedCas, ShapedOp::kScan}) {
          const bool cas = kind == ShapedOp::kCas || kind == ShapedOp::kFailedCas;
          if ((cas && !shape.cas) || (kind == ShapedOp::kScan && (!shape.scans || key > 0)))
            continue;
          out.push_back(out[first]);
          out.back().push_back({kind, key});
        }
      }
    }
  }
  out.erase(out.begin());
  std::sort(out.begin(), out.end());
  return out;
}

// All ways to spread 1 … txns transactions over sessions, larger sessions first.
std::vector<Sizes> all_sizes(const Shape& shape) {
  std::vector<Sizes> out{{}};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].size() == shape.sessions) continue;
    std::size_t used = 0;
    for (const std::size_t size : out[i]) used += size;
    const std::size_t most = out[i].empty() ? shape.txns : out[i].back();
    for (std::size_t size = 1; size <= std::min(most, shape.txns - used); ++size) {
      Sizes longer = out[i];
      longer.push_back(size);
      out.push_back(longer);
    }
  }
  out.erase(out.begin());
  return out;
}

// Keys are numbered in order of first use, and of two sessions of equal size the smaller comes
// first. Every plan becomes one like this by renaming: the smallest of all its renamings is.
bool is_canonical(const Plan& plan, const Sizes& sizes) {
  std::size_t next_key = 0;
  for (const ShapedTxn& txn : plan) {
    for (const ShapedOp& op : txn) {
      if (op.kind == ShapedOp::kScan) continue;
      if (op.key > next_key) return false;
      if (op.key == next_key) ++next_key;
    }
  }
  auto session = plan.begin();
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    const auto size = static_cast<std::ptrdiff_t>(sizes[i]);
    const auto next = session + size;
    if (sizes[i] == sizes[i + 1] &&
        std::lexicographical_compare(next, next + size, session, next)) {
      return false;
    }
    session = next;
  }
  return true;
}

// Steps `digits` to the next combination with digits[i] < limits[i]; false after the last.
bool next_digits(Sizes& digits, const Sizes& limits) {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (++digits[i] < limits[i]) return true;
    digits[i] = 0;
  }
  return false;
}

// Writes are numbered from 1 over the whole history; a read returns the choice-th value of its
// key, where 0 is the initial one. If values repeat, choices are values.
History build(const Shape& shape, const Plan& plan, const Sizes& sizes,
              const std::vector<Sizes>& values_of_key, const Sizes& choices) {
  static const std::string kNames[] = {"x", "y", "z", "u", "v"};
  HistoryBuilder builder;
  if (!shape.scans) builder.default_initial(Value::small(0));
  std::size_t value = 0;
  std::size_t read = 0;
  std::size_t txn = 0;
  for (std::size_t session = 0; session < sizes.size(); ++session) {
    for (std::size_t i = 0; i < sizes[session]; ++i, ++txn) {
      builder.begin_txn(builder.session("s" + std::to_string(session + 1)));
      for (const ShapedOp& op : plan[txn]) {
        const KeyId key = builder.key(kNames[op.key]);
        const auto small = [&](std::size_t number) {
          return shape.scans && number == 0 ? Value::null()
                                            : Value::small(static_cast<std::int64_t>(number));
        };
        if (op.kind == ShapedOp::kScan) {
          std::vector<KeyVersion> rows;
          for (std::size_t k = 0, left = choices[read++]; k < shape.keys; ++k) {
            const std::size_t found = left % shape.values;
            if (found > 0) rows.push_back({builder.key(kNames[k]), small(found)});
            left /= shape.values;
          }
          builder.scan(Value::null(), Value::null(), {.rows = rows, .version_set = {}});
          continue;
        }
        const bool repeats = shape.values > 0;
        const std::size_t fresh = op.writes() ? ++value : 99;
        const Value written = small(op.writes() && repeats ? choices[read++] : fresh);
        if (op.kind == ShapedOp::kWrite) {
          builder.write(key, written);
          continue;
        }
        const std::size_t chosen = choices[read++];
        const Value seen = small(repeats ? chosen : values_of_key[op.key][chosen]);
        if (op.kind == ShapedOp::kRead) {
          builder.read(key, seen);
        } else {
          builder.cas(key, seen, written, op.writes());
        }
      }
    }
  }
  return *std::move(builder).freeze();
}

// All ways in which the reads of `plan` can return values.
void for_each_result(const Shape& shape, const Plan& plan, const Sizes& sizes,
                     const std::function<void(const History&)>& visit, std::size_t& count) {
  std::vector<Sizes> values_of_key(shape.keys, Sizes{0});
  std::size_t value = 0;
  for (const ShapedTxn& txn : plan) {
    for (const ShapedOp& op : txn) {
      if (op.writes()) values_of_key[op.key].push_back(++value);
    }
  }
  Sizes limits;
  for (const ShapedTxn& txn : plan) {
    for (const ShapedOp& op : txn) {
      if (op.kind == ShapedOp::kScan) {
        limits.push_back(1);
        for (std::size_t k = 0; k < shape.keys; ++k) limits.back() *= shape.values;
      } else if (shape.values > 0) {
        if (op.writes()) limits.push_back(shape.values);
        if (op.kind != ShapedOp::kWrite) limits.push_back(shape.values);
      } else if (op.kind != ShapedOp::kWrite) {
        limits.push_back(values_of_key[op.key].size());
      }
    }
  }
  Sizes choices(limits.size(), 0);
  do {
    if (count++ % shape.stride == 0) visit(build(shape, plan, sizes, values_of_key, choices));
  } while (next_digits(choices, limits));
}

}  // namespace

std::size_t for_each_history(const Shape& shape, const std::function<void(const History&)>& visit) {
  const std::vector<ShapedTxn> txns = all_txns(shape);
  std::size_t count = 0;
  for (const Sizes& sizes : all_sizes(shape)) {
    std::size_t txn_count = 0;
    for (const std::size_t size : sizes) txn_count += size;
    const Sizes limits(txn_count, txns.size());
    Sizes chosen(txn_count, 0);
    Plan plan(txn_count);
    do {
      std::transform(chosen.begin(), chosen.end(), plan.begin(),
                     [&txns](std::size_t i) { return txns[i]; });
      if (is_canonical(plan, sizes)) for_each_result(shape, plan, sizes, visit, count);
    } while (next_digits(chosen, limits));
  }
  return (count + shape.stride - 1) / shape.stride;
}

}  // namespace ouro::oracle
