#include "host/onnx_io/wire/lift_payloads.h"

#include <cstring>
#include <random>

#include "host/base/format.h"
#include "host/graph/checks.h"
#include "host/onnx_io/wire/wire.h"

namespace ephost::onnx_io {
namespace {

enum class Message { kModel, kGraph, kNode, kAttribute, kTensor, kSparseTensor };

constexpr std::string_view message_name(Message message) {
  switch (message) {
    case Message::kModel:
      return "ModelProto";
    case Message::kGraph:
      return "GraphProto";
    case Message::kNode:
      return "NodeProto";
    case Message::kAttribute:
      return "AttributeProto";
    case Message::kTensor:
      return "TensorProto";
    case Message::kSparseTensor:
      return "SparseTensorProto";
  }
  return "";
}

// The message in a length-delimited field, if it may contain payloads. Field numbers as in
// onnx.proto.
constexpr std::optional<Message> submessage(Message message, uint32_t field) {
  switch (message) {
    case Message::kModel:
      if (field == 7) return Message::kGraph;
      break;
    case Message::kGraph:
      if (field == 1) return Message::kNode;
      if (field == 5) return Message::kTensor;
      if (field == 15) return Message::kSparseTensor;
      break;
    case Message::kNode:
      if (field == 5) return Message::kAttribute;
      break;
    case Message::kAttribute:
      if (field == 5 || field == 10) return Message::kTensor;
      if (field == 6 || field == 11) return Message::kGraph;
      if (field == 22 || field == 23) return Message::kSparseTensor;
      break;
    case Message::kSparseTensor:
      if (field == 1 || field == 2) return Message::kTensor;
      break;
    case Message::kTensor:
      break;
  }
  return std::nullopt;
}

constexpr bool is_payload(Message message, uint32_t field) {
  return (message == Message::kTensor && field == 9) ||
         (message == Message::kAttribute && field == 4);
}

class Lifter {
 public:
  Lifter(std::span<const std::byte> model, const Cancellation& cancellation)
      : model_(model), cancellation_(cancellation) {
    std::random_device device;
    for (size_t i = 0; i < skeleton_.marker.size(); i += sizeof(uint32_t)) {
      const uint32_t word = device();
      std::memcpy(skeleton_.marker.data() + i, &word, sizeof(word));
    }
  }

  Result<Skeleton> run() && {
    EPHOST_RETURN_IF_ERROR(lift(Message::kModel, model_, 0));
    return std::move(skeleton_);
  }

 private:
  Status lift(Message message, std::span<const std::byte> content, uint32_t depth) {
    if (message == Message::kGraph && ++depth > graph::kMaxNesting) {
      return {StatusCode::kInvalidGraph,
              formatted("graphs are nested more than {} levels deep; restructure the model",
                        graph::kMaxNesting)};
    }
    WireReader reader(content);
    while (!reader.done()) {
      EPHOST_RETURN_IF_ERROR(cancellation_.check());
      const size_t start = reader.position();
      const std::optional<WireField> field = reader.next();
      if (!field) return malformed(message, content.subspan(start));
      EPHOST_RETURN_IF_ERROR(lift_field(message, *field, depth));
    }
    return Status::ok_status();
  }

  Status lift_field(Message message, const WireField& field, uint32_t depth) {
    const auto inner = submessage(message, field.number);
    const bool has_content = field.type == WireType::kLength && !is_short_node(inner, field);
    if (inner && has_content) {
      append_varint(skeleton_.bytes, wire_tag(field.number, WireType::kLength));
      const size_t length_at = skeleton_.bytes.size();
      append_padded_varint(skeleton_.bytes, 0, kWideLength);
      EPHOST_RETURN_IF_ERROR(lift(*inner, field.payload, depth));
      const size_t length = skeleton_.bytes.size() - length_at - kWideLength;
      patch_padded_varint(skeleton_.bytes, length_at, length, kWideLength);
    } else if (is_payload(message, field.number) && field.payload.size() >= kLiftThreshold) {
      append_record(field);
    } else {
      append(field.whole);
    }
    return Status::ok_status();
  }

  // Most nodes are too short to contain a payload.
  static bool is_short_node(std::optional<Message> inner, const WireField& field) {
    return inner == Message::kNode && field.payload.size() < kLiftThreshold;
  }

  void append_record(const WireField& field) {
    const uint64_t index = skeleton_.payloads.size();
    skeleton_.payloads.push_back(field.payload);
    append_varint(skeleton_.bytes, wire_tag(field.number, WireType::kLength));
    append_varint(skeleton_.bytes, skeleton_.marker.size() + sizeof(index));
    skeleton_.bytes.append(skeleton_.marker.data(), skeleton_.marker.size());
    append(std::as_bytes(std::span(&index, 1)));
  }

  void append(std::span<const std::byte> bytes) {
    const void* data = bytes.data();
    skeleton_.bytes.append(static_cast<const char*>(data), bytes.size());
  }

  Status malformed(Message message, std::span<const std::byte> rest) const {
    const auto offset = static_cast<size_t>(rest.data() - model_.data());
    return {
        StatusCode::kInvalidProtobuf,
        formatted("not an ONNX model, or a damaged one: the {} has no valid field at byte {} of {}",
                  message_name(message), offset, model_.size())};
  }

  std::span<const std::byte> model_;
  const Cancellation& cancellation_;
  Skeleton skeleton_;
};

}  // namespace

std::optional<std::span<const std::byte>> Skeleton::resolve(std::string_view content) const {
  uint64_t index = 0;
  if (content.size() != marker.size() + sizeof(index)) return std::nullopt;
  if (std::memcmp(content.data(), marker.data(), marker.size()) != 0) return std::nullopt;
  std::memcpy(&index, content.data() + marker.size(), sizeof(index));
  if (index >= payloads.size()) return std::nullopt;
  return payloads[index];
}

Result<Skeleton> lift_payloads(std::span<const std::byte> model, const Cancellation& cancellation) {
  return Lifter(model, cancellation).run();
}

}  // namespace ephost::onnx_io
