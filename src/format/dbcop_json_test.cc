#include "format/dbcop_json.h"

#include <gtest/gtest.h>

#include "format/format_testing.h"

namespace ouro {
namespace {

constexpr auto kDbcopJson = Format::DbcopJson;

constexpr std::string_view kWhole =
    R"({"params":{"id":0,"n_node":2,"n_variable":2,"n_transaction":1,"n_event":2},
 "info":"db \"x\"","start":"a","end":"",
 "data":[[{"events":[{"Write":{"variable":0,"version":1}},{"Read":{"version":null,"variable":1}}],"committed":true},
  {"committed":false,"events":[["w",0,2],["r","y",18446744073709551615]]}],
 [],[{"events":[],"committed":true}]]})";

TEST(DbcopJsonTest, ReadsBothShapes) {
  const std::string txns = R"({"session":0,"ops":[["w",0,1],["r",1,null]]}
{"session":0,"status":"aborted","ops":[["w",0,2],["r","y",18446744073709551615]]}
{"session":2,"ops":[]}
)";
  const auto history = parse_history(kWhole, {.format = kDbcopJson}, "h.json");
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(native(*history), txns);
  EXPECT_EQ(native_header(*history),
            R"({"ouro":1,"initial":null,"info":{"id":"0","n_node":"2","n_variable":"2",)"
            R"("n_transaction":"1","n_event":"2","info":"db \"x\"","start":"a"}})");
  EXPECT_EQ(history->place(TxnId{1}).to_string(), "h.json:4");
  EXPECT_EQ(history->place(TxnId{2}).to_string(), "h.json:5");
  const std::size_t data = kWhole.find("[[");
  EXPECT_EQ(read_as(kDbcopJson, kWhole.substr(data, kWhole.size() - 1 - data)), txns);
}

TEST(DbcopJsonTest, EveryTruncationIsAnError) {
  for (std::size_t length = 0; length < kWhole.size(); ++length) {
    const auto history = parse_history(kWhole.substr(0, length), {.format = kDbcopJson});
    ASSERT_FALSE(history.ok()) << length;
    EXPECT_TRUE(history.error().line.has_value()) << length;
  }
}

TEST(DbcopJsonTest, ErrorsNameLineAndRemedy) {
  const auto error = [](std::string_view txn) {
    return error_as(kDbcopJson, "[[\n" + std::string(txn) + "]]");
  };
  EXPECT_EQ(error(R"({"events":[["w",0:1]],"committed":true})"),
            "h:2: column 18: expected ',' or ']', found ':'");
  EXPECT_EQ(error(R"({"events":[]})"), "h:2: the transaction lacks \"events\" or \"committed\"");
  EXPECT_EQ(error(R"({"events":[],"commited":true})"),
            "h:2: unexpected field 'commited'; a transaction has \"events\" and \"committed\", "
            "once each");
  EXPECT_EQ(error(R"({"events":[["x",0,1]],"committed":true})"),
            "h:2: unknown event 'x'; expected r or w");
  EXPECT_EQ(error(R"({"events":[["w",0]],"committed":true})"),
            "h:2: the event lacks its variable or its version");
  EXPECT_EQ(error(R"({"events":[["w",0,1,2]],"committed":true})"),
            "h:2: an event has three parts, like [\"r\",0,1]");
  EXPECT_EQ(error(R"({"events":[["w",0,null]],"committed":true})"),
            "h:2: a write needs a version, found null");
  EXPECT_EQ(error(R"({"events":[["w",0,-1]],"committed":true})"),
            "h:2: expected a version: an unsigned integer or null");
  EXPECT_EQ(error(R"({"events":[["w",1.5,1]],"committed":true})"),
            "h:2: expected a variable: an unsigned integer or a string");
  EXPECT_EQ(error(R"({"events":[{"Read":{"variable":1}}],"committed":true})"),
            "h:2: the event lacks its variable or its version");
  EXPECT_EQ(error(R"({"events":[{"Swap":{}}],"committed":true})"),
            "h:2: unknown event 'Swap'; expected Read or Write");
  EXPECT_EQ(error(R"({"events":[{}],"committed":true})"), "h:2: an empty event");
  EXPECT_EQ(error(R"({"events":7,"committed":true})"), "h:2: expected \"events\": an array");
  EXPECT_EQ(error(R"({"events":[],"committed":1})"),
            "h:2: expected true or false for \"committed\"");
  EXPECT_EQ(error_as(kDbcopJson, "{\"params\":{}}"),
            "h:1: the object has no \"data\", the array of sessions");
  EXPECT_EQ(error_as(kDbcopJson, "{\"date\":[]}"),
            "h:1: unknown field 'date'; expected params, info, start, end or data");
  EXPECT_EQ(error_as(kDbcopJson, "{\"data\":[],\"data\":[]}"), "h:1: \"data\" appears twice");
  EXPECT_NE(error_as(kDbcopJson, "[] []"), "no error");
  EXPECT_NE(error_as(kDbcopJson, "7"), "no error");
  EXPECT_NE(error_as(kDbcopJson, std::string(100000, '[')), "no error");
}

TEST(DbcopJsonTest, IsDetected) {
  EXPECT_EQ(claimants(kWhole), "dbcop-json");
  EXPECT_EQ(claimants("[ [ ] , [{ \"committed\":true,\"events\":[]}]]"), "dbcop-json");
  EXPECT_EQ(claimants(R"({"data":[]})"), "dbcop-json");
  EXPECT_EQ(claimants("[]"), "");
  EXPECT_EQ(claimants("[[]]"), "");
  EXPECT_EQ(claimants(R"([{"type":"ok"}])").find("dbcop"), std::string::npos);
  EXPECT_EQ(claimants(R"({"session":1,"ops":[]})"), "native");
}

}  // namespace
}  // namespace ouro
