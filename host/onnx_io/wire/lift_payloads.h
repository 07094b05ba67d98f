// Separation of an encoded ONNX model into its structure and its payloads. Protobuf then parses
// only the structure, whatever the size of the weights, and tensors borrow their payloads from the
// file. Works on the wire format; of ONNX it only knows the field numbers that lead to payloads.
//
// This is our own because libprotobuf 3.21 copies every bytes field when it parses (its Cord fields
// are not available to generated open-source code) and accepts no message of 2 GiB.
//
// A payload is a TensorProto.raw_data or AttributeProto.s of at least `kLiftThreshold` bytes, in
// initializers, attributes and subgraphs. Each is replaced by a record: 16 random bytes that are
// drawn for each call, followed by the payload's index. A file cannot contain such a record, as it
// is older than the draw.
#pragma once

#include <ephost/status.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/cancellation.h"

namespace ephost::onnx_io {

inline constexpr size_t kLiftThreshold = 1024;

struct Skeleton {
  std::string bytes;                                 // the model with records instead of payloads
  std::vector<std::span<const std::byte>> payloads;  // into the model, in file order
  std::array<char, 16> marker{};

  // The payload that a record represents; nothing if `content` is not a record.
  [[nodiscard]] std::optional<std::span<const std::byte>> resolve(std::string_view content) const;
};

// Returns INVALID_PROTOBUF with message kind and byte offset if `model` is not a sequence of
// fields, and INVALID_GRAPH if graphs are nested deeper than graph::kMaxNesting. Nodes that are too
// short to contain a payload are not inspected. Other errors are left to the parser and the
// importer. Returns CANCELLED or DEADLINE_EXCEEDED once cancellation is requested.
[[nodiscard]] Result<Skeleton> lift_payloads(std::span<const std::byte> model,
                                             const Cancellation& cancellation = {});

}  // namespace ephost::onnx_io
