#include "workload/fault_player.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>

namespace ouro::workload {
namespace {

// The key that the script calls x, or y.
struct KeyInPlay {
  std::uint32_t key = 0;
  std::uint32_t before = 0;       // Its newest version when the play began.
  std::uint32_t first_value = 0;  // The first value that the play wrote to it; 0: none yet.
};

// What a read step returns. `how` is the last character of the step (see fault_script.h).
DoneOp planted_read(const Versions& versions, PlayStage& stage, bool lists,
                    const KeyInPlay& in_play, char how) {
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
      value = stage.fresh_value(key);
      break;
    case '!':
      value = stage.peek_value(key);
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

void play(const FaultScript& script, StoreState& store, Isolation& isolation, PlayStage& stage) {
  const Client::KeyPair pair = script.scans_only ? stage.new_keys() : stage.pick_keys();
  Versions& versions = store.versions;
  std::array<KeyInPlay, 2> keys{KeyInPlay{pair.x, versions.newest(pair.x)},
                                KeyInPlay{pair.y, versions.newest(pair.y)}};
  for (std::size_t at = 0; at < script.steps.size();) {
    const std::size_t end = std::min(script.steps.find(' ', at), script.steps.size());
    const std::string_view step = script.steps.substr(at, end - at);
    at = end + 1;
    OpenTxn& txn = stage.actor(static_cast<std::size_t>(step[1] - '0'));
    if (step[0] == 'b') {
      stage.begun(txn);
      isolation.begin_unchecked(txn);
      continue;
    }
    stage.time_passes();
    if (step[0] == 'a' || step[0] == 'c') {
      const bool commits = step[0] == 'c';
      if (commits) isolation.commit_unchecked(txn);
      stage.ended(txn, commits);
      continue;
    }
    KeyInPlay& in_play = keys[step[2] == 'x' ? 0 : 1];
    if (step[0] == 'w') {
      const std::uint32_t value = stage.fresh_value(in_play.key);
      txn.writes.push_back({in_play.key, value});
      txn.ops.push_back({.kind = store.lists ? OpKind::Append : OpKind::Write,
                         .key = in_play.key,
                         .value = value});
      if (in_play.first_value == 0) in_play.first_value = value;
    } else if (step[0] == 's') {
      txn.seen.push_back({.key = in_play.key});
      txn.ops.push_back({.kind = OpKind::Scan, .key = in_play.key, .value = in_play.key});
    } else {
      txn.seen.push_back({.key = in_play.key});
      txn.ops.push_back(planted_read(versions, stage, store.lists, in_play, step[3]));
    }
  }
}

DoneOp read_key(StoreState& store, Isolation& isolation, OpenTxn& txn, std::uint32_t key) {
  DoneOp op{.kind = OpKind::Read, .key = key};
  const PendingWrite* own = txn.find_write(key);
  if (own != nullptr && !store.lists) {
    op.value = own->value;
    return op;
  }
  SeenVersion* seen = own != nullptr ? txn.find_seen(key) : nullptr;
  if (seen == nullptr) {
    txn.seen.push_back({.key = key, .version = isolation.read(txn, key)});
    seen = &txn.seen.back();
  }
  if (store.lists) {
    seen->pinned = own != nullptr;
    op.value = seen->version;
    op.own = static_cast<std::uint32_t>(
        std::count_if(txn.writes.begin(), txn.writes.end(),
                      [key](const PendingWrite& write) { return write.key == key; }));
  } else if (seen->version > 0) {
    op.value = store.versions.of(key)[seen->version - 1].value;
  }
  return op;
}

}  // namespace ouro::workload
