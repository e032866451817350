#include "serve/input_log.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

namespace ouro::serving {
namespace {

class InputLogTest : public testing::Test {
 protected:
  InputLogTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ouro_log_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/log";
  }
  ~InputLogTest() override { std::filesystem::remove_all(folder_); }

  struct Kept {
    LogRecord record;
    std::string history;
  };
  // What read_log() returns; appends to `records`.
  Result<std::uint64_t> try_read(std::vector<Kept>& records) const {
    return read_log(path_, [&](const LogRecord& record) {
      records.push_back({record, std::string(record.history)});
      return Status();
    });
  }
  std::vector<Kept> read(std::uint64_t& whole) const {
    std::vector<Kept> records;
    const auto bytes = try_read(records);
    EXPECT_TRUE(bytes.ok());
    whole = bytes.ok() ? *bytes : 0;
    return records;
  }
  std::uint64_t write(std::uint64_t from, int first, int last) const {
    auto log = LogWriter::open(path_, from);
    EXPECT_TRUE(log.ok());
    for (int i = first; i < last; ++i) {
      const std::string history(static_cast<std::size_t>(i * 7), static_cast<char>(i));
      log->append({.kind = LogRecord::Kind::Batch,
                   .time = -i,
                   .txns = static_cast<std::uint64_t>(i),
                   .id = {"client/" + std::to_string(i), 1000u + static_cast<unsigned>(i)},
                   .position = {"/a/b", 1, 2, static_cast<std::uint64_t>(i)},
                   .history = history});
    }
    EXPECT_TRUE(log->flush().ok());
    EXPECT_TRUE(log->sync().ok());
    return log->bytes();
  }
  static void expect_record(const Kept& kept, int i) {
    EXPECT_EQ(kept.record.kind, LogRecord::Kind::Batch);
    EXPECT_EQ(kept.record.time, -i);
    EXPECT_EQ(kept.record.txns, static_cast<std::uint64_t>(i));
    EXPECT_EQ(kept.record.id.client, "client/" + std::to_string(i));
    EXPECT_EQ(kept.record.id.number, 1000u + static_cast<unsigned>(i));
    EXPECT_EQ(kept.record.position.path, "/a/b");
    EXPECT_EQ(kept.record.position.offset, static_cast<std::uint64_t>(i));
    EXPECT_EQ(kept.history, std::string(static_cast<std::size_t>(i * 7), static_cast<char>(i)));
  }

  std::string folder_, path_;
};

// A batch of the source without a name must not go to that of the record before.
TEST_F(InputLogTest, NoRecordTakesItsSourceOrTailFromTheOneBefore) {
  auto log = LogWriter::open(path_, 0);
  ASSERT_TRUE(log.ok());
  LogRecord record{.kind = LogRecord::Kind::SourceBatch, .source = 7, .position = {"/a", 1, 2, 9}};
  record.position.tail_bytes = 5;
  record.position.tail_sum = 6;
  log->append(record);
  log->append({.kind = LogRecord::Kind::Batch});
  const std::uint64_t end = log->end();
  log->append(record);
  ASSERT_TRUE(log->flush().ok());
  ASSERT_TRUE(log->cut(end).ok());
  log->append({.kind = LogRecord::Kind::Advance});
  ASSERT_TRUE(log->flush().ok());
  std::uint64_t whole = 0;
  const std::vector<Kept> records = read(whole);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].record.source, 7u);
  EXPECT_EQ(records[0].record.position.tail_bytes, 5u);
  EXPECT_EQ(records[0].record.position.tail_sum, 6u);
  EXPECT_EQ(records[1].record.source, 0u);
  EXPECT_EQ(records[1].record.position.tail_bytes, 0u);
  EXPECT_EQ(records[2].record.kind, LogRecord::Kind::Advance);
}

TEST_F(InputLogTest, RecordsComeBackAsTheyWere) {
  const std::uint64_t written = write(0, 0, 20);
  std::uint64_t whole = 0;
  const auto records = read(whole);
  EXPECT_EQ(whole, written);
  ASSERT_EQ(records.size(), 20u);
  for (int i = 0; i < 20; ++i) expect_record(records[static_cast<std::size_t>(i)], i);
}

TEST_F(InputLogTest, WhereverItIsCutTheWholeRecordsRemainAndItGoesOn) {
  const std::uint64_t all = write(0, 0, 6);
  std::ifstream file(path_, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string bytes = text.str();
  ASSERT_EQ(bytes.size(), all);
  std::size_t before = 0;
  for (std::size_t cut = 0; cut <= all; ++cut) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes.substr(0, cut);
    std::uint64_t whole = 0;
    const auto records = read(whole);
    ASSERT_LE(whole, cut);
    ASSERT_GE(records.size(), before);
    before = records.size();
    if (cut % 13 != 0) continue;
    write(whole, 50, 51);
    const auto more = read(whole);
    ASSERT_EQ(more.size(), records.size() + 1);
    expect_record(more.back(), 50);
  }
  EXPECT_EQ(before, 6u);
}

TEST_F(InputLogTest, ADamagedBitIsToldWhereverItIsAndRepairLosesOneRecord) {
  const std::uint64_t all = write(0, 1, 6);
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    const auto at = static_cast<std::streamoff>(random() % all);
    file.seekg(at);
    const char old = static_cast<char>(file.get());
    file.seekp(at);
    file.put(static_cast<char>(old ^ static_cast<char>(1 << (random() % 8))));
    file.flush();
    std::vector<Kept> records;
    const auto whole = try_read(records);
    ASSERT_LT(records.size(), 5u) << "byte " << at;
    ASSERT_FALSE(whole.ok()) << "byte " << at;
    ASSERT_NE(whole.error().what.find("damaged at byte"), std::string::npos);
    // Repaired, all others are there.
    std::vector<Kept> left;
    std::vector<LostPart> lost;
    const auto keep = [&](const LogRecord& record) {
      left.push_back({record, std::string(record.history)});
      return Status();
    };
    ASSERT_TRUE(read_log(path_, keep, &lost).ok());
    ASSERT_EQ(left.size(), 4u) << "byte " << at;
    ASSERT_EQ(lost.size(), 1u);
    ASSERT_TRUE(lost[0].from <= static_cast<std::uint64_t>(at) &&
                static_cast<std::uint64_t>(at) < lost[0].to);
    const auto damaged = static_cast<int>(records.size()) + 1;
    for (int i = 0, next = 1; i < 4; ++i, ++next) {
      if (next == damaged) ++next;
      expect_record(left[static_cast<std::size_t>(i)], next);
    }
    for (std::size_t i = 0; i < records.size(); ++i) {
      expect_record(records[i], static_cast<int>(i) + 1);
    }
    file.seekp(at);
    file.put(old);
  }
}

TEST_F(InputLogTest, RecordsOfTheVersionBeforeAreReadAndNewOnesFollow) {
  const std::uint64_t written = write(0, 1, 3);
  std::ifstream file(path_, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string bytes = text.str();
  std::string old;
  for (std::size_t at = 0; at < written;) {
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + at + 4, sizeof length);
    const std::string content = bytes.substr(at + 12, length);
    const auto sum = static_cast<std::uint32_t>(::crc32_z(
        0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
    old.append(reinterpret_cast<const char*>(&length), sizeof length);
    old.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    old += content;
    at += 12 + length;
  }
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << old;
  write(old.size(), 3, 5);
  std::uint64_t whole = 0;
  const auto records = read(whole);
  ASSERT_EQ(records.size(), 4u);
  for (int i = 0; i < 4; ++i) expect_record(records[static_cast<std::size_t>(i)], i + 1);
  std::filesystem::resize_file(path_, old.size() - 1);  // Cut by a crash.
  EXPECT_EQ(read(whole).size(), 1u);
}

TEST_F(InputLogTest, ASectorThatWasNeverWrittenIsTheEnd) {
  const std::uint64_t first = write(0, 300, 301);
  const std::uint64_t all = write(first, 301, 302);
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  const std::uint64_t sector = (first + 1023) / 512 * 512;
  ASSERT_LT(sector + 512, all);
  file.seekp(static_cast<std::streamoff>(sector));
  file << std::string(512, '\0');
  file.flush();
  std::uint64_t whole = 0;
  EXPECT_EQ(read(whole).size(), 1u);
  EXPECT_EQ(whole, first);
}

TEST_F(InputLogTest, ZerosAtTheEndAreNoRecords) {
  const std::uint64_t written = write(0, 0, 2);
  std::ofstream(path_, std::ios::binary | std::ios::app) << std::string(100, '\0');
  std::uint64_t whole = 0;
  EXPECT_EQ(read(whole).size(), 2u);
  EXPECT_EQ(whole, written);
}

}  // namespace
}  // namespace ouro::serving
