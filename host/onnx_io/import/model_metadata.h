// The metadata of an encoded model, for code that needs it before the model is imported.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ephost::onnx_io {

// Returns ModelProto.metadata_props in file order; reads nothing else of the model.
// INVALID_PROTOBUF if the bytes are not a sequence of fields.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> read_model_metadata(
    std::span<const std::byte> model);

}  // namespace ephost::onnx_io
