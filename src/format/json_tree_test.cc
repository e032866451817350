#include "format/json_tree.h"

#include <gtest/gtest.h>

namespace ouro {
namespace {

TEST(JsonTreeTest, MembersAreFoundByName) {
  JsonTree tree;
  ASSERT_TRUE(tree.parse(R"({"a":{"x":1},"b":[2,[3],{"c":4}],"n\u0041":"t\"","x":-5.5,"a":7})"));
  EXPECT_EQ(tree.root().member("a").member("x").integer(), 1) << "the first of a name";
  EXPECT_EQ(tree.root().member("nA").text(), "t\"");
  EXPECT_EQ(tree.root().member("x").number(), -5.5);
  EXPECT_EQ(tree.root().member("a").member("x").number(), 1.0);
  std::vector<std::int64_t> numbers;
  tree.root().member("b").for_each([&](JsonTree::Node node) {
    numbers.push_back(node.integer().value_or(node.member("c").integer().value_or(-1)));
  });
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{2, -1, 4}));
}

TEST(JsonTreeTest, WhatIsNotThereOrOfAnotherKindIsNothing) {
  JsonTree tree;
  ASSERT_TRUE(tree.parse(R"({"a":"1","b":1.5,"c":99999999999999999999})"));
  EXPECT_FALSE(tree.root().member("d").exists());
  EXPECT_FALSE(tree.root().member("d").member("e").exists());
  EXPECT_FALSE(tree.root().member("a").integer());
  EXPECT_FALSE(tree.root().member("b").integer());
  EXPECT_FALSE(tree.root().member("c").integer());
  EXPECT_FALSE(tree.root().member("b").text());
  EXPECT_FALSE(tree.root().is_list());
}

TEST(JsonTreeTest, MembersThatAMapHasTwiceAreFound) {
  const auto repeated = [](const char* text) {
    JsonTree tree;
    EXPECT_TRUE(tree.parse(text)) << text;
    return std::string(tree.repeated_member().value_or("-"));
  };
  EXPECT_EQ(repeated(R"({"a":1,"b":{"a":2,"c":[{"a":3},{"a":4}]},"c":5})"), "-");
  EXPECT_EQ(repeated(R"({"a":1,"b":2,"\u0061":3})"), "a");
  EXPECT_EQ(repeated(R"({"a":[1,{"b":{},"c":[],"b":null}]})"), "b");
  EXPECT_EQ(repeated("[1,1]"), "-");
}

TEST(JsonTreeTest, WhatIsNoJsonIsRefused) {
  JsonTree tree;
  for (const char* text : {"", " ", "{", "{\"a\"}", "[1,]", "1 2", "tru", "\"a", "{\"a\":1}}"}) {
    EXPECT_FALSE(tree.parse(text)) << text;
  }
  EXPECT_TRUE(tree.parse("7"));
  EXPECT_EQ(tree.root().integer(), 7);
}

}  // namespace
}  // namespace ouro
