#include "stream/codec.h"

#include <utility>

#include "history/columns.h"

namespace ouro::stream {
namespace {

// Beside the unit of places: the numbers of transactions in their sessions come next. Versions that
// had no such column so wrote the same as others of today.
constexpr std::uint8_t kSnosFollow = 0x80;

// What the columns of a decoded history point into.
struct Storage : AllColumns<ColumnVector> {
  std::vector<std::string> files;
};

}  // namespace

void encode(const History& history, Encoder& out) {
  HistoryColumns c = columns_of(history);
  // The stream keeps initial values itself (initials.h), and does not use version orders.
  c.key_initial = {};
  c.version_orders = {};
  c.versions = {};
  const auto snos = std::exchange(c.txn_sno, {});
  for_each_column(
      [&](const auto& column) {
        if (static_cast<const void*>(&column) != &c.txn_sno) out.array(column);
      },
      c);
  out.number(c.default_initial);
  out.number(static_cast<std::uint8_t>(static_cast<std::uint8_t>(c.place_unit) |
                                       (snos.empty() ? 0 : kSnosFollow)));
  if (!snos.empty()) out.array(snos);
  out.number<std::uint64_t>(c.files.size());
  for (const std::string& file : c.files) out.text(file);
}

std::shared_ptr<const History> decode_history(Decoder& in) {
  const auto storage = std::make_shared<Storage>();
  HistoryColumns c;
  for_each_column(
      [&]<class T>(std::span<const T>& column, std::vector<T>& vector) {
        if (static_cast<const void*>(&column) == &c.txn_sno) return;
        vector = in.array<T>();
        column = vector;
      },
      c, *storage);
  c.default_initial = in.number<Value>();
  const auto unit = in.number<std::uint8_t>();
  c.place_unit = static_cast<PlaceUnit>(unit & ~kSnosFollow);
  if ((unit & kSnosFollow) != 0) storage->txn_sno = in.array<std::int64_t>();
  c.txn_sno = storage->txn_sno;
  const auto files = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < files && in.ok(); ++i) storage->files.push_back(in.text());
  c.files = storage->files;
  if (!in.ok()) return std::make_shared<const History>();
  return std::make_shared<const History>(history_of(c, storage));
}

void Checksum::add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (count_ % 8 == 0 && bytes.size() >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), 8);
      state_ = mixed(state_, word);
      bytes.remove_prefix(8);
      count_ += 8;
      continue;
    }
    pending_ |= std::uint64_t{static_cast<unsigned char>(bytes[0])} << 8 * (count_ % 8);
    bytes.remove_prefix(1);
    if (++count_ % 8 != 0) continue;
    state_ = mixed(state_, pending_);
    pending_ = 0;
  }
}

}  // namespace ouro::stream
