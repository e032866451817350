#include "format/dbcop_bincode.h"

#include <gtest/gtest.h>

#include "base/byte_order.h"
#include "format/format_testing.h"

namespace ouro {
namespace {

constexpr auto kDbcopBincode = Format::DbcopBincode;

std::string u64(std::uint64_t number) {
  std::string out;
  append_little_endian(out, number);
  return out;
}
std::string text(std::string_view string) { return u64(string.size()) + std::string(string); }
std::string event(bool write, std::uint64_t key, std::uint64_t value, bool success = true) {
  return std::string(1, write ? '\1' : '\0') + u64(key) + u64(value) +
         std::string(1, success ? '\1' : '\0');
}
const std::string kYes(1, '\1');
const std::string kNo(1, '\0');
std::string header(std::string_view info = "db") {
  return u64(1) + u64(2) + u64(3) + u64(4) + u64(5) + text(info) + text("s") + text("");
}

// Two sessions: [w(0,1) r(1,0)] [aborted w(0,2)], and [w(2,0), a failed read].
std::string sample() {
  return header() + u64(2) + u64(2) +                              //
         u64(2) + event(true, 0, 1) + event(false, 1, 0) + kYes +  //
         u64(1) + event(true, 0, 2) + kNo +                        //
         u64(1) + u64(2) + event(true, 2, 0) + event(false, 0, 7, false) + kYes;
}

TEST(DbcopBincodeTest, ReadsSessionsOutcomesAndRemarks) {
  const auto history = parse_history(sample(), {.format = kDbcopBincode}, "h.bincode");
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(native_header(*history),
            R"({"ouro":1,"initial":0,"info":{"id":"1","n_node":"2","n_variable":"3",)"
            R"("n_transaction":"4","n_event":"5","info":"db","start":"s","failed_events":"1"}})");
  EXPECT_EQ(native(*history), R"({"key":2,"initial":null}
{"session":0,"ops":[["w",0,1],["r",1,0]]}
{"session":0,"status":"aborted","ops":[["w",0,2]]}
{"session":1,"ops":[["w",2,0]]}
)");
  EXPECT_EQ(history->place(TxnId{0}).to_string(), "h.bincode: byte 83");
}

TEST(DbcopBincodeTest, EveryTruncationIsAnError) {
  const std::string bytes = sample();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto history = parse_history(bytes.substr(0, length), {.format = kDbcopBincode});
    ASSERT_FALSE(history.ok()) << length;
    EXPECT_TRUE(history.error().offset.has_value()) << length;
  }
  EXPECT_EQ(error_as(kDbcopBincode, bytes.substr(0, bytes.size() - 1)),
            "h: byte 207: the file ends within a transaction's 'success'; it is truncated");
  EXPECT_EQ(error_as(kDbcopBincode, bytes.substr(0, bytes.size() - 2)),
            "h: byte 163: 2 events need at least 18 bytes each, but 35 bytes are left; the file is "
            "truncated, damaged or not dbcop's");
}

TEST(DbcopBincodeTest, NothingMayFollowTheLastTransaction) {
  EXPECT_EQ(error_as(kDbcopBincode, sample() + "xy"),
            "h: byte 208: 2 bytes follow the last transaction; the file is damaged or not dbcop's");
}

TEST(DbcopBincodeTest, HostileCountsAreErrorsNotAllocations) {
  const std::string many = u64(0xffffffffffffffff);
  for (const std::string& bytes :
       {header() + many, header() + u64(1) + many, header() + u64(1) + u64(1) + many + kYes,
        std::string(40, '\0') + many, header() + u64(std::uint64_t{1} << 60)}) {
    EXPECT_NE(error_as(kDbcopBincode, bytes).find("need at least"), std::string::npos);
  }
}

TEST(DbcopBincodeTest, DamageIsNamed) {
  EXPECT_EQ(error_as(kDbcopBincode, header("\xff") + u64(0)),
            "h: byte 48: the text of info is not UTF-8; the file is damaged or not dbcop's");
  EXPECT_EQ(error_as(kDbcopBincode, header("") + u64(1) + u64(1) + u64(0) + "\2"),
            "h: byte 89: a transaction's 'success' must be 0 or 1, found 2; the file is damaged or "
            "not dbcop's");
  std::string bytes = sample();
  bytes[91] = 7;
  EXPECT_EQ(error_as(kDbcopBincode, bytes),
            "h: byte 91: an event's 'write' must be 0 or 1, found 7; the file is damaged or not "
            "dbcop's");
}

TEST(DbcopBincodeTest, WritesWhatItReads) {
  const std::string bytes = header() + u64(3) + u64(0) + u64(2) + u64(0) + kYes + u64(2) +
                            event(true, 0xffffffffffffffff, 0xfffffffffffffffe) +
                            event(false, 5, 0) + kNo + u64(1) + u64(2) + event(true, 6, 0) +
                            event(false, 6, 0) + kYes;
  const auto history = parse_history(bytes, {.format = kDbcopBincode});
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  std::string out;
  const auto report = print_history(*history, kDbcopBincode, out);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_TRUE(report->warnings.empty());
  EXPECT_EQ(out, bytes);
}

TEST(DbcopBincodeTest, WhatIsLeftOutIsWarnedOf) {
  const auto history = parse_history(R"({"ouro":1,"info":{"n_event":"many","who":"me","info":"db"}}
{"session":"a","id":1,"completed":7,"ops":[["r",4,null],["w",4,1],["r",4]]}
)");
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  std::string out;
  const auto report = print_history(*history, kDbcopBincode, out);
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(
      report->warnings,
      (std::vector<std::string>{"the initial value null of 1 key(s) is written as 0, its name here",
                                "1 read(s) without a recorded result are left out",
                                "client clocks are left out", "the remark 'who' is left out",
                                "session names are left out", "transaction names are left out",
                                "the remark 'n_event' is no number and is left out"}));
  EXPECT_EQ(read_as(kDbcopBincode, out), "{\"session\":0,\"ops\":[[\"r\",4,0],[\"w\",4,1]]}\n");
}

TEST(DbcopBincodeTest, RefusesWhatItCannotSay) {
  EXPECT_EQ(
      written_as(kDbcopBincode, R"({"session":1,"status":"unknown","ops":[["w",1,1]]})"),
      "h.jsonl:1: transaction 0 has an unknown outcome, which 'dbcop' cannot say; write 'native' "
      "instead, which can say everything");
  EXPECT_EQ(
      written_as(kDbcopBincode, R"({"session":1,"ops":[["append",1,1]]})"),
      "h.jsonl:1: transaction 0: operation 1 on key 1 appends to a list, which 'dbcop' cannot "
      "say; write 'native' instead, which can say everything");
}

TEST(DbcopBincodeTest, IsDetectedByItsStructure) {
  EXPECT_EQ(claimants(sample()), "dbcop");
  EXPECT_EQ(claimants(sample().substr(0, 150)), "dbcop");
  EXPECT_EQ(claimants(sample().substr(0, 60)), "");
  std::string wrong = sample();
  wrong[91] = 7;
  EXPECT_EQ(claimants(wrong), "");
  EXPECT_EQ(claimants(std::string(200, 'a')), "");
}

}  // namespace
}  // namespace ouro
