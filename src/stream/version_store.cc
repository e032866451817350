#include "stream/version_store.h"

#ifndef OURO_WITH_ROCKSDB

namespace ouro::stream {

Result<std::unique_ptr<VersionStore>> open_version_store(const std::string&, std::uint32_t,
                                                         std::uint32_t) {
  Error error;
  error.what =
      "this program was built without RocksDB, so a stream's memory cannot be limited; build with "
      "OURO_WITH_ROCKSDB, or give no limit";
  return error;
}

}  // namespace ouro::stream

#else

#include <fmt/format.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include <charconv>
#include <filesystem>
#include <list>
#include <system_error>
#include <utility>

namespace ouro::stream {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "epoch-";
constexpr std::string_view kSuffix = ".sst";
constexpr std::size_t kOpenFiles = 8;  // Each has its index in memory.

rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

Error failure(const std::string& file, const rocksdb::Status& status) {
  Error error;
  error.file = file;
  error.what = status.ToString() + "; is the disk full?";
  return error;
}

rocksdb::Options table_options() {
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  table.block_size = std::size_t{16} << 10;
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kNoCompression;
  return options;
}

std::optional<std::uint32_t> epoch_of(const std::string& file) {
  if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix)) return std::nullopt;
  std::uint32_t epoch = 0;
  const char* const end = file.data() + file.size() - kSuffix.size();
  const auto parsed = std::from_chars(file.data() + kPrefix.size(), end, epoch);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return epoch;
}

class TableWriter : public VersionStore::Writer {
 public:
  TableWriter(const rocksdb::Options& options, std::string file)
      : file_(std::move(file)), writer_(env_options(), options) {}
  Status open() { return checked(writer_.Open(file_)); }
  Status add(std::string_view key, std::string_view value) override {
    return checked(writer_.Put(slice(key), slice(value)));
  }
  Result<std::uint64_t> finish() override {
    rocksdb::ExternalSstFileInfo info;
    if (Status status = checked(writer_.Finish(&info)); !status.ok()) return status.error();
    return info.file_size;
  }

 private:
  // Written out as it grows, so that syncing it in the end takes no time.
  static rocksdb::EnvOptions env_options() {
    rocksdb::EnvOptions options;
    options.bytes_per_sync = std::uint64_t{1} << 20;
    return options;
  }
  [[nodiscard]] Status checked(const rocksdb::Status& status) const {
    return status.ok() ? Status() : Status(failure(file_, status));
  }
  std::string file_;
  rocksdb::SstFileWriter writer_;
};

class Tables : public VersionStore {
 public:
  explicit Tables(std::string folder) : folder_(std::move(folder)), options_(table_options()) {}

  Status keep_only(std::uint32_t first, std::uint32_t last) {
    std::error_code failed;
    fs::create_directories(folder_, failed);
    for (auto at = fs::directory_iterator(folder_, failed);
         !failed && at != fs::directory_iterator(); at.increment(failed)) {
      const auto epoch = epoch_of(at->path().filename().string());
      if (epoch && (*epoch < first || *epoch > last)) fs::remove(at->path(), failed);
    }
    if (!failed) return {};
    Error error;
    error.file = folder_;
    error.what = failed.message() + "; a stream with a memory limit needs a folder it can use";
    return error;
  }

  Result<std::unique_ptr<Writer>> write(std::uint32_t epoch) override {
    auto writer = std::make_unique<TableWriter>(options_, path(epoch));
    if (Status status = writer->open(); !status.ok()) return status.error();
    return Result<std::unique_ptr<Writer>>(std::move(writer));
  }

  Result<std::optional<std::string>> find(std::uint32_t epoch, std::string_view key) override {
    auto reader = open(epoch);
    if (!reader.ok()) return reader.error();
    const std::unique_ptr<rocksdb::Iterator> at((*reader)->NewIterator({}));
    at->Seek(slice(key));
    if (!at->status().ok()) return failure(path(epoch), at->status());
    if (!at->Valid() || at->key() != slice(key)) return std::optional<std::string>();
    return std::optional(at->value().ToString());
  }

  Result<std::optional<Entry>> find_before(std::uint32_t epoch, std::string_view key) override {
    auto reader = open(epoch);
    if (!reader.ok()) return reader.error();
    const std::unique_ptr<rocksdb::Iterator> at((*reader)->NewIterator({}));
    at->SeekForPrev(slice(key));
    if (!at->status().ok()) return failure(path(epoch), at->status());
    if (!at->Valid()) return std::optional<Entry>();
    return std::optional(Entry{at->key().ToString(), at->value().ToString()});
  }

  void drop(std::uint32_t epoch) override {
    open_.remove_if([&](const auto& open) { return open.first == epoch; });
    std::error_code ignored;  // What cannot be removed now is removed by the next stream.
    fs::remove(path(epoch), ignored);
  }

 private:
  [[nodiscard]] std::string path(std::uint32_t epoch) const {
    return fmt::format("{}/{}{:010}{}", folder_, kPrefix, epoch, kSuffix);
  }
  // Those used last stay open.
  Result<rocksdb::SstFileReader*> open(std::uint32_t epoch) {
    for (auto at = open_.begin(); at != open_.end(); ++at) {
      if (at->first != epoch) continue;
      open_.splice(open_.begin(), open_, at);
      return at->second.get();
    }
    auto reader = std::make_unique<rocksdb::SstFileReader>(options_);
    const rocksdb::Status status = reader->Open(path(epoch));
    if (!status.ok()) return failure(path(epoch), status);
    open_.emplace_front(epoch, std::move(reader));
    if (open_.size() > kOpenFiles) open_.pop_back();
    return open_.front().second.get();
  }

  std::string folder_;
  rocksdb::Options options_;
  std::list<std::pair<std::uint32_t, std::unique_ptr<rocksdb::SstFileReader>>> open_;
};

}  // namespace

Result<std::unique_ptr<VersionStore>> open_version_store(const std::string& folder,
                                                         std::uint32_t first, std::uint32_t last) {
  auto tables = std::make_unique<Tables>(folder);
  if (Status status = tables->keep_only(first, last); !status.ok()) return status.error();
  return Result<std::unique_ptr<VersionStore>>(std::move(tables));
}

}  // namespace ouro::stream

#endif
