#include "host/onnx_io/wire/wire.h"

namespace ephost::onnx_io {
namespace {

constexpr uint32_t kMaxFieldNumber = (uint32_t{1} << 29) - 1;

}  // namespace

std::optional<uint64_t> WireReader::read_varint() {
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 70; shift += 7) {
    if (done()) return std::nullopt;
    const auto byte = static_cast<uint64_t>(message_[position_++]);
    // The tenth byte may only contain the topmost bit.
    if (shift == 63 && byte > 1) return std::nullopt;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<WireField> WireReader::next() {
  const size_t start = position_;
  const std::optional<uint64_t> tag = read_varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > kMaxFieldNumber) return std::nullopt;
  WireField field{.number = static_cast<uint32_t>(*tag >> 3),
                  .type = static_cast<WireType>(*tag & 7)};
  uint64_t size = 0;
  switch (field.type) {
    case WireType::kVarint:
      if (!read_varint()) return std::nullopt;
      break;
    case WireType::kFixed64:
      size = 8;
      break;
    case WireType::kFixed32:
      size = 4;
      break;
    case WireType::kLength: {
      const std::optional<uint64_t> length = read_varint();
      if (!length) return std::nullopt;
      size = *length;
      break;
    }
    default:
      return std::nullopt;
  }
  if (size > message_.size() - position_) return std::nullopt;
  if (field.type == WireType::kLength) field.payload = message_.subspan(position_, size);
  position_ += size;
  field.whole = message_.subspan(start, position_ - start);
  return field;
}

size_t varint_size(uint64_t value) {
  size_t size = 1;
  while (value >>= 7) ++size;
  return size;
}

void append_varint(std::string& out, uint64_t value) {
  append_padded_varint(out, value, varint_size(value));
}

void append_padded_varint(std::string& out, uint64_t value, size_t width) {
  const size_t position = out.size();
  out.resize(position + width);
  patch_padded_varint(out, position, value, width);
}

void patch_padded_varint(std::string& out, size_t position, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i) {
    const bool last = i + 1 == width;
    out[position + i] = static_cast<char>((value & 0x7f) | (last ? 0 : 0x80));
    value >>= 7;
  }
}

}  // namespace ephost::onnx_io
