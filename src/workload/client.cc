#include "workload/client.h"

#include <algorithm>
#include <numeric>

namespace ouro::workload {
namespace {

constexpr std::uint64_t kStream = 1;

// See the comment in client.h. Integers, so that no machine rounds differently; small enough that
// a million times the sum is below 2^64.
struct Mix {
  std::uint64_t pair = 0;
  std::uint64_t read = 0;
  std::uint64_t write = 0;
};

Mix mix_of(const GenerateOptions& options) {
  constexpr std::uint64_t kOne = 1 << 20;
  const auto reads = static_cast<std::uint64_t>(options.read_share * double{kOne});
  const auto rmw = static_cast<std::uint64_t>(options.rmw_share * double{kOne});
  const std::uint64_t pairs = (kOne - reads) * rmw;
  return {.pair = pairs,
          .read = reads * kOne > pairs ? reads * kOne - pairs : 0,
          .write = (kOne - reads) * (kOne - rmw)};
}

}  // namespace

Client::Client(const GenerateOptions& options)
    : kind_(options.workload),
      ops_per_txn_(options.ops_per_txn),
      random_(options.seed, kStream),
      chooser_(options),
      read_(options.read_share),
      read_only_(options.workload == WorkloadKind::BlindWRm ? 0.9 : 0.5),
      key_end_(static_cast<std::uint32_t>(options.keys)) {
  const Mix mix = mix_of(options);
  pair_weight_ = mix.pair;
  read_weight_ = mix.read;
  write_weight_ = mix.write;
  if (lists()) {
    key_of_slot_.resize(options.keys);
    std::iota(key_of_slot_.begin(), key_of_slot_.end(), 0);
    slot_of_key_ = key_of_slot_;
  }
}

std::uint32_t Client::pick_key() {
  const std::uint32_t slot = chooser_.next(random_);
  return lists() ? key_of_slot_[slot] : slot;
}

Client::KeyPair Client::pick_keys() {
  const std::uint32_t x = pick_key();
  // A draw may be so skewed that it hardly ever differs, so give up and take a neighbour.
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::uint32_t y = pick_key();
    if (y != x) return {x, y};
  }
  if (!lists()) return {x, x > 0 ? x - 1 : std::min(x + 1, key_end_ - 1)};
  const std::uint32_t slot = slot_of_key_[x];
  const std::size_t slots = key_of_slot_.size();
  return {x, key_of_slot_[(slot + 1) % slots]};
}

void Client::retire(std::uint32_t key) {
  const std::uint32_t slot = slot_of_key_[key];
  if (key_of_slot_[slot] != key) return;
  key_of_slot_[slot] = key_end_++;
  slot_of_key_.push_back(slot);
}

void Client::plan(std::vector<PlannedOp>& program) {
  program.clear();
  if (kind_ == WorkloadKind::General || kind_ == WorkloadKind::ListAppend) {
    plan_mix(program);
    return;
  }
  const bool write = !random_.hit(read_only_);
  for (std::uint32_t i = 0; i < ops_per_txn_; ++i) program.push_back({write, pick_key()});
}

// Operations come two by two; each two are a pair with the probability that yields the share.
std::uint32_t Client::draw_pair_count() {
  const std::uint32_t twos = ops_per_txn_ / 2;
  const std::uint64_t op_weight = 2 * pair_weight_ + read_weight_ + write_weight_;
  std::uint32_t pairs = 0;
  for (std::uint32_t i = 0; i < twos && pair_weight_ != 0; ++i) {
    if (random_.below(twos * op_weight) < ops_per_txn_ * pair_weight_) ++pairs;
  }
  return pairs;
}

bool Client::draw_single_write() {
  const std::uint64_t singles = read_weight_ + write_weight_;
  if (ops_per_txn_ == 1 || singles == 0) return !random_.hit(read_);
  return random_.below(singles) >= read_weight_;
}

void Client::plan_mix(std::vector<PlannedOp>& program) {
  std::uint64_t pairs = draw_pair_count();
  std::uint64_t units = ops_per_txn_ - pairs;
  for (; units > 0; --units) {
    const std::uint32_t key = pick_key();
    if (pairs > 0 && random_.below(units) < pairs) {
      program.push_back({false, key});
      program.push_back({true, key});
      --pairs;
    } else {
      program.push_back({draw_single_write(), key});
    }
  }
}

}  // namespace ouro::workload
