// Fields that were added to ONNX after version 1.12: the parser of such an onnx keeps them as
// unknown fields, that of a newer one knows them. Internal to the importer; forward-declares the
// generated classes instead of including them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onnx {
class AttributeProto;
class FunctionProto;
class NodeProto;
class ValueInfoProto;
}  // namespace onnx

namespace ephost::onnx_io {

// `overload`, of IR version 10. Empty if the message has none.
[[nodiscard]] std::string overload_of(const onnx::NodeProto& node);
[[nodiscard]] std::string overload_of(const onnx::FunctionProto& function);

using Metadata = std::vector<std::pair<std::string, std::string>>;

// `metadata_props`, of IR version 10, in file order. Entries that do not parse are omitted.
[[nodiscard]] Metadata metadata_of(const onnx::NodeProto& node);

// What the host writes into the `metadata_props` of a value whose type the model that it was made
// from does not declare, or not completely.
inline constexpr std::string_view kTypeKey = "ephost.type";
inline constexpr std::string_view kInferredType = "inferred";
[[nodiscard]] bool is_inferred(const onnx::ValueInfoProto& value);

// `attribute_proto`, of IR version 9: the attributes of a function that have a default. Entries
// that do not parse are omitted.
[[nodiscard]] std::vector<onnx::AttributeProto> attribute_defaults(
    const onnx::FunctionProto& function);

}  // namespace ephost::onnx_io
