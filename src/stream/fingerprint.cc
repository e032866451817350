#include "stream/fingerprint.h"

#include <cstring>

#include "history/columns.h"

namespace ouro::stream {
namespace {

constexpr std::uint64_t kFirst = 0x9fb21c651e98df25;
constexpr std::uint64_t kSecond = 0xd6e8feb86659fd93;
constexpr std::uint64_t kThird = 0xa24baed4963ee407;
constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
constexpr std::uint64_t kBase = 0x0f3a96c1d57be248;  // Below the prime.
__extension__ using Product = unsigned __int128;

// Mixes all bits of both: the exclusive or of their product's two halves.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const Product product = static_cast<Product>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Mixes a word into the state.
std::uint64_t stir(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * kSecond;
  state ^= state >> 29;
  return fold(state ^ kFirst, kThird) + state;
}

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t state = stir(seed, bytes.size());
  while (bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    state = stir(state, word);
    bytes.remove_prefix(8);
  }
  std::uint64_t word = 0;
  if (!bytes.empty()) std::memcpy(&word, bytes.data(), bytes.size());
  return stir(stir(state, word), kFirst);
}

std::uint64_t tagged(std::uint64_t hash, ValueKind kind) { return Value::from(kind, hash).bits(); }

// Arithmetic modulo kPrime, on numbers below it: times(), plus(), and powers of kBase.
std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  const Product product = static_cast<Product>(a) * b;
  const std::uint64_t sum =
      (static_cast<std::uint64_t>(product) & kPrime) + static_cast<std::uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum >= kPrime ? sum - kPrime : sum;
}

std::uint64_t power(std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (std::uint64_t square = kBase; exponent > 0; exponent /= 2, square = times(square, square)) {
    if (exponent % 2 == 1) result = times(result, square);
  }
  return result;
}

}  // namespace

std::uint64_t Name::hash() const { return fold(low ^ kFirst, high ^ kSecond) ^ low * kThird; }

Name name_of(const History& history, Value name) {
  if (name.kind() == ValueKind::Integer) return {name.bits(), 1};
  if (name.is_null()) return {0, 2};
  const std::string_view bytes = history.string(name);
  const auto kind = static_cast<std::uint64_t>(name.kind());
  return {hash_bytes(bytes, kFirst ^ kind),
          hash_bytes(bytes, kSecond + kind) | std::uint64_t{1} << 63};
}

void ListHash::append(std::uint64_t element) {
  const std::uint64_t mixed = stir(element, kThird) & kPrime;
  hash_ = plus(times(hash_, kBase), mixed == kPrime ? 0 : mixed);
  ++length_;
}

void ListHash::append(std::uint64_t other, std::uint64_t length) {
  hash_ = plus(times(hash_, power(length)), other);
  length_ += length;
}

std::uint64_t ListHash::value() const {
  if (length_ == 0) return Value::null().bits();
  return tagged(stir(hash_, length_), ValueKind::List);
}

void Fingerprints::enter(const History& batch) {
  batch_ = &batch;
  const HistoryColumns& c = columns_of(batch);
  texts_.assign(c.text_end.size(), 0);
  rows_.assign(c.row_end.size(), 0);
  trunks_.clear();
  trunks_.resize(c.trunk_end.size());
}

std::uint64_t Fingerprints::of_pooled(Value value) {
  if (value.kind() == ValueKind::Row) return of_row(value);
  if (value.is_list()) return prefix(value, value.length()).value();
  if (value.is_unobserved()) return value.bits();
  std::uint64_t& known = texts_[value.payload()];
  if (known == 0) known = tagged(hash_bytes(batch_->string(value), kThird), value.kind());
  return known;
}

std::uint64_t Fingerprints::of_row(Value value) {
  std::uint64_t& known = rows_[value.payload()];
  if (known != 0) return known;
  // Column names are hashed, not ids, and cells are added up, since both the ids and the order of
  // columns differ between batches.
  std::uint64_t sum = 0;
  for (const Cell& cell : batch_->row(value)) {
    sum += stir(hash_bytes(batch_->column_name(cell.column), kSecond), of(cell.value));
  }
  known = tagged(stir(sum, kFirst), ValueKind::Row);
  return known;
}

ListHash Fingerprints::prefix(Value list, std::size_t length) {
  if (length == 0) return {};
  std::vector<std::uint64_t>& known = trunks_[list.trunk()];
  const auto elements = batch_->list(list);
  ListHash hash(known.empty() ? 0 : known.back(), known.size());
  for (std::size_t i = known.size(); i < length; ++i) {
    hash.append(of(elements[i]));
    known.push_back(hash.hash());
  }
  return {known[length - 1], length};
}

}  // namespace ouro::stream
