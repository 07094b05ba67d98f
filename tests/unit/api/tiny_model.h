// Models of one node as bytes of ONNX, made without the library or protobuf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ephost::test {

// A protobuf field of bytes, fewer than 128, or of a number below 128.
inline std::string proto_bytes(int field, std::string_view bytes) {
  std::string tag(1, static_cast<char>((field << 3) | 2));
  if (field >= 16)
    tag = {static_cast<char>(((field << 3) & 0x7F) | 2 | 0x80), static_cast<char>(field >> 4)};
  // Lengths of up to two bytes.
  if (bytes.size() < 128) return tag + static_cast<char>(bytes.size()) + std::string(bytes);
  return tag + static_cast<char>((bytes.size() & 0x7F) | 0x80) +
         static_cast<char>(bytes.size() >> 7) + std::string(bytes);
}
inline std::string proto_number(int field, int number) {
  std::string tag(1, static_cast<char>(field << 3));
  if (field >= 16)
    tag = {static_cast<char>(((field << 3) & 0x7F) | 0x80), static_cast<char>(field >> 4)};
  return tag + static_cast<char>(number);
}

// float[2]
inline std::string tiny_value(std::string_view name) {
  const std::string shape = proto_bytes(1, proto_number(1, 2));
  const std::string tensor = proto_number(1, 1) + proto_bytes(2, shape);
  return proto_bytes(1, name) + proto_bytes(2, proto_bytes(1, tensor));
}

inline std::string tiny_model_of(const std::string& nodes, const std::string& initializers) {
  const std::string graph = nodes + proto_bytes(2, "tiny") + initializers +
                            proto_bytes(11, tiny_value("x")) + proto_bytes(12, tiny_value("y"));
  return proto_number(1, 8) + proto_bytes(7, graph) + proto_bytes(8, proto_number(2, 17)) +
         proto_bytes(8, proto_bytes(1, "com.microsoft") + proto_number(2, 1));
}

// y = x + w, of two floats each; w is {1, 2}.
inline std::string tiny_add_model() {
  const std::string add =
      proto_bytes(1, "x") + proto_bytes(1, "w") + proto_bytes(2, "y") + proto_bytes(4, "Add");
  const std::string weights = proto_number(1, 2) + proto_number(2, 1) + proto_bytes(8, "w") +
                              proto_bytes(9, std::string_view("\0\0\x80\x3F\0\0\0\x40", 8));
  return tiny_model_of(proto_bytes(1, add), proto_bytes(5, weights));
}

// An EPContext node with an embedded payload of the source "nobody".
inline std::string tiny_context_model() {
  const auto text = [](std::string_view name, std::string_view value) {
    return proto_bytes(5, proto_bytes(1, name) + proto_bytes(4, value) + proto_number(20, 3));
  };
  const auto number = [](std::string_view name, int value) {
    return proto_bytes(5, proto_bytes(1, name) + proto_number(3, value) + proto_number(20, 2));
  };
  const std::string node = proto_bytes(1, "x") + proto_bytes(2, "y") + proto_bytes(4, "EPContext") +
                           number("main_context", 1) + number("embed_mode", 1) +
                           text("ep_cache_context", "payload") + text("source", "nobody") +
                           text("partition_name", "p") + proto_bytes(7, "com.microsoft");
  return tiny_model_of(proto_bytes(1, node), "");
}

}  // namespace ephost::test
