// Values in files of one protobuf message each, as the ONNX backend tests keep inputs and expected
// outputs: TensorProto, SequenceProto, MapProto or OptionalProto.
#pragma once

#include <ephost/status.h>
#include <ephost/types/value_file.h>

#include <filesystem>

#include "host/runtime/values/value.h"

namespace ephost {

// The value and its name, which may be empty. External data is looked for in the folder of the
// file. Besides the errors of reading a file: INVALID_PROTOBUF for another message, INVALID_GRAPH
// for an invalid value, NOT_IMPLEMENTED for sparse tensors.
[[nodiscard]] Result<NamedValue> read_value_file(const std::filesystem::path& path,
                                                 const ValueForm& form = {});

// Replaces the file atomically; all data is inside, sparse tensors in dense form. With
// `is_optional` the message is an OptionalProto. FAIL if the value exceeds protobuf's limit of 2
// GiB.
[[nodiscard]] Status write_value_file(const std::filesystem::path& path, const NamedValue& value,
                                      bool is_optional = false);

}  // namespace ephost
