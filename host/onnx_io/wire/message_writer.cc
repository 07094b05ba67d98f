#include "host/onnx_io/wire/message_writer.h"

#include <cstring>
#include <memory>

namespace ephost::onnx_io {

void MessageWriter::raw(std::string_view content) {
  size_ += content.size();
  if (!is_measuring_) buffer_.append(content);
}

void MessageWriter::raw_varint(uint64_t value, size_t width) {
  size_ += width;
  if (!is_measuring_) append_padded_varint(buffer_, value, width);
}

void MessageWriter::tag(uint32_t field, WireType type) {
  const uint64_t value = wire_tag(field, type);
  raw_varint(value, varint_size(value));
}

void MessageWriter::varint(uint32_t field, uint64_t value) {
  tag(field, WireType::kVarint);
  raw_varint(value, varint_size(value));
}

void MessageWriter::fixed32(uint32_t field, float value) {
  tag(field, WireType::kFixed32);
  char content[sizeof(value)];
  std::memcpy(content, &value, sizeof(value));
  raw({content, sizeof(content)});
}

void MessageWriter::bytes(uint32_t field, std::string_view content) {
  tag(field, WireType::kLength);
  raw_varint(content.size(), varint_size(content.size()));
  raw(content);
}

// Aligns the payload with empty fields in front of its own tag and length. Each takes two bytes
// (the relevant field numbers have a one-byte tag), or three with a length padded to two bytes.
void MessageWriter::align_payload(uint32_t field, uint64_t size) {
  const size_t length_width = varint_size(size);
  const uint64_t start = size_ + 1 + length_width;
  uint64_t gap = (kPayloadAlignment - start % kPayloadAlignment) % kPayloadAlignment;
  if (gap == 1) gap += kPayloadAlignment;
  if (gap % 2 == 1) {
    tag(field, WireType::kLength);
    raw_varint(0, 2);
    gap -= 3;
  }
  for (; gap > 0; gap -= 2) bytes(field, {});
  tag(field, WireType::kLength);
  raw_varint(size, length_width);
}

void MessageWriter::payload(uint32_t field, const graph::Blob& content) {
  const void* data = content.bytes.data();
  const std::string_view text(static_cast<const char*>(data), content.bytes.size());
  if (text.size() < kBorrowThreshold) {
    bytes(field, text);
    return;
  }
  if (open_narrow_ == 0) {
    align_payload(field, text.size());
  } else {
    tag(field, WireType::kLength);
    raw_varint(text.size(), varint_size(text.size()));
  }
  size_ += text.size();
  if (is_measuring_) return;
  flush();
  parts_.push_back(content);
}

// Adds the size of the length prefix when it is known: at once for a wide one, when the message is
// closed for a narrow one.
size_t MessageWriter::open(Length length) {
  if (is_measuring_) {
    lengths_.push_back(0);
    if (length == Length::kWide) size_ += kWideLength;
    return lengths_.size() - 1;
  }
  const uint64_t size = lengths_[next_length_++];
  raw_varint(size, length == Length::kWide ? kWideLength : varint_size(size));
  return 0;
}

void MessageWriter::close(size_t slot, Length length, uint64_t size) {
  lengths_[slot] = size;
  if (length == Length::kNarrow) size_ += varint_size(size);
}

void MessageWriter::begin_writing() {
  is_measuring_ = false;
  size_ = 0;
}

void MessageWriter::flush() {
  if (buffer_.empty()) return;
  auto owner = std::make_shared<const std::string>(std::move(buffer_));
  parts_.push_back({.bytes = std::as_bytes(std::span(*owner)), .owner = owner});
  buffer_ = {};
}

std::vector<graph::Blob> MessageWriter::take_parts() && {
  flush();
  return std::move(parts_);
}

}  // namespace ephost::onnx_io
