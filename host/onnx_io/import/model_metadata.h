// The metadata of an encoded model, for what must be known before the model is imported.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ephost/status.h"

namespace ephost::onnx_io {

// ModelProto.metadata_props in file order; nothing else of the model is read. INVALID_PROTOBUF
// where the bytes are no sequence of fields.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> read_model_metadata(
    std::span<const std::byte> model);

}  // namespace ephost::onnx_io
