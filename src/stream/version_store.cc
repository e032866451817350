#include "stream/version_store.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "stream/codec.h"

namespace ouro::stream {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEpochPrefix = "epoch-";
constexpr std::string_view kEpochSuffix = ".run";
constexpr std::size_t kOpenFiles = 8;  // The most tables that stay open.
constexpr std::size_t kBlockBytes = std::size_t{16} << 10;

// The last bytes of the file.
struct EpochFooter {
  std::uint64_t index_at = 0;
  std::uint64_t index_bytes = 0;
  std::uint64_t index_sum = 0;
  std::uint64_t magic = 0;
};
constexpr std::uint64_t kEpochMagic = 0x6f75726f65706f63;

// Precedes each entry of a block; the key follows it, then the value.
struct EntryHead {
  std::uint64_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
};

std::uint64_t checksum_of(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

std::optional<std::uint32_t> epoch_in_name(const std::string& file) {
  if (!file.starts_with(kEpochPrefix) || !file.ends_with(kEpochSuffix)) return std::nullopt;
  std::uint32_t epoch = 0;
  const char* const end = file.data() + file.size() - kEpochSuffix.size();
  const auto parsed = std::from_chars(file.data() + kEpochPrefix.size(), end, epoch);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return epoch;
}

template <class T>
void append_bytes(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace

// ---- writing ----

Status VersionStore::Writer::add(std::string_view key, std::string_view value) {
  if (buffer_.size() - block_at_ >= kBlockBytes) end_block();
  if (block_at_ == buffer_.size()) {
    if (buffer_.size() >= kRunBuffer) {
      if (Status status = flush(); !status.ok()) return status;
    }
    first_key_ = key;
  }
  append_bytes(buffer_, EntryHead{key.size(), value.size()});
  buffer_ += key;
  buffer_ += value;
  return {};
}

void VersionStore::Writer::end_block() {
  const std::string_view block = std::string_view(buffer_).substr(block_at_);
  if (block.empty()) return;
  blocks_.push_back({first_key_, written_ + block_at_, block.size(), checksum_of(block)});
  block_at_ = buffer_.size();
}

// REQUIRES: the last block has ended.
Status VersionStore::Writer::flush() {
  if (Status status = file_.write(buffer_.data(), buffer_.size(), written_); !status.ok()) {
    return status;
  }
  written_ += buffer_.size();
  buffer_.clear();
  block_at_ = 0;
  return {};
}

Result<std::uint64_t> VersionStore::Writer::finish() {
  end_block();
  if (Status status = flush(); !status.ok()) return status.error();
  Encoder index;
  for (const Block& block : blocks_) {
    index.text(block.first_key);
    index.number(block.at);
    index.number(block.size);
    index.number(block.sum);
  }
  const std::string_view bytes = index.view();
  buffer_ = bytes;
  append_bytes(buffer_, EpochFooter{written_, bytes.size(), checksum_of(bytes), kEpochMagic});
  if (Status status = flush(); !status.ok()) return status.error();
  if (Status status = file_.sync(); !status.ok()) return status.error();
  return written_;
}

// ---- finding ----

// An epoch that is open for reading.
class VersionStore::Table {
 public:
  Status open(const std::string& path) {
    if (Status status = file_.open(path, O_RDONLY); !status.ok()) return status;
    const auto size = file_.size();
    if (!size.ok()) return size.error();
    EpochFooter footer;
    if (*size < sizeof(footer)) return damaged();
    if (Status status = file_.read(&footer, sizeof(footer), *size - sizeof(footer)); !status.ok()) {
      return status;
    }
    if (footer.magic != kEpochMagic || footer.index_at > *size ||
        footer.index_bytes != *size - sizeof(footer) - footer.index_at) {
      return damaged();
    }
    std::string index(footer.index_bytes, '\0');
    if (Status status = file_.read(index.data(), index.size(), footer.index_at); !status.ok()) {
      return status;
    }
    if (checksum_of(index) != footer.index_sum) return damaged();
    Decoder in(index);
    while (!in.at_end() && in.ok()) {
      Block& block = blocks_.emplace_back();
      block.first_key = in.text();
      block.at = in.number<std::uint64_t>();
      block.size = in.number<std::uint64_t>();
      block.sum = in.number<std::uint64_t>();
      if (block.at > footer.index_at || block.size > footer.index_at - block.at) return damaged();
    }
    return in.ok() ? Status() : Status(damaged());
  }

  // The last entry whose key is not after `key`; nothing if there is none. It points into bytes_,
  // so it is valid until the next call.
  struct Found {
    std::string_view key;
    std::string_view value;
  };
  Result<std::optional<Found>> last_until(std::string_view key) {
    const auto behind = std::upper_bound(
        blocks_.begin(), blocks_.end(), key,
        [](std::string_view k, const Block& block) { return k < block.first_key; });
    if (behind == blocks_.begin()) return std::optional<Found>();
    const Block& block = *(behind - 1);
    bytes_.resize(block.size);
    if (Status status = file_.read(bytes_.data(), block.size, block.at); !status.ok()) {
      return status.error();
    }
    if (checksum_of(bytes_) != block.sum) return damaged();
    std::optional<Found> found;
    for (std::string_view left = bytes_; !left.empty();) {
      EntryHead head;
      if (left.size() < sizeof(head)) return damaged();
      std::memcpy(&head, left.data(), sizeof(head));
      left.remove_prefix(sizeof(head));
      if (head.key_bytes > left.size() || head.value_bytes > left.size() - head.key_bytes) {
        return damaged();
      }
      const std::string_view here = left.substr(0, head.key_bytes);
      if (here > key) break;
      found = Found{here, left.substr(head.key_bytes, head.value_bytes)};
      left.remove_prefix(head.key_bytes + head.value_bytes);
    }
    return found;
  }

 private:
  [[nodiscard]] Error damaged() const { return file_.failure("is damaged; is the disk failing?"); }

  RunFile file_;
  std::vector<Block> blocks_;
  std::string bytes_;  // The block that was read last.
};

// ---- epochs ----

VersionStore::VersionStore(std::string folder) : folder_(std::move(folder)) {}
VersionStore::~VersionStore() = default;

Result<std::unique_ptr<VersionStore>> VersionStore::open(const std::string& folder,
                                                         std::uint32_t first, std::uint32_t last) {
  std::unique_ptr<VersionStore> store(new VersionStore(folder));
  if (Status status = store->keep_only(first, last); !status.ok()) return status.error();
  return Result<std::unique_ptr<VersionStore>>(std::move(store));
}

Status VersionStore::keep_only(std::uint32_t first, std::uint32_t last) {
  std::error_code failed;
  fs::create_directories(folder_, failed);
  for (auto at = fs::directory_iterator(folder_, failed); !failed && at != fs::directory_iterator();
       at.increment(failed)) {
    const auto epoch = epoch_in_name(at->path().filename().string());
    if (epoch && (*epoch < first || *epoch > last)) fs::remove(at->path(), failed);
  }
  if (!failed) return {};
  Error error;
  error.file = folder_;
  error.what = failed.message() + "; a stream with a memory limit needs a folder it can use";
  return error;
}

std::string VersionStore::path(std::uint32_t epoch) const {
  return fmt::format("{}/{}{:010}{}", folder_, kEpochPrefix, epoch, kEpochSuffix);
}

Result<std::unique_ptr<VersionStore::Writer>> VersionStore::write(std::uint32_t epoch) {
  std::unique_ptr<Writer> writer(new Writer);
  if (Status status = writer->file_.open(path(epoch), O_WRONLY | O_CREAT | O_TRUNC); !status.ok()) {
    return status.error();
  }
  return Result<std::unique_ptr<Writer>>(std::move(writer));
}

Result<VersionStore::Table*> VersionStore::open(std::uint32_t epoch) {
  for (auto at = open_.begin(); at != open_.end(); ++at) {
    if (at->first != epoch) continue;
    open_.splice(open_.begin(), open_, at);
    return at->second.get();
  }
  auto table = std::make_unique<Table>();
  if (Status status = table->open(path(epoch)); !status.ok()) return status.error();
  open_.emplace_front(epoch, std::move(table));
  if (open_.size() > kOpenFiles) open_.pop_back();
  return open_.front().second.get();
}

Result<std::optional<std::string>> VersionStore::find(std::uint32_t epoch, std::string_view key) {
  auto table = open(epoch);
  if (!table.ok()) return table.error();
  const auto found = (*table)->last_until(key);
  if (!found.ok()) return found.error();
  if (!*found || (*found)->key != key) return std::optional<std::string>();
  return std::optional<std::string>((*found)->value);
}

Result<std::optional<VersionStore::Entry>> VersionStore::find_before(std::uint32_t epoch,
                                                                     std::string_view key) {
  auto table = open(epoch);
  if (!table.ok()) return table.error();
  const auto found = (*table)->last_until(key);
  if (!found.ok()) return found.error();
  if (!*found) return std::optional<Entry>();
  return std::optional(Entry{std::string((*found)->key), std::string((*found)->value)});
}

void VersionStore::drop(std::uint32_t epoch) {
  open_.remove_if([&](const auto& open) { return open.first == epoch; });
  std::error_code ignored;  // What cannot be removed now is removed by the next stream.
  fs::remove(path(epoch), ignored);
}

}  // namespace ouro::stream
