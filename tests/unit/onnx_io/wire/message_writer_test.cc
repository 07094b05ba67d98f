#include "host/onnx_io/wire/message_writer.h"

#include <gtest/gtest.h>

#include <functional>

namespace ephost::onnx_io::message_writer_test {
namespace {

using Length = MessageWriter::Length;

struct Written {
  std::string bytes;
  std::vector<graph::Blob> parts;
};

Written write(const std::function<void(MessageWriter&)>& encode) {
  MessageWriter writer;
  encode(writer);
  const uint64_t measured = writer.size();
  writer.begin_writing();
  encode(writer);
  EXPECT_EQ(writer.size(), measured);
  Written written{.parts = std::move(writer).take_parts()};
  for (const graph::Blob& part : written.parts) {
    for (const std::byte byte : part.bytes) written.bytes += static_cast<char>(byte);
  }
  EXPECT_EQ(written.bytes.size(), measured);
  return written;
}

TEST(MessageWriter, WritesFields) {
  const Written written = write([](MessageWriter& writer) {
    writer.varint(1, 300);
    writer.fixed32(2, 1.0f);
    writer.bytes(3, "hi");
  });
  EXPECT_EQ(written.bytes, std::string("\x08\xac\x02\x15\x00\x00\x80\x3f\x1a\x02hi", 12));
}

TEST(MessageWriter, WritesNestedMessagesWithTheirLengths) {
  const Written written = write([](MessageWriter& writer) {
    writer.message(1, Length::kNarrow, [&] {
      writer.message(2, Length::kNarrow, [&] { writer.bytes(1, std::string(200, 'x')); });
      writer.message(2, Length::kNarrow, [] {});
    });
  });
  EXPECT_EQ(written.bytes.substr(0, 9), "\x0a\xd0\x01\x12\xcb\x01\x0a\xc8\x01");
  EXPECT_EQ(written.bytes.substr(209), std::string("\x12\x00", 2));
}

TEST(MessageWriter, AWideLengthHasAFixedWidth) {
  const Written written = write([](MessageWriter& writer) {
    writer.message(1, Length::kWide, [&] { writer.varint(1, 1); });
  });
  EXPECT_EQ(written.bytes, std::string("\x0a\x82\x80\x80\x80\x00\x08\x01", 8));
}

graph::Blob payload(size_t size) {
  return graph::make_blob(std::vector<std::byte>(size, std::byte{'p'}));
}

TEST(MessageWriter, CopiesSmallPayloads) {
  const graph::Blob blob = payload(kBorrowThreshold - 1);
  const Written written = write([&](MessageWriter& writer) { writer.payload(9, blob); });
  EXPECT_EQ(written.parts.size(), 1u);
}

TEST(MessageWriter, BorrowsLargePayloads) {
  const graph::Blob blob = payload(kBorrowThreshold);
  const Written written = write([&](MessageWriter& writer) {
    writer.payload(9, blob);
    writer.varint(1, 1);
  });
  ASSERT_EQ(written.parts.size(), 3u);
  EXPECT_EQ(written.parts[1].bytes.data(), blob.bytes.data());
  EXPECT_EQ(written.parts[1].owner, blob.owner);
}

TEST(MessageWriter, AlignsPayloadsFromEveryPosition) {
  const graph::Blob blob = payload(5000);
  for (size_t before = 0; before < 2 * kPayloadAlignment; ++before) {
    const Written written = write([&](MessageWriter& writer) {
      writer.bytes(1, std::string(before, 'b'));
      writer.message(2, Length::kWide, [&] { writer.payload(9, blob); });
    });
    ASSERT_GT(written.bytes.size(), 5000u);
    const size_t start = written.bytes.size() - 5000;
    EXPECT_EQ(start % kPayloadAlignment, 0u) << before;
    EXPECT_EQ(written.bytes.substr(start), std::string(5000, 'p'));
  }
}

TEST(MessageWriter, LeavesPayloadsInNarrowMessagesWhereTheyFall) {
  const graph::Blob blob = payload(5000);
  const Written written = write([&](MessageWriter& writer) {
    writer.message(2, Length::kNarrow, [&] { writer.payload(9, blob); });
  });
  EXPECT_EQ(written.bytes.size(), 5000u + 3 + 3);
}

}  // namespace
}  // namespace ephost::onnx_io::message_writer_test
