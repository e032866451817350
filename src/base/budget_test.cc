#include "base/budget.h"

#include <gtest/gtest.h>

namespace ouro {
namespace {

Budget::Milliseconds no_time_limit() { return {}; }

TEST(BudgetTest, WorkIsCountedWithoutALimitAndEndsItWithOne) {
  const Budget free;
  free.charge(7);
  free.charge(5);
  EXPECT_EQ(free.spent(), 12u);
  EXPECT_FALSE(free.exhausted());
  EXPECT_FALSE(free.limited());

  const Budget limited(no_time_limit(), nullptr, 0, 12);
  EXPECT_TRUE(limited.limited());
  limited.charge(11);
  EXPECT_FALSE(limited.exhausted());
  limited.charge(1);
  EXPECT_TRUE(limited.exhausted());
  EXPECT_TRUE(limited.out_of_work());
}

TEST(BudgetTest, APartHasItsShareAndChargesTheWhole) {
  const Budget whole(no_time_limit(), nullptr, 0, 1'000'000);
  const Budget part(whole, 4);
  part.charge(249'999);
  EXPECT_FALSE(part.exhausted());
  part.charge(1);
  EXPECT_TRUE(part.exhausted());
  EXPECT_EQ(whole.spent(), 250'000u);
  EXPECT_FALSE(whole.exhausted());

  whole.charge(650'000);
  const Budget rest(whole, 4);  // Less is left than a fourth.
  rest.charge(99'999);
  EXPECT_FALSE(rest.exhausted());
  rest.charge(1);
  EXPECT_TRUE(rest.exhausted());
  EXPECT_TRUE(whole.exhausted());
  EXPECT_FALSE(Budget(whole, 1).exhausted()) << "never nothing at all";
}

TEST(BudgetTest, APartOfSoManyStepsEndsAfterThemOrWithTheWhole) {
  const Budget free;
  const Budget part(free, Steps{50});
  part.charge(49);
  EXPECT_FALSE(part.exhausted());
  part.charge(1);
  EXPECT_TRUE(part.exhausted());
  EXPECT_EQ(free.spent(), 50u);
  EXPECT_FALSE(free.exhausted());

  const Budget whole(no_time_limit(), nullptr, 0, 1'000'000);
  whole.charge(800'000);
  const Budget rest(whole, Steps{500'000});
  rest.charge(200'000);
  EXPECT_TRUE(rest.exhausted());
}

TEST(BudgetTest, PartsOfWhatIsUnlimitedAreUnlimited) {
  const Budget whole;
  const Budget part(whole, 4);
  part.charge(std::uint64_t{1} << 60);
  EXPECT_FALSE(part.exhausted());
}

TEST(BudgetTest, TicksAreChargedWhereOneThreadTicks) {
  const Budget budget(no_time_limit(), nullptr, 0, 100);
  {
    BudgetTicker silent(budget, 8);
    for (int i = 0; i < 1000; ++i) EXPECT_FALSE(silent.tick());
  }
  EXPECT_EQ(budget.spent(), 0u);
  {
    BudgetTicker ticker(budget, 8, 3);
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(ticker.tick());
    EXPECT_EQ(budget.spent(), 24u) << "of eight ticks";
  }
  EXPECT_EQ(budget.spent(), 30u) << "of all";
  BudgetTicker ticker(budget, 8, 1);
  EXPECT_TRUE(ticker.tick(70)) << "as seventy ticks";
  EXPECT_TRUE(ticker.tick()) << "stays true";
}

}  // namespace
}  // namespace ouro
