// Separates an encoded ONNX model into its structure and its payloads. Protobuf then parses only
// the structure, whatever the weights weigh, and tensors borrow their payloads from the file. Works
// on the wire format; knows of ONNX only the field numbers that lead to payloads.
//
// A payload is TensorProto.raw_data or AttributeProto.s of at least `kLiftThreshold` bytes, in
// initializers, attributes and subgraphs. Each leaves a record in its place: 16 bytes that are
// drawn at random for each call, then the payload's index. A file cannot contain such a record, as
// it is older than the draw.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/base/cancellation.h"

namespace ephost::onnx_io {

inline constexpr size_t kLiftThreshold = 1024;

struct Skeleton {
  std::string bytes;                                 // the model with records in place of payloads
  std::vector<std::span<const std::byte>> payloads;  // into the model, in file order
  std::array<char, 16> marker{};

  // The payload that a record stands for; nothing if `content` is no record.
  [[nodiscard]] std::optional<std::span<const std::byte>> resolve(std::string_view content) const;
};

// INVALID_PROTOBUF with message kind and byte offset where `model` is no sequence of fields;
// INVALID_GRAPH where graphs nest deeper than graph::kMaxNesting. Nodes that are too short to hold
// a payload are not looked into. What is wrong otherwise is for the parser and the importer to
// find. MODEL_LOAD_CANCELED once that is requested.
[[nodiscard]] Result<Skeleton> lift_payloads(std::span<const std::byte> model,
                                             const Cancellation& cancellation = {});

}  // namespace ephost::onnx_io
