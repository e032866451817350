#include <gtest/gtest.h>

#include "tests/tiny.h"

namespace ouro {
namespace {

TEST(ListOrderTest, TheLongestReadIsTheOrder) {
  const Tiny t("T1: append x 1\nT2: append x 2\nT3: append x 3\nT4: r x [2 1]\nT5: r x [2]");
  EXPECT_EQ(t.version_steps(), "->T2.1, T2.1>T1.1, T1.1 T3.1");
}

TEST(ListOrderTest, WithoutReadsNothingIsKnown) {
  EXPECT_EQ(Tiny("T1: append x 1\nT2: append x 2").version_steps(), "");
}

TEST(ListOrderTest, ReadsThatDisagreeAreIncompatible) {
  const Tiny t("T1: append x 1\nT2: append x 2\nT3: r x [1 2]\nT4: r x [2 1]");
  EXPECT_NE(t.wrong_reads().find("incompatible order"), std::string::npos) << t.wrong_reads();
}

}  // namespace
}  // namespace ouro
