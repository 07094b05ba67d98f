// Single values in files with one message, as the ONNX backend tests store inputs and expected
// outputs: TensorProto, SequenceProto, MapProto or OptionalProto. Not for tensors of models
// (import.h). Called by the commands.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <string>
#include <vector>

#include "host/graph/types.h"

namespace ephost::onnx_io {

// The content of a file.
struct ValueData {
  std::string name;  // may be empty
  // A tensor, sequence or map; kUnknown is an empty optional.
  graph::ValueKind kind = graph::ValueKind::kTensor;
  graph::Tensor tensor;
  // The elements of a sequence. For a map: its keys, a tensor of rank 1, and its values, a
  // sequence.
  std::vector<ValueData> parts;
};

// The message does not tell its own type: `kind` is the kind that the model declares for the
// value. External data is looked up in the file's folder. Besides the errors of reading a file,
// returns INVALID_PROTOBUF for a different message, INVALID_GRAPH for an invalid value, and
// NOT_IMPLEMENTED for sparse tensors. All errors name the file.
[[nodiscard]] Result<ValueData> read_value_file(const std::filesystem::path& path,
                                                graph::ValueKind kind = graph::ValueKind::kTensor);

// Writes the value atomically, with its data inside the message, which is an OptionalProto if
// `is_optional`. Returns FAIL if it exceeds the protobuf limit (2 GiB).
[[nodiscard]] Status write_value_file(const std::filesystem::path& path, const ValueData& value,
                                      bool is_optional = false);

}  // namespace ephost::onnx_io
