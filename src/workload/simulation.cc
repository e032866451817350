#include "workload/simulation.h"

#include <algorithm>

namespace ouro::workload {
namespace {

// The streams of random numbers; stream 1 is that of the client, 2 that of the store.
constexpr std::uint64_t kSchedulerStream = 3;
constexpr std::uint64_t kOutcomeStream = 4;
constexpr std::uint64_t kClockStream = 5;
constexpr std::uint64_t kFaultStream = 6;

constexpr std::uint64_t kMilli = 1000;
constexpr std::uint64_t kLongestStep_ns = 2000;
constexpr std::int64_t kQuiet_ns = 1'000'000;

}  // namespace

Simulation::Simulation(const GenerateOptions& options)
    : options_(options),
      client_(make_client(options)),
      store_(options.seed, client_->key_end(), options.sessions, info(options.workload).lists),
      isolation_(make_isolation(options.store, store_)),
      recorder_(options),
      scheduler_(options.seed, kSchedulerStream),
      outcomes_(options.seed, kOutcomeStream),
      clock_random_(options.seed, kClockStream),
      fault_random_(options.seed, kFaultStream),
      abort_(options.abort_share),
      unknown_(options.unknown_share),
      txns_(options.sessions),
      open_limit_milli_(options.sessions * kMilli),
      next_quiet_(options.quiet_every) {
  for (const PlantedFault& planted : options.faults) {
    faults_.emplace_back(Chance(planted.rate), &script_of(planted.fault));
  }
  for (std::uint32_t session = 0; session < options.sessions; ++session) {
    txns_[session].session = session;
    idle_.push_back(session);
  }
}

Result<History> Simulation::run() {
  while (begun_ < options_.txns || !open_.empty()) step();
  return std::move(recorder_).finish(store_.versions);
}

bool Simulation::is_to_be_quiet() {
  if (next_quiet_ == 0 || begun_ < next_quiet_) return false;
  if (!open_.empty()) return true;
  clock_ns_ += kQuiet_ns;
  next_quiet_ = begun_ + options_.quiet_every;
  return false;
}

void Simulation::step() {
  const bool quiet = is_to_be_quiet();
  if (!quiet && waiting_ != nullptr && idle_.size() >= needs_of(*waiting_).sessions) {
    perform(*std::exchange(waiting_, nullptr));
    return;
  }
  const std::uint64_t limit = std::max<std::uint64_t>(open_limit_milli_ / kMilli, 1);
  const bool may_begin =
      !quiet && begun_ < options_.txns && waiting_ == nullptr && !idle_.empty() &&
      open_.size() < limit;
  const std::uint64_t drawn = scheduler_.below(may_begin ? limit : open_.size());
  if (drawn < open_.size()) {
    take_step(drawn);
  } else {
    begin_one();
  }
}

void Simulation::begin_one() {
  if (const FaultScript* script = draw_fault(); script != nullptr) {
    waiting_ = script;
    return;
  }
  const std::uint64_t index = scheduler_.below(idle_.size());
  const std::uint32_t session = idle_[index];
  idle_[index] = idle_.back();
  idle_.pop_back();
  open_.push_back(session);

  OpenTxn& txn = txns_[session];
  begin(session);
  isolation_->begin(txn);
  client_->plan(txn.program);
  store_.versions.grow(client_->key_end());
}

void Simulation::begin(std::uint32_t session) {
  ++begun_;
  tick();
  OpenTxn& txn = txns_[session];
  txn.reset();
  txn.invoked = clock_ns_;
}

void Simulation::take_step(std::size_t open_index) {
  OpenTxn& txn = txns_[open_[open_index]];
  tick();
  if (txn.next_op < txn.program.size()) {
    do_op(txn, txn.program[txn.next_op++]);
    return;
  }
  bool applied = false;
  const TxnStatus status = finish(txn, applied);
  record(txn, status, applied);
  idle_.push_back(txn.session);
  open_[open_index] = open_.back();
  open_.pop_back();
}

void Simulation::do_op(OpenTxn& txn, const Step& step) {
  switch (step.kind) {
    case StepKind::Read:
      txn.ops.push_back(read_key(store_, *isolation_, txn, step.key));
      return;
    case StepKind::Scan:
      do_scan(txn, step);
      return;
    default:
      break;
  }
  const std::uint32_t value = store_.versions.fresh_value(step.key);
  const OpKind kind = step.kind == StepKind::Append   ? OpKind::Append
                      : step.kind == StepKind::Delete ? OpKind::Delete
                                                      : OpKind::Write;
  txn.writes.push_back({step.key, value});
  txn.ops.push_back({.kind = kind, .key = step.key, .value = value});
}

// A scan returns what reads of all keys in its range would return.
void Simulation::do_scan(OpenTxn& txn, const Step& step) {
  const std::size_t scan = txn.ops.size();
  txn.ops.push_back({.kind = OpKind::Scan, .key = step.key, .value = step.upper});
  for (std::uint32_t key = step.key; key <= step.upper; ++key) {
    const DoneOp read = read_key(store_, *isolation_, txn, key);
    if (read.value != 0) txn.ops.push_back(read);
  }
  txn.ops[scan].own = static_cast<std::uint32_t>(txn.ops.size() - scan - 1);
  client_->saw(step, txn.ops[scan].own);
}

// With the status Unknown, either the request to commit or the answer to it got lost.
TxnStatus Simulation::finish(OpenTxn& txn, bool& applied) {
  const bool unknown = outcomes_.hit(unknown_);
  const bool request_lost = unknown && outcomes_.below(2) == 0;
  const bool aborts = outcomes_.hit(abort_);
  applied = false;
  if (!aborts && !request_lost) {
    applied = isolation_->commit(txn);
    open_limit_milli_ =
        applied ? std::min(open_limit_milli_ + open_limit_milli_ / 90, options_.sessions * kMilli)
                : std::max(open_limit_milli_ - open_limit_milli_ / 10,
                           std::min<std::uint64_t>(options_.sessions, 2) * kMilli);
  }
  if (unknown) return TxnStatus::Unknown;
  return applied ? TxnStatus::Committed : TxnStatus::Aborted;
}

void Simulation::record(OpenTxn& txn, TxnStatus status, bool applied) {
  recorder_.add(txn, status, applied, clock_ns_, store_.versions);
  if (!store_.lists) return;
  for (const PendingWrite& write : txn.writes) {
    if (store_.versions.newest(write.key) >= Client::kListLimit) client_->retire(write.key);
  }
  store_.versions.grow(client_->key_end());
}

// The fault to plant instead of the next transaction, or null. A fault that needs more transactions
// than are left is dropped.
const FaultScript* Simulation::draw_fault() {
  for (const auto& [chance, script] : faults_) {
    if (!fault_random_.hit(chance)) continue;
    if (needs_of(*script).txns <= options_.txns - begun_) return script;
  }
  return nullptr;
}

void Simulation::perform(const FaultScript& script) {
  for (std::size_t i = 0; i < needs_of(script).sessions; ++i) {
    std::swap(idle_[i], idle_[i + fault_random_.below(idle_.size() - i)]);
  }
  play(script, store_, *isolation_, *this);
  // Later reads of a list could contradict what the fault showed, which is another anomaly. So the
  // lists of the play are not used again.
  if (store_.lists) {
    if (needs_of(script).keys > 0) client_->retire(in_play_.x);
    if (needs_of(script).keys > 1) client_->retire(in_play_.y);
    store_.versions.grow(client_->key_end());
  }
}

void Simulation::tick() {
  clock_ns_ += 1 + static_cast<std::int64_t>(clock_random_.below(kLongestStep_ns));
}

}  // namespace ouro::workload
