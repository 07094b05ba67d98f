// A value as code that compares and prints values sees it, whichever class owns it.
#pragma once

#include <ephost/element_type.h>
#include <ephost/types/value.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost {

struct ValueView {
  ValueKind kind = ValueKind::kNone;
  // The type of a tensor's elements, of those in a sequence, or of a map's keys.
  ElementType type = ElementType::kUndefined;
  std::string_view type_name;  // ONNX's
  uint32_t bits = 0;           // of one element; 0 for text
  uint64_t count = 0;          // of elements of a dense tensor
  std::vector<int64_t> shape;  // of a tensor, dense or sparse
  // The elements of a dense tensor; borrowed.
  std::span<const std::byte> bytes;
  std::vector<std::string> strings;
  std::vector<ValueView> parts;  // of a sequence; of a map, its keys and its values
};

// The view of an object of class Value, of the host's or of the C++ API's, which has to outlive it.
template <class Value>
[[nodiscard]] ValueView make_view(const Value& value, std::string_view type_name, uint32_t bits) {
  ValueView view;
  view.kind = value.kind();
  view.type = value.element_type();
  view.type_name = type_name;
  view.bits = bits;
  view.shape.assign(value.shape().begin(), value.shape().end());
  if (view.kind != ValueKind::kTensor) return view;
  view.count = value.element_count();
  if (view.type == ElementType::kString) {
    view.strings = value.strings();
  } else {
    view.bytes = value.bytes();
  }
  return view;
}

}  // namespace ephost
