#include "base/byte_order.h"

#include <gtest/gtest.h>

namespace ouro {
namespace {

TEST(ByteOrderTest, LittleEndianIsTheLeastSignificantByteFirst) {
  std::string bytes;
  append_little_endian<std::uint16_t>(bytes, 0x0201);
  append_little_endian<std::int64_t>(bytes, -2);
  append_little_endian(bytes, 7);
  EXPECT_EQ(bytes, std::string("\x01\x02\xfe\xff\xff\xff\xff\xff\xff\xff\x07\0\0\0\0\0\0\0", 18));
  EXPECT_EQ(load_little_endian<std::uint16_t>(bytes.data()), 0x0201);
  EXPECT_EQ(load_little_endian<std::int64_t>(bytes.data() + 2), -2);
  EXPECT_EQ(load_little_endian(bytes.data() + 10), 7u);
}

TEST(ByteOrderTest, BigEndianIsTheMostSignificantByteFirst) {
  EXPECT_EQ(load_big_endian("\x01\x02\x03\x04\x05\x06\x07\x08"), 0x0102030405060708u);
}

}  // namespace
}  // namespace ouro
