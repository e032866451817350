#include "check/polygraph/misfits.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/tiny.h"

namespace ouro {
namespace {

// Of transactions in that order, by their numbers from zero.
std::size_t misfits_of(std::string_view text, const std::vector<Node>& order) {
  Tiny t(text);
  const Encoding encoding(t.observed(), Level::Serializable, 0, true, 1, Budget());
  return misfits(encoding, encoding.likely_order(order), Budget());
}

constexpr std::string_view kReadersOfOneKey =
    "initial 0\nT1 @a: w x 1\nT2 @b: r x 1\nT3 @c: w x 2\nT4 @d: r x 2";

TEST(MisfitsTest, ThereAreNoneIfEveryReaderComesBeforeTheNextWriter) {
  EXPECT_EQ(misfits_of(kReadersOfOneKey, {0, 1, 2, 3}), 0u);
  EXPECT_EQ(misfits_of(kReadersOfOneKey, {2, 3, 0, 1}), 0u);
}

TEST(MisfitsTest, AReaderBehindTheNextWriterIsOne) {
  EXPECT_EQ(misfits_of(kReadersOfOneKey, {0, 2, 1, 3}), 1u);
}

TEST(MisfitsTest, SoIsAReaderOfTheInitialVersionBehindAWriter) {
  EXPECT_EQ(misfits_of("initial 0\nT1 @a: w x 1\nT2 @b: r x 0", {0, 1}), 1u);
  EXPECT_EQ(misfits_of("initial 0\nT1 @a: w x 1\nT2 @b: r x 0", {1, 0}), 0u);
}

}  // namespace
}  // namespace ouro
