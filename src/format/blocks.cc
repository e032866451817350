#include "format/blocks.h"

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "base/count_lines.h"
#include "base/parallel.h"

namespace ouro {
namespace {

// The size of blocks doubles from the first to the last: with small blocks, several threads share
// small inputs, too; with large blocks, interning the names anew in each block weighs less.
constexpr std::size_t kFirstBlockBytes = 1 << 18;
constexpr std::size_t kLastBlockBytes = 1 << 22;

// The memory that parsing a block needs; it is used again for later blocks.
struct Workspace {
  std::string bytes;
  HistoryBuilder builder;  // After it was absorbed, it still knows the names it has interned.
};

struct Parsed {
  Status status;
  Workspace space;
};

}  // namespace

std::size_t cut_at_line(std::string_view bytes) {
  const std::size_t at = bytes.rfind('\n');
  return at == std::string_view::npos ? 0 : at + 1;
}

Status parse_blocks(Input& input, const CutBlock& cut, const ParseBlock& parse, unsigned threads,
                    HistoryBuilder& builder) {
  const unsigned workers = thread_count(threads);
  std::deque<std::future<Parsed>> pending;
  std::vector<Workspace> idle;
  const auto join_first = [&]() -> Status {
    Parsed parsed = pending.front().get();
    pending.pop_front();
    if (parsed.status.ok()) {
      builder.absorb(std::move(parsed.space.builder));
      idle.push_back(std::move(parsed.space));
    }
    return std::move(parsed.status);
  };

  std::string bytes;
  std::size_t block_bytes = kFirstBlockBytes;
  std::size_t wanted = block_bytes;
  std::uint64_t line = 1;
  std::uint64_t column = 1;
  std::uint64_t offset = 0;
  bool ended = false;
  while (!ended) {
    const std::size_t had = bytes.size();
    bytes.resize(std::max(wanted, had + 1) + Input::kPadding);
    std::size_t size = had;
    while (size < bytes.size() - Input::kPadding && !ended) {
      const auto count = input.read(bytes.data() + size, bytes.size() - Input::kPadding - size);
      if (!count.ok()) return count.error();
      ended = *count == 0;
      size += *count;
    }
    bytes.resize(size);
    const std::size_t taken = ended ? size : cut(bytes);
    if (taken == 0 && !ended) {
      wanted = bytes.size() * 2;  // One record is larger than a block.
      continue;
    }
    block_bytes = std::min(block_bytes * 2, kLastBlockBytes);
    wanted = block_bytes;
    if (idle.empty()) idle.emplace_back();
    Workspace space = std::move(idle.back());
    idle.pop_back();
    std::string rest = std::move(space.bytes);
    rest.reserve(block_bytes + Input::kPadding);
    rest.assign(bytes, taken);
    bytes.resize(taken);
    bytes.reserve(taken + Input::kPadding);
    Block block{std::move(bytes), line, column, offset, ended};
    bytes = std::move(rest);
    offset += taken;
    const std::uint64_t lines =
        count_lines(block.bytes.data(), block.bytes.data() + block.bytes.size());
    column = lines == 0 ? column + taken : taken - block.bytes.rfind('\n');
    line += lines;
    const auto policy = workers == 1 ? std::launch::deferred : std::launch::async;
    pending.push_back(std::async(
        policy, [block = std::move(block), part = std::move(space.builder), &parse]() mutable {
          Status status = parse(block, part);
          return Parsed{std::move(status), {std::move(block.bytes), std::move(part)}};
        }));
    if (pending.size() >= workers) {
      if (auto status = join_first(); !status.ok()) return status;
    }
  }
  while (!pending.empty()) {
    if (auto status = join_first(); !status.ok()) return status;
  }
  return {};
}

}  // namespace ouro
