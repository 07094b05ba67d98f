// Values in files of one protobuf message each, as the ONNX backend tests keep inputs and expected
// outputs: TensorProto, SequenceProto, MapProto or OptionalProto.
#pragma once

#include <ephost/element_type.h>
#include <ephost/status.h>
#include <ephost/value.h>

#include <filesystem>

namespace ephost {

// What the message does not state about its value; take it from the model's ValueDescription.
struct ValueForm {
  ValueKind kind = ValueKind::kTensor;
  bool is_optional = false;
  // Of the tensors in a sequence; needed only where it is empty.
  ElementType element_type = ElementType::kUndefined;
};

// The value and its name, which may be empty. External data is looked for in the folder of the
// file. Besides the errors of reading a file: INVALID_PROTOBUF for another message, INVALID_GRAPH
// for an invalid value, NOT_IMPLEMENTED for sparse tensors.
[[nodiscard]] Result<NamedValue> read_value_file(const std::filesystem::path& path,
                                                 const ValueForm& form = {});

// Replaces the file atomically; all data is inside. With `is_optional` the message is an
// OptionalProto. FAIL if the value exceeds protobuf's limit of 2 GiB.
[[nodiscard]] Status write_value_file(const std::filesystem::path& path, const NamedValue& value,
                                      bool is_optional = false);

}  // namespace ephost
