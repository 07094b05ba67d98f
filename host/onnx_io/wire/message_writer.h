// Writer of protobuf messages as a list of parts: small fields go to buffers, large payloads are
// borrowed from where they are. The same code encodes a message twice: once to measure all lengths,
// then to write. Knows the wire format only; for the exporter.
//
// This is our own because libprotobuf serializes from messages that own a copy of every payload,
// cannot align a payload in the file, and stops at 2 GiB. A test compares the encoder built on this
// writer with protobuf's descriptors, field by field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/graph/types.h"
#include "host/onnx_io/wire/wire.h"

namespace ephost::onnx_io {

// Payloads of at least this size are borrowed, and placed at multiples of `kPayloadAlignment` in
// the file if possible, so that a process that maps the file can use them in place.
inline constexpr size_t kBorrowThreshold = 1024;
inline constexpr uint64_t kPayloadAlignment = 64;

class MessageWriter {
 public:
  // The width of a message's length prefix. A wide prefix has a fixed size: it is used around a
  // payload whose position must be known before the length.
  enum class Length { kNarrow, kWide };

  void varint(uint32_t field, uint64_t value);
  void fixed32(uint32_t field, float value);
  void bytes(uint32_t field, std::string_view content);
  // Like `bytes`. A borrowed payload that is only inside wide messages is aligned: it may be
  // preceded by an empty field of the same number, of which readers keep the last.
  void payload(uint32_t field, const graph::Blob& content);

  template <class Encode>
  void message(uint32_t field, Length length, Encode encode) {
    tag(field, WireType::kLength);
    const size_t slot = open(length);
    const uint64_t start = size_;
    if (length == Length::kNarrow) ++open_narrow_;
    encode();
    if (length == Length::kNarrow) --open_narrow_;
    if (is_measuring_) close(slot, length, size_ - start);
  }

  // Ends measuring: encode the same fields again.
  void begin_writing();

  // The number of bytes encoded so far in this pass.
  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] std::vector<graph::Blob> take_parts() &&;

 private:
  void tag(uint32_t field, WireType type);
  void raw_varint(uint64_t value, size_t width);
  void raw(std::string_view content);
  size_t open(Length length);
  void close(size_t slot, Length length, uint64_t size);
  void align_payload(uint32_t field, uint64_t size);
  void flush();

  bool is_measuring_ = true;
  uint64_t size_ = 0;
  uint32_t open_narrow_ = 0;
  std::vector<uint64_t> lengths_;  // of messages, in the order in which they are opened
  size_t next_length_ = 0;
  std::string buffer_;
  std::vector<graph::Blob> parts_;
};

}  // namespace ephost::onnx_io
