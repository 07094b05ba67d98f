#include "host/onnx_io/wire/wire.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace ephost::onnx_io::wire_test {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Wire, ReadsFieldsOfEveryType) {
  using namespace std::string_view_literals;
  const std::string_view message =
      "\x08\x96\x01"
      "\x11\1\2\3\4\5\6\7\x08"
      "\x1a\2hi"
      "\x25\1\2\3\4"sv;
  WireReader reader(bytes_of(message));
  const auto varint = reader.next();
  ASSERT_TRUE(varint);
  EXPECT_EQ(varint->number, 1u);
  EXPECT_EQ(varint->type, WireType::kVarint);
  EXPECT_EQ(varint->whole.size(), 3u);
  const auto fixed64 = reader.next();
  ASSERT_TRUE(fixed64);
  EXPECT_EQ(fixed64->type, WireType::kFixed64);
  EXPECT_EQ(fixed64->whole.size(), 9u);
  const auto text = reader.next();
  ASSERT_TRUE(text);
  EXPECT_EQ(text->number, 3u);
  EXPECT_EQ(text->payload.size(), 2u);
  EXPECT_EQ(text->payload[0], std::byte{'h'});
  const auto fixed32 = reader.next();
  ASSERT_TRUE(fixed32);
  EXPECT_EQ(fixed32->whole.size(), 5u);
  EXPECT_TRUE(reader.done());
}

void expect_malformed(std::string_view message) {
  EXPECT_FALSE(WireReader(bytes_of(message)).next()) << ::testing::PrintToString(message);
}

TEST(Wire, RefusesBytesThatAreNotAField) {
  using namespace std::string_view_literals;
  expect_malformed("\x08"sv);                                              // no value
  expect_malformed("\x08\x80"sv);                                          // truncated value
  expect_malformed("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"sv);      // over 64 bits
  expect_malformed("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv);  // over ten bytes
  expect_malformed("\x11\1\2\3"sv);                                        // truncated fixed64
  expect_malformed("\x25\1\2\3"sv);                                        // truncated fixed32
  expect_malformed("\x1a\3hi"sv);                                          // truncated content
  expect_malformed("\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv);      // length of 2^64 - 1
  expect_malformed("\x0b\x0c"sv);                                          // group
  expect_malformed("\x0f"sv);                                              // no such type
  expect_malformed("\x02\0"sv);                                            // field number 0
  expect_malformed("\x80\x80\x80\x80\x80\x10\0"sv);                        // number over 29 bits
}

TEST(Wire, WritesVarintsThatItReads) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{127}, uint64_t{128},
                               uint64_t{300}, uint64_t{1} << 35, ~uint64_t{0}}) {
    std::string out;
    append_varint(out, value);
    EXPECT_EQ(out.size(), varint_size(value));
    std::string message = "\x08" + out;
    WireReader reader(bytes_of(message));
    EXPECT_TRUE(reader.next());
    EXPECT_TRUE(reader.done());
  }
}

TEST(Wire, PadsAndPatchesVarints) {
  std::string out;
  append_padded_varint(out, 0, kWideLength);
  EXPECT_EQ(out.size(), kWideLength);
  patch_padded_varint(out, 0, 2, kWideLength);
  EXPECT_EQ(out, std::string("\x82\x80\x80\x80\x00", 5));
  const std::string message = "\x0a" + out + "ok";
  const auto field = WireReader(bytes_of(message)).next();
  ASSERT_TRUE(field);
  EXPECT_EQ(field->payload.size(), 2u);
}

}  // namespace
}  // namespace ephost::onnx_io::wire_test
