#include "cli/guarded.h"

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <utility>

#include "base/internal_error.h"

namespace ouro::cli {
namespace {

constexpr int kInternalError = 255;

// What was said, with the status.
std::pair<int, std::string> end_of(const auto& run) {
  std::string said;
  const int status = guarded(run, [&](std::string_view what) {
    said = what;
    return kInternalError;
  });
  return {status, said};
}

using End = std::pair<int, std::string>;

TEST(GuardedTest, ACommandThatEndsKeepsItsStatus) {
  EXPECT_EQ(end_of([] { return 1; }), (End{1, ""}));
}

TEST(GuardedTest, AContradictionIsNoVerdict) {
  const auto contradicts = [] {
    insist(false, "the order that the search found is wrong");
    return 0;
  };
  EXPECT_EQ(end_of(contradicts),
            (End{255, "internal error: the order that the search found is wrong"}));
}

TEST(GuardedTest, NorIsAnythingElseThatIsThrown) {
  EXPECT_EQ(end_of([]() -> int { throw std::bad_alloc(); }), (End{255, "out of memory"}));
  EXPECT_EQ(end_of([]() -> int { throw 1; }), (End{255, "internal error"}));
}

}  // namespace
}  // namespace ouro::cli
