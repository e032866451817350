#include "format/cobra.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "format/format_testing.h"

namespace ouro {
namespace {

constexpr std::uint64_t kInit = 0xbebeebee;
constexpr std::uint64_t kNull = 0xdeadbeef;
constexpr std::uint64_t kSameForAll = 0xabddefee;

std::string record(char kind, std::initializer_list<std::uint64_t> numbers) {
  std::string out(1, kind);
  for (const std::uint64_t number : numbers) {
    for (int i = 7; i >= 0; --i) out += static_cast<char>(number >> (8 * i) & 0xff);
  }
  return out;
}

std::string read_log(std::string_view bytes) {
  HistoryBuilder builder;
  builder.file("T1.log", PlaceUnit::Byte);
  const auto status = parse_cobra_log(bytes, "T1.log", builder.session(1), builder);
  if (!status.ok()) return status.error().to_string();
  const auto history = std::move(builder).freeze();
  return history.ok() ? native(*history) : history.error().to_string();
}

class CobraFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "ouro_" + std::to_string(::getpid()) + "_" + "cobra_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }
  std::string folder_;
};

TEST(CobraTest, AVersionIsItsWriteId) {
  EXPECT_EQ(read_log(record('S', {5}) + record('R', {9, 100, 1, 77}) + record('W', {101, 1, 78}) +
                     record('C', {5}) + record('S', {6}) + record('A', {6})),
            R"({"session":1,"id":5,"ops":[["r",1,100],["w",1,101]]}
{"session":1,"id":6,"status":"aborted","ops":[]}
)");
}

TEST(CobraTest, InitAndNullAreTheInitialVersion) {
  EXPECT_EQ(read_log(record('S', {5}) + record('R', {kInit, kInit, 1, 7}) +
                     record('R', {kNull, kNull, 1, 0}) + record('R', {kInit, kNull, 1, 0}) +
                     record('C', {5})),
            "{\"session\":1,\"id\":5,\"ops\":[[\"r\",1,null],[\"r\",1,null],[\"r\",1,null]]}\n");
}

TEST(CobraTest, WhereAllWritesHaveOneIdTheValueTells) {
  EXPECT_EQ(
      read_log(record('S', {5}) + record('R', {kSameForAll, kSameForAll, 1, 0xfffffffffffffff0}) +
               record('W', {kSameForAll, 1, 78}) + record('C', {5})),
      "{\"session\":1,\"id\":5,\"ops\":[[\"r\",1,18446744073709551600],[\"w\",1,78]]}\n");
}

TEST(CobraTest, DeletesAndControlReadsAreKnown) {
  EXPECT_EQ(read_log(record('S', {5}) + record('W', {0xabcdefab, 1, 0}) +
                     record('R', {4, 0xabcdefab, 1, 0}) + record('R', {kInit, 0x23332333, 2, 0}) +
                     record('C', {5})),
            "{\"session\":1,\"id\":5,\"ops\":[[\"d\",1],[\"r\",1,null],[\"r\",2]]}\n");
}

TEST(CobraTest, ClocksAreFoundWhereTheyWereRecorded) {
  EXPECT_EQ(
      read_log(record('S', {5, 1600000000000}) + record('W', {9, 1, 78}) +
               record('C', {5, 1600000000007}) + record('S', {6, 1600000000008}) +
               record('C', {6, 1600000000009})),
      R"({"session":1,"id":5,"invoked":1600000000000,"completed":1600000000007,"ops":[["w",1,9]]}
{"session":1,"id":6,"invoked":1600000000008,"completed":1600000000009,"ops":[]}
)");
}

TEST(CobraTest, ATransactionThatEndsBeforeItBeginsIsAnError) {
  EXPECT_EQ(read_log(record('S', {5, 1600000000000}) + record('C', {5, 1600000000007}) +
                     record('S', {6, 1600000000008}) + record('C', {6, 1600000000006})),
            "T1.log: byte 34: the transaction completed at 1600000000006, before it was invoked at "
            "1600000000008; correct its clocks, or leave one out");
}

TEST(CobraTest, ErrorsNameTheByteAndTheRemedy) {
  const std::string begin = record('S', {5});
  EXPECT_EQ(
      read_log(begin + "x"),
      "T1.log: byte 9: expected a record S, R, W, C or A, found byte 0x78; the file is damaged "
      "or no Cobra log");
  EXPECT_EQ(read_log(begin),
            "T1.log: byte 9: the file ends within transaction 0x5; it is truncated");
  EXPECT_EQ(read_log(begin + "W123"),
            "T1.log: byte 9: the file ends within a record 'W' of 25 bytes; it is truncated");
  EXPECT_EQ(read_log(begin + begin),
            "T1.log: byte 9: a transaction begins within transaction 0x5; the file is damaged");
  EXPECT_EQ(read_log(record('W', {1, 1, 1})),
            "T1.log: byte 0: a record 'W' outside of a transaction; the file is damaged");
  EXPECT_EQ(read_log(begin + record('C', {6})),
            "T1.log: byte 9: transaction 0x5 ends as 0x6; the file is damaged");
  EXPECT_EQ(read_log(record('S', {5, std::uint64_t{1} << 63}) + record('C', {5, 1})),
            "T1.log: byte 0: a time of more than 63 bits; the file is damaged");
}

TEST(CobraTest, ATruncatedLogIsAnErrorOrEndsBehindATransaction) {
  for (const bool timed : {false, true}) {
    const auto mark = [&](char kind, std::uint64_t id) {
      return timed ? record(kind, {id, 1600000000000}) : record(kind, {id});
    };
    const std::string first = mark('S', 5) + record('W', {9, 1, 78}) + mark('C', 5);
    const std::string bytes = first + mark('S', 6) + record('R', {1, 2, 3, 4}) + mark('C', 6);
    for (std::size_t length = 1; length < bytes.size(); ++length) {
      const std::string read = read_log(bytes.substr(0, length));
      EXPECT_EQ(read.starts_with("T1.log: byte "), length != first.size()) << length << read;
    }
  }
}

TEST_F(CobraFolderTest, EveryLogIsASessionAndSiblingsAreIgnored) {
  const auto txn = [](std::uint64_t id) {
    return record('S', {id}) + record('W', {id, 1, 0}) + record('C', {id});
  };
  write("T10.log", txn(10));
  write("T9.log", txn(90) + txn(91));
  write("T9.debug", "[DEBUG]");
  write("T9.error", "oops");
  write("client.log", txn(7));
  for (const unsigned threads : {1u, 3u}) {
    const auto history = read_history(folder_, {.threads = threads});
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_EQ(native(*history), R"({"session":"client","id":7,"ops":[["w",1,7]]}
{"session":9,"id":90,"ops":[["w",1,90]]}
{"session":9,"id":91,"ops":[["w",1,91]]}
{"session":10,"id":10,"ops":[["w",1,10]]}
)");
    EXPECT_EQ(history->place(TxnId{2}).to_string(), folder_ + "/T9.log: byte 43");
    EXPECT_EQ(history->place(TxnId{3}).to_string(), folder_ + "/T10.log: byte 0");
  }
}

TEST_F(CobraFolderTest, ABadFolderIsAnError) {
  EXPECT_EQ(read_history(folder_, {.format = Format::Cobra}).error().to_string(),
            folder_ + ": no files named like T15.log, so no Cobra history");
  EXPECT_FALSE(read_history(folder_).ok());
  write("T1.log", "");
  EXPECT_TRUE(read_history(folder_).ok());
  write("T1.log.zst", "");
  EXPECT_EQ(read_history(folder_).error().to_string(),
            folder_ + "/T1.log.zst: is of the same session as " + folder_ +
                "/T1.log; remove one of them");
  std::filesystem::remove(folder_ + "/T1.log.zst");
  write("T2.log", "?");
  EXPECT_EQ(read_history(folder_).error().to_string(),
            folder_ +
                "/T2.log: byte 0: expected a record S, R, W, C or A, found byte 0x3f; the file "
                "is damaged or no Cobra log");
}

}  // namespace
}  // namespace ouro
