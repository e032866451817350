// Emme's workload, on rows of three columns.
//
// 30 % updates, 40 % reads, 20 % increments (a read, then an update) and 10 % inserts, which
// overwrite a key that exists (Fig. 9 of the paper). Half of the reads are range selects, minima or
// maxima, and half of the updates are updates by predicate (as in Fig. 10). Column c0 tells
// versions apart, c1 is what predicates look at, c2 is what aggregates return.
#include "workload/planner.h"

namespace ouro::workload {
namespace {

constexpr std::int32_t kValues = 100;  // Values of c1 and c2 are from 0 to 99.
constexpr std::int32_t kRange = 10;    // How many values of c1 a predicate covers.

class Predicates final : public Planner {
 public:
  Predicates(const WorkloadOptions& options, Seat seat)
      : Planner(options, seat, options.keys), ops_per_txn_(options.ops_per_txn) {}

  void plan(Program& program) override {
    program.clear();
    for (std::uint32_t i = 0; i < ops_per_txn_; ++i) plan_op(program);
  }

 private:
  void plan_op(Program& program) {
    const std::uint32_t key = below(fixed_keys_);
    const std::uint32_t draw = below(100);
    const bool by_predicate = percent(50);
    if (draw < 30) {
      program.push_back(by_predicate ? where(StepKind::UpdateWhere) : row(key));
    } else if (draw < 70) {
      program.push_back(by_predicate ? ask() : read_step(key));
    } else if (draw < 90) {
      program.push_back(read_step(key));
      program.push_back(row(key));
    } else {
      program.push_back(row(key));
    }
  }

  std::int32_t value() { return static_cast<std::int32_t>(below(kValues)); }

  Step row(std::uint32_t key) {
    return {.kind = StepKind::Write, .key = key, .low = value(), .high = value()};
  }

  Step where(StepKind kind) {
    const std::int32_t low = value();
    return {.kind = kind, .column = 1, .low = low, .high = low + kRange - 1, .amount = value()};
  }

  Step ask() {
    if (percent(50)) return where(StepKind::Select);
    Step step = where(StepKind::Aggregate);
    step.aggregate = percent(50) ? AggregateKind::Min : AggregateKind::Max;
    step.of = 2;
    return step;
  }

  std::uint32_t ops_per_txn_;
};

}  // namespace

std::unique_ptr<Client> make_predicates(const WorkloadOptions& options, Seat seat) {
  return std::make_unique<Predicates>(options, seat);
}

}  // namespace ouro::workload
