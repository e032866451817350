#include "workload/key_choice.h"

#include <algorithm>
#include <cmath>

namespace ouro::workload {
namespace {

constexpr std::uint64_t kBucketsPerOctave = 64;  // An octave is from a number to its double.
constexpr int kLogBits = 48;
constexpr int kPowerBits = 40;
constexpr double kWeightOne = 4294967296.0;  // 2^32: 2^27 keys of weight one stay below 2^60.

// rank^-theta, as 2^-(theta · log2(rank)). The logarithm is found bit by bit by squaring, the power
// bit by bit by square roots. Doubles are only multiplied, divided, rooted and converted: the
// results are the same to the bit on every IEEE machine, and no compiler can fuse two of them.
double falling_power(double rank, double theta) {
  int exponent = 0;
  double mantissa = std::frexp(rank, &exponent) * 2;
  std::int64_t log2 = exponent - 1;
  for (int bit = 0; bit < kLogBits; ++bit) {
    mantissa *= mantissa;
    const bool one = mantissa >= 2;
    if (one) mantissa /= 2;
    log2 = log2 * 2 + (one ? 1 : 0);
  }
  const double product = theta * std::ldexp(static_cast<double>(log2), -kLogBits);
  const auto fixed = static_cast<std::int64_t>(std::ldexp(product, kPowerBits));
  double result = 1;
  double root = 2;
  for (int bit = kPowerBits - 1; bit >= 0; --bit) {
    root = std::sqrt(root);
    if ((fixed >> bit & 1) != 0) result *= root;
  }
  return std::ldexp(1 / result, -static_cast<int>(fixed >> kPowerBits));
}

}  // namespace

KeyChooser::KeyChooser(const WorkloadOptions& options)
    : kind_(options.key_choice), keys_(options.keys), hot_keys_(0), hot_(options.hotspot_ops) {
  if (kind_ == KeyChoice::Zipf) fill_buckets(options.zipf_theta);
  if (kind_ == KeyChoice::Hotspot) {
    const double hot = options.hotspot_keys * static_cast<double>(keys_);
    hot_keys_ = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(hot), 1, keys_);
  }
}

void KeyChooser::fill_buckets(double theta) {
  std::uint64_t total = 0;
  std::uint64_t width = 1;
  for (std::uint64_t first = 1; first <= keys_; first += width) {
    while (first >= kBucketsPerOctave * 2 * width) width *= 2;
    const std::uint64_t size = std::min(width, keys_ + 1 - first);
    const double middle = static_cast<double>(2 * first + size - 1) / 2;
    const double weight = falling_power(middle, theta) * static_cast<double>(size) * kWeightOne;
    total += static_cast<std::uint64_t>(weight);
    bucket_first_.push_back(first - 1);
    weight_end_.push_back(total);
  }
  bucket_first_.push_back(keys_);
}

std::uint32_t KeyChooser::next(Random& random) const {
  std::uint64_t first = 0;
  std::uint64_t count = keys_;
  switch (kind_) {
    case KeyChoice::Uniform:
      break;
    case KeyChoice::Zipf: {
      const std::uint64_t draw = random.below(weight_end_.back());
      const auto at = std::upper_bound(weight_end_.begin(), weight_end_.end(), draw);
      const auto bucket = static_cast<std::size_t>(at - weight_end_.begin());
      first = bucket_first_[bucket];
      count = bucket_first_[bucket + 1] - first;
      if (count == 1) return static_cast<std::uint32_t>(first);
      break;
    }
    case KeyChoice::Hotspot:
      if (hot_keys_ == keys_ || random.hit(hot_)) {
        count = hot_keys_;
      } else {
        first = hot_keys_;
        count = keys_ - hot_keys_;
      }
      break;
  }
  return static_cast<std::uint32_t>(first + random.below(count));
}

}  // namespace ouro::workload
