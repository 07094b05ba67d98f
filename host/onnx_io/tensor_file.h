// Single tensors in files of one TensorProto message, as the ONNX backend tests keep inputs and
// expected outputs. Not for tensors of models (import.h). Called by the commands.
#pragma once

#include <filesystem>
#include <string>

#include "ephost/status.h"
#include "host/graph/types.h"

namespace ephost::onnx_io {

struct NamedTensor {
  std::string name;  // may be empty
  graph::Tensor tensor;
};

// External data is looked for in the file's folder. Besides the errors of reading a file:
// INVALID_PROTOBUF for what is no TensorProto, INVALID_GRAPH for a tensor that makes no sense. Both
// name the file.
[[nodiscard]] Result<NamedTensor> read_tensor_file(const std::filesystem::path& path);

// Atomically; the data inside the message. FAIL if protobuf cannot hold it (2 GiB).
[[nodiscard]] Status write_tensor_file(const std::filesystem::path& path,
                                       const NamedTensor& tensor);

}  // namespace ephost::onnx_io
