#include "check/polygraph/session_arcs.h"

#include <gtest/gtest.h>

#include "check/polygraph/polygraph.h"
#include "tests/tiny.h"

namespace ouro {
namespace {

constexpr std::string_view kSession = "T1 @a: w x 1\nT2 @b: w y 1\nT3 @a: r y 1\nT4 @a: w x 2";

std::vector<Arc> arcs_at(Level level, KeptBySessions kept) {
  Tiny t(kSession);
  return session_arcs(Encoding(t.observed(), level, 0, true, 1, Budget()), kept);
}

TEST(SessionArcsTest, EverythingOrCommitsOnly) {
  using Arcs = std::vector<Arc>;
  EXPECT_EQ(arcs_at(Level::Serializable, KeptBySessions::Everything), (Arcs{{0, 2}, {2, 3}}));
  EXPECT_EQ(arcs_at(Level::Serializable, KeptBySessions::Commits), (Arcs{{0, 3}, {2, 3}}))
      << "T3 only reads, and may have missed T1";
  EXPECT_EQ(arcs_at(Level::Si, KeptBySessions::Everything), (Arcs{{1, 4}, {5, 6}}));
  EXPECT_EQ(arcs_at(Level::Si, KeptBySessions::Commits), (Arcs{{1, 5}, {5, 7}}));
}

TEST(SessionArcsTest, WhoOnlyReadsMayHaveMissedTheLastWriterOnly) {
  Tiny t("T1 @a: w x 1\nT2 @a: w x 2\nT3 @a: r y null\nT4 @a: r z null\nT5 @a: w x 3");
  const Encoding encoding(t.observed(), Level::Serializable, 0, true, 1, Budget());
  EXPECT_EQ(session_arcs(encoding, KeptBySessions::Commits),
            (std::vector<Arc>{{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}}));
}

TEST(SessionArcsTest, AssumedArcsCanBeTakenBack) {
  Tiny t(kSession);
  Encoding encoding(t.observed(), Level::Serializable, 0, true, 1, Budget());
  const std::size_t known = encoding.arcs().size();
  encoding.assume_sessions(session_arcs(encoding, KeptBySessions::Everything));
  EXPECT_EQ(encoding.arcs().size(), known + 2);
  EXPECT_TRUE(encoding.sessions());
  encoding.drop_assumed();
  EXPECT_EQ(encoding.arcs().size(), known);
  EXPECT_FALSE(encoding.sessions());
}

TEST(SessionArcsTest, SessionsAreNoReasonForAViolation) {
  // T2 does not see T1 of its session.
  Tiny t("initial 0\nT1 @a: w x 1\nT2 @a: r x 0");
  for (const Level level : {Level::Serializable, Level::Si, Level::Gsi}) {
    EXPECT_EQ(check_polygraph(t.observed(), level, Budget(), {}).outcome, Outcome::Holds);
  }
  EXPECT_EQ(check_polygraph(t.observed(), Level::SessionSi, Budget(), {}).outcome,
            Outcome::Violated);
}

}  // namespace
}  // namespace ouro
