// Single values in files of one message, as the ONNX backend tests keep inputs and expected
// outputs: TensorProto, SequenceProto, MapProto or OptionalProto. Not for tensors of models
// (import.h). Called by the commands.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ephost/status.h"
#include "host/graph/types.h"

namespace ephost::onnx_io {

// What a file holds.
struct ValueData {
  std::string name;  // may be empty
  // A tensor, sequence or map; kUnknown is an optional without content.
  graph::ValueKind kind = graph::ValueKind::kTensor;
  graph::Tensor tensor;
  // The elements of a sequence. Of a map its keys, a tensor of rank 1, and its values, a sequence.
  std::vector<ValueData> parts;
};

// The message says nothing about its own type: `kind` is what the model states of the value.
// External data is looked for in the file's folder. Besides the errors of reading a file:
// INVALID_PROTOBUF for another message, INVALID_GRAPH for a value that makes no sense,
// NOT_IMPLEMENTED for sparse tensors. All name the file.
[[nodiscard]] Result<ValueData> read_value_file(const std::filesystem::path& path,
                                                graph::ValueKind kind = graph::ValueKind::kTensor);

// Atomically; the data inside the message, which is an OptionalProto if `is_optional`. FAIL if
// protobuf cannot hold it (2 GiB).
[[nodiscard]] Status write_value_file(const std::filesystem::path& path, const ValueData& value,
                                      bool is_optional = false);

}  // namespace ephost::onnx_io
