#include "format/chronos_pieces.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/count_lines.h"
#include "format/chronos_block.h"
#include "format/chronos_uses.h"

namespace ouro {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // The longest transaction.

// What all pieces use keys as.
class UsesOfAll {
 public:
  void add(const History& piece) {
    ChronosUses uses;
    for (std::size_t i = 0; i < piece.op_count(); ++i) uses.add(piece.op(OpId{i}));
    reads_null_ = reads_null_ || uses.reads_null();
    note(list_, uses.first_list(), piece);
    note(register_, uses.first_register(), piece);
    const auto zero = uses.zero();
    for (std::size_t k = 0; k < zero.size(); ++k) {
      if (zero[k] != 0) zero_[piece.text(piece.key_name(KeyId{k}))] |= zero[k];
    }
  }
  [[nodiscard]] bool lists() const { return list_.has_value(); }
  // The line where the second kind of keys appears, if there are two.
  [[nodiscard]] std::optional<std::uint64_t> mixed_at() const {
    if (!list_ || !register_) return std::nullopt;
    return std::max(*list_, *register_);
  }
  [[nodiscard]] Value initial() const {
    const bool zero = std::any_of(zero_.begin(), zero_.end(), [](const auto& use) {
      return ChronosUses::is_only_read(use.second);
    });
    return zero && !reads_null_ && !list_ ? Value::small(0) : Value::null();
  }

 private:
  static void note(std::optional<std::uint64_t>& line, OpId op, const History& piece) {
    if (!line && op.valid()) line = piece.place(op).position;
  }

  bool reads_null_ = false;
  std::optional<std::uint64_t> list_;      // The line of the first use as a list,
  std::optional<std::uint64_t> register_;  // and as a register.
  absl::flat_hash_map<std::string, std::uint8_t> zero_;  // By key: what is done with 0 there.
};

Result<HistoryBuilder> parse_next(ArrayBlocks& blocks) {
  const auto block = blocks.next();
  if (!block.ok()) return block.error();
  HistoryBuilder builder;
  builder.file(blocks.name(), PlaceUnit::Line);
  if (auto status = parse_chronos_part(*block, blocks.name(), blocks.cutter(), builder); !status) {
    return status.error();
  }
  return builder;
}

Result<ArrayBlocks> open_blocks(const std::string& path, std::size_t bytes) {
  auto input = Input::open(path);
  if (!input.ok()) return input.error();
  input->skip_byte_order_mark();
  return ArrayBlocks(*std::move(input), bytes);
}

}  // namespace

Result<Block> ArrayBlocks::next() {
  std::string text = std::exchange(rest_, {});
  std::size_t wanted = std::max(bytes_, text.size() + 1);
  std::size_t taken = 0;
  while (taken == 0) {
    std::size_t size = text.size();
    text.resize(wanted);
    while (size < wanted && !ended_) {
      const auto count = input_.read(text.data() + size, wanted - size);
      if (!count.ok()) return count.error();
      ended_ = *count == 0;
      size += *count;
    }
    text.resize(size);
    if (ended_) break;
    taken = cutter_->cut(text);
    if (taken == 0 && size > kMostBytes) {
      return error_in(name(), "a transaction is longer than 1 GB");
    }
    wanted = size * 2;
  }
  if (!ended_) {
    rest_ = text.substr(taken);
    text.resize(taken);
  }
  text.reserve(text.size() + Input::kPadding);
  Block block{std::move(text), line_, column_, offset_, ended_};
  const std::string& bytes = block.bytes;
  const std::uint64_t lines = count_lines(bytes.data(), bytes.data() + bytes.size());
  column_ = lines == 0 ? column_ + bytes.size() : bytes.size() - bytes.rfind('\n');
  line_ += lines;
  offset_ += bytes.size();
  return block;
}

Result<ChronosPieces> ChronosPieces::open(const std::string& path, std::size_t bytes) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return error_in(path == "-" ? "standard input" : path,
                    "a Chronos history is read twice, which takes a file; put it into one");
  }
  auto first = open_blocks(path, bytes);
  if (!first.ok()) return first.error();
  UsesOfAll uses;
  while (!first->ended()) {
    auto builder = parse_next(*first);
    if (!builder.ok()) return builder.error();
    const auto piece = std::move(*builder).freeze();
    if (!piece.ok()) return piece.error();
    uses.add(*piece);
  }
  if (const auto line = uses.mixed_at()) {
    return error_at_line(first->name(), *line, kChronosMixture);
  }
  auto second = open_blocks(path, bytes);
  if (!second.ok()) return second.error();
  return ChronosPieces(*std::move(second), uses.initial(), uses.lists());
}

Result<std::shared_ptr<const History>> ChronosPieces::next() {
  if (blocks_.ended()) return std::shared_ptr<const History>();
  auto builder = parse_next(blocks_);
  if (!builder.ok()) return builder.error();
  if (lists_) {
    read_null_as_empty(*builder);
  } else {
    builder->default_initial(initial_);
  }
  auto history = std::move(*builder).freeze();
  if (!history.ok()) return history.error();
  return std::make_shared<const History>(*std::move(history));
}

}  // namespace ouro
