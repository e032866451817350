#include "tap/wire.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ouro::tapping {
namespace {

std::string wire_message(char type, std::string_view body) {
  std::string out;
  put_message(out, type, body);
  return out;
}

TEST(WireTest, MessagesAreCutWhereverTheBytesEnd) {
  const std::string bytes = wire_message('Q', std::string("SELECT 1\0", 9)) + wire_message('S', "");
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    MessageReader reader;
    std::string types, passed;
    for (const std::string& part : {bytes.substr(0, cut), bytes.substr(cut)}) {
      reader.add(part);
      while (const auto piece = reader.next()) {
        types += piece->type;
        passed += piece->bytes;
      }
    }
    EXPECT_EQ(types, "QS");
    EXPECT_EQ(passed, bytes);
  }
}

TEST(WireTest, AMessageThatIsTooLargeComesInPieces) {
  const std::string bytes =
      wire_message('d', std::string(2 * MessageReader::kLargest, 'x')) + wire_message('c', "");
  MessageReader reader;
  std::string passed;
  std::vector<Piece::Kind> kinds;
  for (std::size_t at = 0; at < bytes.size(); at += 500'000) {
    reader.add(std::string_view(bytes).substr(at, 500'000));
    while (const auto piece = reader.next()) {
      passed += piece->bytes;
      kinds.push_back(piece->kind);
    }
  }
  EXPECT_EQ(passed, bytes);
  EXPECT_EQ(kinds.front(), Piece::Kind::Begin);
  EXPECT_EQ(kinds.back(), Piece::Kind::Message);
}

TEST(WireTest, ALengthThatNoMessageHasBreaksTheStream) {
  MessageReader reader;
  reader.add(std::string_view("Q\0\0\0\1xxx", 8));
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.broken());
  EXPECT_EQ(reader.rest().size(), 8U);
}

TEST(WireTest, ABodyThatIsCutShortIsNotOk) {
  Body body(std::string_view("\0\1ab", 4));
  EXPECT_EQ(body.int16(), 1);
  EXPECT_EQ(body.text(), "");
  EXPECT_FALSE(body.ok());
}

}  // namespace
}  // namespace ouro::tapping
