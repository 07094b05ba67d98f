// Values in files of one protobuf message each, as the ONNX backend tests keep inputs and expected
// outputs: TensorProto, SequenceProto, MapProto or OptionalProto.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/status.h>
#include <ephost/types/value_file.h>
#include <ephost/value.h>

#include <string>

namespace ephost {
inline namespace v1 {

// The value and its name, which may be empty. External data is looked for in the folder of the
// file. Besides the errors of reading a file: INVALID_PROTOBUF for another message, INVALID_GRAPH
// for an invalid value, NOT_IMPLEMENTED for sparse tensors.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<NamedValue> read_value_file(const std::string& path,
                                                        const ValueForm& form = {}) {
  ephost_value* value = nullptr;
  auto name = detail::take_text([&](char** text) {
    return detail::api().value->read_file(path.c_str(), static_cast<int32_t>(form.kind),
                                          form.is_optional ? 1 : 0,
                                          static_cast<int32_t>(form.element_type), text, &value);
  });
  if (!name.ok()) return std::move(name).status();
  return NamedValue{*std::move(name), Value(value)};
}

// Replaces the file atomically; all data is inside, sparse tensors in dense form. With
// `is_optional` the message is an OptionalProto. FAIL if the value exceeds protobuf's limit of 2
// GiB.
EPHOST_ON_DEMAND
[[nodiscard]] inline Status write_value_file(const std::string& path, const NamedValue& value,
                                             bool is_optional = false) {
  return detail::take_status(detail::api().value->write_file(
      path.c_str(), value.name.c_str(), value.value.handle(), is_optional ? 1 : 0));
}

}  // namespace v1
}  // namespace ephost
