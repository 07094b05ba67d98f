#include "host/onnx_io/import/model_metadata.h"

#include "host/onnx_io/wire/wire.h"

namespace ephost::onnx_io {
namespace {

// Field numbers as in onnx.proto.
constexpr uint32_t kMetadataProps = 14;
constexpr uint32_t kKey = 1;
constexpr uint32_t kValue = 2;

// Calls `visit` with each length-delimited field.
template <class Visit>
Status for_each_content(std::span<const std::byte> message, Visit visit) {
  WireReader reader(message);
  while (!reader.done()) {
    const std::optional<WireField> field = reader.next();
    if (!field) return {StatusCode::kInvalidProtobuf, "not an ONNX model, or a damaged one"};
    if (field->type != WireType::kLength) continue;
    EPHOST_RETURN_IF_ERROR(visit(field->number, field->payload));
  }
  return Status::ok_status();
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> read_model_metadata(
    std::span<const std::byte> model) {
  using Content = std::span<const std::byte>;
  std::vector<std::pair<std::string, std::string>> entries;
  EPHOST_RETURN_IF_ERROR(for_each_content(model, [&](uint32_t number, Content entry) -> Status {
    if (number != kMetadataProps) return Status::ok_status();
    auto& stated = entries.emplace_back();
    return for_each_content(entry, [&](uint32_t part, Content text) -> Status {
      const void* data = text.data();
      const std::string content(static_cast<const char*>(data), text.size());
      if (part == kKey) stated.first = content;
      if (part == kValue) stated.second = content;
      return Status::ok_status();
    });
  }));
  return entries;
}

}  // namespace ephost::onnx_io
