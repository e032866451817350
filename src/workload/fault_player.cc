// The part of the simulation that plays the scripts of planted faults.
#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>
#include <utility>

#include "workload/simulation.h"

namespace ouro::workload {
namespace {

constexpr std::size_t kMaxSessions = 4;

struct KeyInPlay {
  std::uint32_t key = 0;
  std::uint32_t before = 0;       // Its version when the play began.
  std::uint32_t first_value = 0;  // Written in the play; 0: nothing yet.
};

// What the read step returns; `how` is the last letter of the step.
DoneOp planted_read(Versions& versions, bool lists, const KeyInPlay& in_play, char how) {
  const std::uint32_t key = in_play.key;
  DoneOp op{.kind = OpKind::Read, .key = key};
  std::uint32_t version = versions.newest(key);
  std::uint32_t value = 0;
  switch (how) {
    case '-':
      version = in_play.before;
      break;
    case '~':
      version = in_play.before;
      value = in_play.first_value;
      break;
    case '?':
      value = versions.fresh_value(key);
      break;
    case '!':
      value = versions.peek_value(key);
      break;
    case '=':
      value = versions.of(key)[version - 1].value;
      break;
    case '%':
      version -= 2;
      op.planted = {versions.of(key)[version + 1].value, versions.of(key)[version].value};
      break;
    default:
      assert(how == '+');
  }
  if (lists) {
    op.value = version;
    if (value != 0) op.planted[0] = value;
  } else if (value != 0) {
    op.value = value;
  } else if (version > 0) {
    op.value = versions.of(key)[version - 1].value;
  }
  return op;
}

}  // namespace

// At most one fault per begin. One that needs more transactions than are left is dropped.
const FaultScript* Simulation::draw_fault() {
  for (const auto& [chance, script] : faults_) {
    if (!fault_random_.hit(chance)) continue;
    if (needs_of(*script).txns <= options_.txns - begun_) return script;
  }
  return nullptr;
}

void Simulation::play(const FaultScript& script) {
  Versions& versions = store_.versions;
  const Client::KeyPair pair = client_->pick_keys();
  std::array<KeyInPlay, 2> keys{KeyInPlay{pair.x, versions.newest(pair.x)},
                                KeyInPlay{pair.y, versions.newest(pair.y)}};
  std::array<std::uint32_t, kMaxSessions> cast{};
  for (std::size_t i = 0; i < needs_of(script).sessions; ++i) {
    std::swap(idle_[i], idle_[i + fault_random_.below(idle_.size() - i)]);
    cast[i] = idle_[i];
  }

  for (std::size_t at = 0; at < script.steps.size();) {
    const std::size_t end = std::min(script.steps.find(' ', at), script.steps.size());
    const std::string_view step = script.steps.substr(at, end - at);
    at = end + 1;
    OpenTxn& txn = txns_[cast[static_cast<std::size_t>(step[1] - '0')]];
    if (step[0] == 'b') {
      begin(txn.session);
      isolation_->begin_unchecked(txn);
      continue;
    }
    tick();
    if (step[0] == 'a' || step[0] == 'c') {
      const bool commits = step[0] == 'c';
      if (commits) isolation_->commit_unchecked(txn);
      record(txn, commits ? TxnStatus::Committed : TxnStatus::Aborted, commits);
      continue;
    }
    KeyInPlay& in_play = keys[step[2] == 'x' ? 0 : 1];
    if (step[0] == 'w') {
      do_op(txn, {.kind = store_.lists ? StepKind::Append : StepKind::Write, .key = in_play.key});
      if (in_play.first_value == 0) in_play.first_value = txn.writes.back().value;
    } else {
      txn.seen.push_back({.key = in_play.key});
      txn.ops.push_back(planted_read(versions, store_.lists, in_play, step[3]));
    }
  }
  // Later reads of a list would contradict what some faults showed, which is an anomaly of its own.
  if (store_.lists) {
    for (std::size_t i = 0; i < needs_of(script).keys; ++i) client_->retire(keys[i].key);
    versions.grow(client_->key_end());
  }
}

}  // namespace ouro::workload
