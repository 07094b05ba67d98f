// Protobuf's wire format, as far as ONNX uses it: a bounds-checked reader of a message's fields,
// and primitives for writing. Knows no message types; for the payload lifter and the exporter.
//
// This is our own because protobuf's CodedInputStream ends at 2 GiB; a reader over one span of any
// size is shorter than an adapter that feeds it in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ephost::onnx_io {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::span<const std::byte> whole;    // tag, length and value
  std::span<const std::byte> payload;  // the content if kLength, else empty
};

// Iterates over the fields of one message.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> message) : message_(message) {}

  [[nodiscard]] bool done() const { return position_ == message_.size(); }
  [[nodiscard]] size_t position() const { return position_; }
  // Returns the next field; nothing if the bytes are not a field of a known wire type, or end
  // within it. Groups, which ONNX never had, are refused.
  [[nodiscard]] std::optional<WireField> next();

 private:
  std::optional<uint64_t> read_varint();

  std::span<const std::byte> message_;
  size_t position_ = 0;
};

// The number of bytes that `append_varint` adds.
[[nodiscard]] size_t varint_size(uint64_t value);
void append_varint(std::string& out, uint64_t value);
// Appends the same number in exactly `width` bytes, at least `varint_size(value)`: readers accept
// padding, and the width can be known before the value is.
void append_padded_varint(std::string& out, uint64_t value, size_t width);
// Overwrites `width` bytes at `position`.
void patch_padded_varint(std::string& out, size_t position, uint64_t value, size_t width);
[[nodiscard]] constexpr uint64_t wire_tag(uint32_t field, WireType type) {
  return uint64_t{field} << 3 | static_cast<uint64_t>(type);
}

// The width of a length prefix that is reserved before the length is known; holds the length of any
// message that protobuf can parse.
inline constexpr size_t kWideLength = 5;

}  // namespace ephost::onnx_io
