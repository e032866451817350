#include "format/native_binary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include "format/binary_sections.h"
#include "history/columns.h"
#include "ouro/history_builder.h"
#include "tests/files.h"

namespace ouro {
namespace {

constexpr std::string_view kEverythingStored =
    R"({"ouro":1,"initial":0,"info":{"database":"db","empty":""}}
{"key":"x","initial":"first"}
{"session":"a","id":"t1","invoked":100,"completed":180,"start_ts":17,"commit_ts":[21,3],"ops":[["r","x",null],["w","x",1],["r","y"]]}
{"session":7,"status":"aborted","ops":[["append","l",3],["r","l",[1,2,3]],["r","l",[]],["r","l",[{"a":1}]]]}
{"session":7,"status":"unknown","ops":[["w",12,9223372036854775807],["w",12,"9223372036854775807"],["d","x",5]]}
{"session":"b","ops":[["scan","a","f",[["b",1],["e",7]]],["scan",null,null,[],{"versions":[["b",null]]}]]}
{"session":"c","ops":[["select",{"and":[{"ge":["c1",0]},{"not":{"le":["@key",10]}},{"in":["c2",[1,"z",null]]},{"is_null":"c0"}]},[["k3",{"c1":4,"c0":1}]]]]}
{"session":"c","ops":[["aggregate","sum","c1",{"between":["c0",1,5]},3,{"versions":[]}]]}
{"session":"c","ops":[["cas","x",1,2,true],["cas","x",null,"new",false]]}
{"session":"v","ops":[["w","b",true],["w","n",-0.25],["w","n",123456789012345678901234567890],["w","f",{"@float":0.1}],["w","k4",{"a":{"@float":"NaN"},"b":false}],["r","l",[1.5]]]}
{"session":null,"ops":[["w",13,1]]}
{"session":null,"ops":[["w",13,2]]}
{"session":"n","sno":-2,"ops":[["w",13,3]]}
{"session":"n","sno":-5,"ops":[["w",13,4]]}
{"session":"v","ops":[["aggregate","avg","c1",true,5.00],["aggregate","avg","c1",true,{"@float":2.5}],["aggregate","max","c1",true]]}
{"key":"x","versions":[1,5,2],"complete":true}
{"key":"x","versions":[["t1"],5],"complete":false}
)";

std::string as_text(const History& history) {
  std::string out;
  EXPECT_TRUE(print_history(history, Format::Native, out).ok());
  return out;
}

std::string binary_of(std::string_view text) {
  const auto history = parse_history(text);
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  std::string out;
  EXPECT_TRUE(print_history(*history, Format::NativeBinary, out).ok());
  return out;
}

TEST(NativeBinaryTest, KeepsEverythingTheTextFormatSays) {
  const auto history = parse_history(binary_of(kEverythingStored));
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(as_text(*history), kEverythingStored);
  EXPECT_EQ(history->session_txns(SessionId{1}).size(), 2u);
}

// Finds columns that were forgotten in for_each_section(), once kEverythingStored fills them. Only
// the places of transactions in the original file are not kept, on purpose.
TEST(NativeBinaryTest, EveryColumnComesBack) {
  const History before = *parse_history(kEverythingStored);
  const History after = *parse_history(binary_of(kEverythingStored));
  HistoryColumns a = columns_of(before);
  const HistoryColumns& b = columns_of(after);
  a.txn_position = {};
  int number = 0;
  for_each_column(
      [&]<class T>(std::span<const T> one, std::span<const T> two) {
        ASSERT_EQ(one.size(), two.size()) << "column " << number;
        if constexpr (std::equality_comparable<T>) {
          EXPECT_TRUE(std::ranges::equal(one, two)) << "column " << number;
        }
        ++number;
      },
      a, b);
}

TEST(NativeBinaryTest, TheSameHistoryGivesTheSameBytes) {
  EXPECT_EQ(binary_of(kEverythingStored), binary_of(kEverythingStored));
}

TEST(NativeBinaryTest, AnEmptyHistoryIsAFile) {
  const auto history = parse_history(binary_of("{\"ouro\":1,\"initial\":null}\n"));
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(history->txn_count(), 0u);
}

// Programs that do not know compare-and-sets must complain of the version, not of a damaged file.
TEST(NativeBinaryTest, OnlyCompareAndSetsNeedTheSecondVersion) {
  const auto version = [](std::string_view text) {
    BinaryHeader header;
    std::memcpy(&header, binary_of(text).data(), sizeof(header));
    return header.version;
  };
  EXPECT_EQ(version(R"({"session":1,"ops":[["w","x",1]]})"), 1u);
  EXPECT_EQ(version(R"({"session":1,"ops":[["cas","x",1,2,false]]})"), 2u);
  EXPECT_EQ(version(R"({"session":null,"ops":[["w","x",1]]})"), 3u);
  EXPECT_EQ(version(R"({"session":1,"level":"rc","ops":[["w","x",1]]})"), 4u);
  EXPECT_EQ(version(R"({"session":1,"sno":3,"ops":[["w","x",1]]})"), 5u);
}

TEST(NativeBinaryTest, HalfACompareAndSetIsRefused) {
  for (const OpKind kind :
       {OpKind::CasRead, OpKind::CasWrite, OpKind::CasFailed, OpKind::CasUnwritten}) {
    HistoryBuilder builder;
    builder.begin_txn(builder.session(1));
    builder.add(kind, builder.key("x"), Value::small(1));
    builder.begin_txn(builder.session(1));
    builder.add(OpKind::CasWrite, builder.key("x"), Value::small(2));
    std::string bytes;
    ASSERT_TRUE(print_history(*std::move(builder).freeze(), Format::NativeBinary, bytes).ok());
    EXPECT_FALSE(parse_history(bytes, {.format = Format::NativeBinary}).ok());
  }
}

// Reads of one list share their elements; those of two keys must not.
TEST(NativeBinaryTest, ListsOfTwoKeysDoNotShareATrunk) {
  const History history = *parse_history(
      R"({"session":1,"ops":[["append","a",1],["append","b",1],["r","a",[1]],["r","b",[1]],["r","a",[1]]]}
)");
  HistoryColumns columns = columns_of(history);
  std::vector<Value> values(columns.op_value.begin(), columns.op_value.end());
  EXPECT_EQ(values[2].trunk(), values[4].trunk());
  EXPECT_NE(values[2].trunk(), values[3].trunk());
  columns.op_value = values;
  const auto read = [&] {
    std::string bytes;
    const History shared = history_of(columns, std::make_shared<History>(history));
    EXPECT_TRUE(print_history(shared, Format::NativeBinary, bytes).ok());
    const auto again = parse_history(bytes);
    return again.ok() ? "" : again.error().to_string();
  };
  EXPECT_EQ(read(), "");
  values[3] = values[2];
  EXPECT_NE(read().find("operation 3 shares the elements of another list"), std::string::npos);
}

TEST(NativeBinaryTest, EveryTruncationIsAnError) {
  const std::string bytes = binary_of(kEverythingStored);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_history(bytes.substr(0, size), {.format = Format::NativeBinary}).ok())
        << size;
  }
}

// Whatever byte is changed, the history is refused or can be used.
TEST(NativeBinaryTest, DamagedBytesNeverCrash) {
  const std::string bytes = binary_of(kEverythingStored);
  std::mt19937 random(7);
  std::size_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto history = parse_history(damaged, {.format = Format::NativeBinary});
    if (history.ok()) {
      as_text(*history);
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(NativeBinaryTest, HostileLengthsAreRefusedAtOnce) {
  std::string bytes = binary_of(kEverythingStored);
  SectionEntry entry;
  std::memcpy(&entry, bytes.data() + sizeof(BinaryHeader), sizeof(entry));
  entry.count = ~std::uint64_t{0} / 16;
  std::memcpy(bytes.data() + sizeof(BinaryHeader), &entry, sizeof(entry));
  const auto history = parse_history(bytes, {}, "h.ouro");
  ASSERT_FALSE(history.ok());
  EXPECT_EQ(
      history.error().to_string(),
      "h.ouro: byte 32: section 1 does not fit the file; the file is damaged, convert it again");
}

// Each level doubles the nodes that a walk visits: 2^40 nodes in a few hundred bytes.
TEST(NativeBinaryTest, PredicatesThatExplodeAreRefused) {
  HistoryBuilder builder;
  builder.begin_txn(builder.session(1));
  PredicateId predicate = builder.always();
  for (int i = 0; i < 40; ++i) {
    const PredicateId twice[] = {predicate, predicate};
    predicate = builder.combine(PredicateKind::And, twice);
  }
  builder.select(predicate, {});
  std::string bytes;
  ASSERT_TRUE(print_history(*std::move(builder).freeze(), Format::NativeBinary, bytes).ok());
  const auto history = parse_history(bytes, {}, "h.ouro");
  ASSERT_FALSE(history.ok());
  EXPECT_EQ(history.error().to_string(),
            "h.ouro: predicates share too many parts; the file is damaged, convert it again");
}

// A file of more than 1 MiB, which several threads read, with more operations than the validation
// looks at together.
std::string large_binary() {
  HistoryBuilder builder;
  for (int i = 0; i < 50000; ++i) {
    builder.begin_txn(builder.session(i % 7));
    builder.write(builder.key(i % 977), builder.integer(i));
    builder.read(builder.key("k"), i % 1000 == 999 ? builder.text("t") : Value::null());
  }
  std::string bytes;
  EXPECT_TRUE(print_history(*std::move(builder).freeze(), Format::NativeBinary, bytes).ok());
  EXPECT_GT(bytes.size(), 1u << 20);
  return bytes;
}

TEST(NativeBinaryTest, AFileIsReadAsMemoryIs) {
  const std::string bytes = large_binary();
  const std::string path = temporary("native_binary_test.ouro");
  std::ofstream(path, std::ios::binary) << bytes;
  const auto wanted = parse_history(bytes);
  ASSERT_TRUE(wanted.ok()) << wanted.error().to_string();
  for (const unsigned threads : {1u, 2u, 5u}) {
    const auto history = read_history(path, {.threads = threads});
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_EQ(as_text(*history), as_text(*wanted));
  }
  std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() - 1);
  const auto truncated = read_history(path);
  ASSERT_FALSE(truncated.ok());
  EXPECT_NE(truncated.error().what.find("the file should have"), std::string::npos);
  std::remove(path.c_str());
}

TEST(NativeBinaryTest, TheFirstBadOperationIsNamedWhateverTheThreads) {
  std::string bytes = large_binary();
  const auto history = parse_history(bytes);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  const auto& keys = columns_of(*history).op_key;
  const std::size_t at =
      bytes.find({reinterpret_cast<const char*>(keys.data()), keys.size_bytes()});
  ASSERT_NE(at, std::string::npos);
  for (const std::size_t op : {99999u, 70001u, 33333u, 0u}) {
    bytes[at + op * sizeof(KeyId) + 2] = 1;  // Key 65536 or more; there are 978.
    for (const unsigned threads : {1u, 2u, 3u, 8u}) {
      const auto damaged = parse_history(bytes, {.threads = threads}, "h.ouro");
      ASSERT_FALSE(damaged.ok());
      EXPECT_EQ(damaged.error().to_string(),
                "h.ouro: operation " + std::to_string(op) +
                    " is inconsistent; the file is damaged, convert it again");
    }
  }
}

TEST(NativeBinaryTest, TextsThatAreNotUtf8AreRefused) {
  for (const std::string_view word : {"first", "database"}) {
    std::string bytes = binary_of(kEverythingStored);
    bytes[bytes.find(word)] = '\xff';
    const auto history = parse_history(bytes);
    ASSERT_FALSE(history.ok()) << word;
    EXPECT_NE(history.error().what.find("is not UTF-8"), std::string::npos);
  }
}

}  // namespace
}  // namespace ouro
