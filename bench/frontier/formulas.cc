#include "bench/frontier/formulas.h"

#include <algorithm>
#include <random>
#include <utility>

#include "ouro/history_builder.h"

namespace ouro::bench {
namespace {

// Transactions by what they read and write; both are numbers of keys. Each key has at most two
// writers; what is read is what the first wrote.
class Sketch {
 public:
  struct Txn {
    std::vector<std::int64_t> reads, writes, overwrites;
  };
  struct Triple {
    std::size_t first, second, reader;
  };

  // Two writers of a key, and a reader of what the first wrote.
  Triple add_triple() {
    const std::size_t at = txns_.size();
    txns_.resize(at + 3);
    const std::int64_t key = keys_++;
    txns_[at].writes.push_back(key);
    txns_[at + 1].overwrites.push_back(key);
    txns_[at + 2].reads.push_back(key);
    return {at, at + 1, at + 2};
  }
  // `to` reads what `from` wrote to a key of theirs.
  void add_arc(std::size_t from, std::size_t to) {
    txns_[from].writes.push_back(keys_);
    txns_[to].reads.push_back(keys_++);
  }
  [[nodiscard]] History history() const {
    HistoryBuilder builder;
    std::int64_t session = 0;
    for (const Txn& txn : txns_) {
      builder.begin_txn(builder.session(session++));
      for (const std::int64_t key : txn.reads) builder.read(builder.key(key), builder.integer(1));
      for (const std::int64_t key : txn.writes) builder.write(builder.key(key), builder.integer(1));
      for (const std::int64_t key : txn.overwrites) {
        builder.write(builder.key(key), builder.integer(2));
      }
    }
    return *std::move(builder).freeze();
  }

 private:
  std::vector<Txn> txns_;
  std::int64_t keys_ = 0;
};

}  // namespace

History history_of(const Formula& formula) {
  Sketch sketch;
  std::vector<Sketch::Triple> variables(formula.variables);
  for (Sketch::Triple& variable : variables) variable = sketch.add_triple();
  for (const auto& clause : formula.clauses) {
    std::vector<Sketch::Triple> places;
    for (const std::uint32_t literal : clause) {
      const Sketch::Triple& variable = variables[literal / 2];
      const Sketch::Triple place = places.emplace_back(sketch.add_triple());
      const bool negated = literal % 2 == 1;
      sketch.add_arc(negated ? variable.first : variable.second, place.second);
      sketch.add_arc(place.first, negated ? variable.second : variable.reader);
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      sketch.add_arc(places[i].second, places[(i + 1) % places.size()].reader);
    }
  }
  return sketch.history();
}

Formula random_3sat(std::uint32_t variables, std::uint32_t clauses, std::uint64_t seed) {
  std::mt19937_64 random(seed);  // Its numbers are standardised, distributions are not.
  Formula formula{variables, {}};
  while (formula.clauses.size() < clauses) {
    std::vector<std::uint32_t> clause;
    while (clause.size() < 3) {
      const auto literal = static_cast<std::uint32_t>(random() % (2 * variables));
      const bool has = std::any_of(clause.begin(), clause.end(),
                                   [&](std::uint32_t other) { return other / 2 == literal / 2; });
      if (!has) clause.push_back(literal);
    }
    formula.clauses.push_back(std::move(clause));
  }
  return formula;
}

Formula random_colouring(std::uint32_t nodes, std::uint32_t arcs, std::uint64_t seed) {
  constexpr std::uint32_t kColours = 3;
  std::mt19937_64 random(seed);
  const auto has_colour = [](std::uint32_t node, std::uint32_t colour) {
    return 2 * (kColours * node + colour);
  };
  Formula formula{kColours * nodes, {}};
  for (std::uint32_t node = 0; node < nodes; ++node) {
    formula.clauses.push_back({has_colour(node, 0), has_colour(node, 1), has_colour(node, 2)});
  }
  for (std::uint32_t i = 0; i < arcs;) {
    const auto a = static_cast<std::uint32_t>(random() % nodes);
    const auto b = static_cast<std::uint32_t>(random() % nodes);
    if (a == b) continue;
    for (std::uint32_t colour = 0; colour < kColours; ++colour) {
      formula.clauses.push_back({has_colour(a, colour) + 1, has_colour(b, colour) + 1});
    }
    ++i;
  }
  return formula;
}

}  // namespace ouro::bench
