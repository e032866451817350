#include "ouro/closest.h"

#include <gtest/gtest.h>

#include <array>

namespace ouro {
namespace {

constexpr std::array<std::string_view, 5> kWords{"check", "certify", "convert", "run", "serve"};

TEST(ClosestTest, OneEditOrTwoFindTheWord) {
  EXPECT_EQ(closest("chek", kWords), "check");
  EXPECT_EQ(closest("certifyy", kWords), "certify");
  EXPECT_EQ(closest("konwert", kWords), "convert");
  EXPECT_EQ(closest("check", kWords), "check");
  EXPECT_EQ(closest("eventually", kWords), "");
  EXPECT_EQ(closest("", kWords), "");
}

TEST(ClosestTest, LettersThatChangedPlacesAreOneEdit) {
  EXPECT_EQ(closest("chekc", kWords), "check");
  EXPECT_EQ(closest("hceck", kWords), "check");
  EXPECT_EQ(closest("rnu", kWords), "run");
  EXPECT_EQ(closest("evres", kWords), "") << "two exchanges and more";
}

}  // namespace
}  // namespace ouro
