// Which of the rows that scans returned must be reads.

#include "check/observed/listed_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/case_file.h"

namespace ouro {
namespace {

const std::string kTwoRows = R"({"session":"a","ops":[["w","j",1],["w","k",1]]})"
                             "\n";

// "j k": the keys of the needed rows of all scans.
std::string needed_rows(const std::string& text) {
  const History history = oracle::history_of(text);
  const ListedRows rows(history, 1, Budget());
  EXPECT_TRUE(std::is_sorted(rows.needed().begin(), rows.needed().end()));
  std::string out;
  for (const ScanRow& row : rows.needed()) {
    const KeyVersion version = history.rows(history.predicate_read(row.scan))[row.row];
    out += (out.empty() ? "" : " ") + history.key_label(version.key);
  }
  return out;
}
std::string scanned(const std::string& more) {
  return R"({"session":"b","ops":[["scan",null,null,[["j",1],["k",1]]])" + more + "]}\n";
}

TEST(ListedRowsTest, ARowThatOneCommittedWriteExplainsIsPlain) {
  EXPECT_EQ(needed_rows(kTwoRows + scanned("")), "");
  EXPECT_EQ(needed_rows(R"({"key":"j","initial":1})"
                        "\n"
                        R"({"session":"a","ops":[["w","k",1]]})"
                        "\n" +
                        scanned("")),
            "")
      << "j was there at the start";
}

TEST(ListedRowsTest, ARowThatMayBeWrongOrAmbiguousIsNeeded) {
  const auto also = [](const std::string& status, const std::string& op) {
    return needed_rows(kTwoRows + R"({"session":"c","status":")" + status + R"(","ops":[)" + op +
                       "]}\n" + scanned(""));
  };
  EXPECT_EQ(also("committed", R"(["w","k",1])"), "k") << "two wrote the value";
  EXPECT_EQ(also("committed", R"(["w","k",2])"), "") << "another value changes nothing";
  EXPECT_EQ(needed_rows(R"({"session":"a","status":"unknown","ops":[["w","j",1],["w","k",1]]})"
                        "\n" +
                        scanned("")),
            "j k");
  EXPECT_EQ(needed_rows(R"({"session":"a","ops":[["w","j",1],["w","k",1],["w","k",2]]})"
                        "\n" +
                        scanned("")),
            "k")
      << "it is not the last write of its transaction";
  EXPECT_EQ(needed_rows(scanned("")), "j k") << "nobody wrote them";
}

TEST(ListedRowsTest, ARowWhoseKeyItsTransactionReadOrWroteIsNeeded) {
  EXPECT_EQ(needed_rows(kTwoRows + scanned(R"(,["r","j",1])")), "j");
  EXPECT_EQ(needed_rows(kTwoRows + scanned(R"(,["w","k",5])")), "k");
  EXPECT_EQ(needed_rows(kTwoRows + scanned(R"(,["scan","k","k",[["k",1]]])")), "");
}

TEST(ListedRowsTest, FirstAreTheNewestAndTheOneThatWasOverwrittenFirst) {
  const History history =
      oracle::history_of(R"({"session":"a","ops":[["w","i",1],["w","j",1],["w","k",1]]})"
                         "\n"
                         R"({"session":"a","ops":[["w","j",2]]})"
                         "\n"
                         R"({"session":"b","ops":[["scan",null,null,[["i",1],["j",2],["k",1]]]]})"
                         "\n"
                         R"({"session":"a","ops":[["w","k",2]]})"
                         "\n");
  const ListedRows rows(history, 1, Budget());
  std::string first;
  for (const ScanRow& row : rows.first()) first += std::to_string(row.row);
  EXPECT_EQ(first, "12") << "j is the newest, k was overwritten";
  EXPECT_EQ(rows.writer(history.op(OpId{3}).key, history.op(OpId{3}).value), TxnId{1});
}

TEST(ListedRowsTest, ATidyScanHasItsRowsInOrderAndInRange) {
  const auto is_tidy = [](const std::string& scan) {
    const History history =
        oracle::history_of(kTwoRows + R"({"session":"b","ops":[)" + scan + "]}\n");
    return ListedRows(history, 1, Budget()).is_tidy(OpId{2});
  };
  EXPECT_TRUE(is_tidy(R"(["scan",null,null,[["j",1],["k",1]]])"));
  EXPECT_FALSE(is_tidy(R"(["scan",null,null,[["k",1],["j",1]]])"));
  EXPECT_FALSE(is_tidy(R"(["scan","k",null,[["j",1],["k",1]]])"));
  EXPECT_TRUE(is_tidy(R"(["scan",null,null,[]])"));
}

}  // namespace
}  // namespace ouro
