#include "format/array_cutter.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace ouro {
namespace {

struct Cut {
  std::size_t taken;
  std::uint64_t closed_at;
  bool operator==(const Cut&) const = default;
};

// What ArrayCutter should do, byte by byte. `depth` is the number of brackets open before `text`.
Cut cut_slowly(std::string_view text, int depth) {
  std::size_t taken = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') ++depth;
    if (c != ']' && c != '}') continue;
    if (--depth <= 0) return {text.size(), i + 1};
    if (depth == 1) taken = i + 1;
  }
  return {taken, ArrayCutter::kOpen};
}

Cut cut_fast(std::string_view text) {
  ArrayCutter cutter;
  const std::size_t taken = cutter.cut(text);
  return {taken, cutter.closed_at()};
}

TEST(ArrayCutterTest, CutsBehindTheLastWholeElement) {
  EXPECT_EQ(cut_fast(R"([{"a":1},{"b":[2]},{"c)"), (Cut{18, ArrayCutter::kOpen}));
  EXPECT_EQ(cut_fast(R"([{"a":"}]\"}"},{"b":"]"}])"), (Cut{25, 25}));
  EXPECT_EQ(cut_fast(R"([{"a":[[[)"), (Cut{0, ArrayCutter::kOpen}));
}

TEST(ArrayCutterTest, AgreesWithALoopOverBytes) {
  const unsigned seed = 20240611;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string_view alphabets[] = {"[]{}\"\\ ,ab:1", "{}[]\" ,abcdefghij",
                                        "{{{}}}[]  \",:1234"};
  for (int round = 0; round < 30000; ++round) {
    const std::string_view alphabet = alphabets[random() % 3];
    std::string text = "[";
    if (random() % 2 == 0) text += "[[[[[[[[";
    const std::size_t length = random() % 400;
    while (text.size() < length) text += alphabet[random() % alphabet.size()];
    ASSERT_EQ(cut_fast(text), cut_slowly(text, 0)) << text;
  }
}

TEST(ArrayCutterTest, GoesOnBehindTheLastCut) {
  std::string text = "[";
  for (int i = 0; i < 100; ++i) text += R"({"k":"a\\\"}]","v":[1,2,{"x":3}]},)";
  text.back() = ']';
  ArrayCutter cutter;
  std::string_view rest = text;
  std::size_t taken = 0;
  for (std::size_t size = 50; cutter.closed_at() == ArrayCutter::kOpen; size += 50) {
    const std::string_view piece = rest.substr(0, std::min(size, rest.size()));
    const Cut wanted = cut_slowly(piece, taken == 0 ? 0 : 1);
    const std::size_t cut = cutter.cut(piece);
    ASSERT_EQ(cut, wanted.taken);
    taken += cut;
    rest.remove_prefix(cut);
    ASSERT_LT(size, 100000u);
  }
  EXPECT_EQ(taken, text.size());
  EXPECT_EQ(cutter.closed_at(), text.size());
}

}  // namespace
}  // namespace ouro
