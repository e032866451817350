// Predicate reads of which the history does not say what they saw: what is so whatever it was.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "certify/predicate_reads.h"
#include "tests/case_file.h"

namespace ouro::recheck {
namespace {

// Rows j and k: T1 writes n = 1 into both, T2 n = 2. T3 reads, by `ops`.
class OpenPredicates {
 public:
  explicit OpenPredicates(const std::string& ops, std::vector<ReadSight> sights = {})
      : history_(oracle::history_of(R"({"session":1,"ops":[["w","j",{"n":1}],["w","k",{"n":1}]]})"
                                    "\n"
                                    R"({"session":2,"ops":[["w","j",{"n":2}],["w","k",{"n":2}]]})"
                                    "\n"
                                    R"({"session":3,"ops":[)" +
                                    ops + "]}\n")),
        sights_(std::move(sights)) {}

  [[nodiscard]] bool is_impossible() const { return predicates_.is_impossible(read()); }
  // If it may see nothing of T2.
  [[nodiscard]] bool is_impossible_without_t2() const {
    return predicates_.is_impossible(read(), [&](KeyId, AccessId write) {
      return write == kNoAccess || reading_.access(write).txn != TxnId{1};
    });
  }
  // What the versions of k say: "follows T1, precedes T2".
  [[nodiscard]] std::string depends() const {
    std::string out;
    for (const std::size_t t : {0, 1}) {
      const AccessId write = reading_.first(TxnId{t}) + 1;
      const std::string name = " T" + std::to_string(t + 1) + ";";
      if (predicates_.follows(read(), write)) out += "follows" + name;
      if (predicates_.precedes(read(), write)) out += "precedes" + name;
    }
    return out;
  }
  [[nodiscard]] bool is_settled() const { return predicates_.is_settled_read(read()); }
  // Whether T3 may return that if it begins when so many have committed, in order.
  [[nodiscard]] bool fits_behind(std::size_t committed) const {
    PredicateReads::Moments moments;
    moments.begun = {0, 1, committed};
    moments.committed = {0, 1, 2};
    return !predicates_.first_misplaced(moments, PredicateReads::Unseen::Matter).valid();
  }
  [[nodiscard]] bool makes_sense(const ReadSight& sight) const {
    return predicates_.makes_sense(sight);
  }
  [[nodiscard]] OpId read() const { return predicates_.unplaced()[0]; }
  [[nodiscard]] KeyId k() const { return history_.op(OpId{1}).key; }

 private:
  const History history_;
  const std::vector<ReadSight> sights_;
  const Reading reading_ = *Reading::of(history_);
  const std::vector<TxnId> order_{TxnId{0}, TxnId{1}, TxnId{2}};
  const PredicateReads predicates_{reading_, PredicateReads::Seeing::Start, sights_, order_};
};

OpenPredicates aggregated(const std::string& function, const std::string& column,
                          const std::string& result, std::vector<ReadSight> sights = {}) {
  return OpenPredicates(R"(["aggregate",")" + function + "\"," + column + ",true," + result + "]",
                        std::move(sights));
}

TEST(OpenPredicatesTest, ACountIsPossibleBetweenTheFewestAndTheMostRows) {
  EXPECT_FALSE(aggregated("count", "null", "0").is_impossible());
  EXPECT_FALSE(aggregated("count", "null", "2").is_impossible());
  EXPECT_TRUE(aggregated("count", "null", "3").is_impossible());
  EXPECT_TRUE(aggregated("count", "null", "-1").is_impossible());
}

TEST(OpenPredicatesTest, ASumIsPossibleIfSomeVersionsAddUp) {
  for (const char* const result : {"null", "1", "2", "3", "4"}) {
    EXPECT_FALSE(aggregated("sum", R"("n")", result).is_impossible()) << result;
  }
  EXPECT_TRUE(aggregated("sum", R"("n")", "5").is_impossible());
  EXPECT_TRUE(aggregated("sum", R"("n")", "0").is_impossible()) << "of nothing it is null";
  EXPECT_TRUE(aggregated("sum", R"("n")", "4").is_impossible_without_t2());
  EXPECT_FALSE(aggregated("avg", R"("n")", "1.5").is_impossible());
  EXPECT_TRUE(aggregated("avg", R"("n")", "1.25").is_impossible());
}

TEST(OpenPredicatesTest, TheLeastAndTheGreatestMustBeThereAndNothingBeyondThem) {
  EXPECT_FALSE(aggregated("min", R"("n")", "2").is_impossible());
  EXPECT_TRUE(aggregated("min", R"("n")", "3").is_impossible());
  EXPECT_FALSE(aggregated("max", R"("n")", "null").is_impossible());
  EXPECT_TRUE(aggregated("max", R"("n")", "2").is_impossible_without_t2());
}

TEST(OpenPredicatesTest, AResultThatNeedsOneVersionSaysWhereTheReadStands) {
  EXPECT_EQ(aggregated("sum", R"("n")", "4").depends(), "follows T1;follows T2;");
  EXPECT_EQ(aggregated("sum", R"("n")", "null").depends(), "precedes T1;precedes T2;");
  EXPECT_EQ(aggregated("sum", R"("n")", "3").depends(), "follows T1;");
  EXPECT_EQ(aggregated("sum", R"("n")", "2").depends(), "");
}

TEST(OpenPredicatesTest, ASelectSawOfEachOtherRowAVersionThatDoesNotMatch) {
  const OpenPredicates none(R"(["select",{"eq":["n",1]},[]])");
  EXPECT_FALSE(none.is_impossible());
  EXPECT_FALSE(none.is_settled()) << "before T1 or behind T2";
  const OpenPredicates behind(R"(["select",{"ge":["n",1]},[]])");
  EXPECT_TRUE(behind.is_settled()) << "only the initial versions do not match";
  EXPECT_EQ(behind.depends(), "precedes T1;precedes T2;");
}

TEST(OpenPredicatesTest, InAnOrderItSeesWhatIsThereWhenItBegins) {
  EXPECT_TRUE(aggregated("sum", R"("n")", "null").fits_behind(0));
  EXPECT_TRUE(aggregated("sum", R"("n")", "2").fits_behind(1));
  EXPECT_FALSE(aggregated("sum", R"("n")", "3").fits_behind(1)) << "half of T2";
  EXPECT_TRUE(aggregated("sum", R"("n")", "4").fits_behind(2));
  EXPECT_FALSE(aggregated("sum", R"("n")", "2").fits_behind(2));
}

TEST(OpenPredicatesTest, ASightNarrowsWhatItMayHaveSeen) {
  const OpenPredicates plain = aggregated("sum", R"("n")", "2");
  const ReadSight seen{.read = plain.read(), .key = plain.k(), .writer = TxnId{1}, .seen = true};
  ReadSight not_seen = seen;
  not_seen.seen = false;
  EXPECT_TRUE(plain.makes_sense(seen));
  EXPECT_EQ(aggregated("sum", R"("n")", "2", {seen}).depends(), "follows T1;follows T2;");
  EXPECT_TRUE(aggregated("sum", R"("n")", "1", {seen}).is_impossible());
  EXPECT_TRUE(aggregated("sum", R"("n")", "4", {not_seen}).is_impossible());
  EXPECT_TRUE(aggregated("sum", R"("n")", "2", {seen, not_seen}).is_impossible());
  ReadSight wrong = seen;
  wrong.writer = TxnId{2};
  EXPECT_FALSE(plain.makes_sense(wrong)) << "T3 wrote nothing";
  wrong = seen;
  wrong.key = KeyId{99};
  EXPECT_FALSE(plain.makes_sense(wrong));
}

TEST(OpenPredicatesTest, OwnWritesAreSeenInAnyCase) {
  const OpenPredicates own(R"(["w","k",{"n":10}],["aggregate","sum","n",true,10])");
  EXPECT_FALSE(own.is_impossible());
  EXPECT_TRUE(
      OpenPredicates(R"(["w","k",{"n":10}],["aggregate","sum","n",true,2])").is_impossible());
  EXPECT_TRUE(
      OpenPredicates(R"(["w","k",{"n":10}],["select",{"eq":["n",10]},[]])").is_impossible());
}

}  // namespace
}  // namespace ouro::recheck
