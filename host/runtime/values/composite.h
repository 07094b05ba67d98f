// The implementation of public Values that are not tensors: parts of sequences and maps, which are
// shared by reference, and the views of all kinds of values in the C ABI. Shared parts are never
// changed; nothing else here is thread-safe.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/bridge/extensions/device.h"
#include "host/graph/types.h"
#include "host/runtime/values/tensor_memory.h"
#include "host/runtime/values/value.h"

namespace ephost::runtime {

// The parts of a sequence, or the keys and the values of a map.
struct Composite {
  std::vector<Value> elements;
  std::vector<eph_value> views;  // of `elements`
  int64_t count = 0;             // the shape of the sequence
};

// Access to what the public class hides.
struct ValueAccess {
  // A tensor whose elements are undefined, in memory of this alignment.
  static Result<Value> allocate(ElementType type, std::vector<int64_t> shape,
                                uint64_t alignment = kAlignment,
                                Sharing sharing = Sharing::kPrivate);
  // As Value::allocate, for a value that is likely to be used by several runs.
  static Result<Value> allocate_for_runs(ElementType type, std::vector<int64_t> shape);
  // See device_value.h.
  // `owner` keeps `data`, which is null for no elements.
  static Value on_device(const bridge::DeviceMemory& memory, std::shared_ptr<void> owner,
                         std::byte* data, ElementType type, std::vector<int64_t> shape);
  static Value wanted_on(const bridge::DeviceMemory& memory);
  static Result<Value> map(Value keys, Value values);
  static Value sequence(std::shared_ptr<Composite> parts, ElementType type);

  // Takes the parts of a sequence or map out of a value.
  static std::shared_ptr<Composite> release(Value& value) {
    return std::static_pointer_cast<Composite>(std::move(value.owner_));
  }

  // Null unless it is a sequence or map, or a tensor of strings.
  static Composite* composite(const Value& value);
  static StringTensor* text(const Value& value);
  static long owner_count(const Value& value) { return value.owner_.use_count(); }
  // False if the value has another owner. If true, all accesses of former owners happen before the
  // call returns, whichever threads they were in.
  static bool is_sole_owner(const Value& value) {
    if (owner_count(value) > 1) return false;
    // Giving up an ownership synchronizes with those given up before; reading their number does
    // not. (A fence would do as well, but ThreadSanitizer does not support fences.)
    std::shared_ptr<void>(value.owner_).reset();
    return true;
  }
  static bool is_borrowed(const Value& value) {
    return value.kind_ == ValueKind::kTensor && value.owner_ == nullptr;
  }
};

// The view of a value in the ABI. It points into the value and stays valid when the value is moved,
// until the value is changed or destroyed. The ABI has one struct for inputs and outputs; inputs
// must not be written through it.
[[nodiscard]] eph_value view_of(const Value& value);

// A copy of the tensor behind a view. OUT_OF_MEMORY where memory runs out.
[[nodiscard]] Result<Value> copy_tensor(const eph_value& tensor);

// `base` with `removed` elements from `position` on replaced by `inserted`; an empty value stands
// for an empty sequence. Only references are copied, and only if `base` has another owner.
// INVALID_ARGUMENT if base is not a sequence, does not have that range, or the elements have
// different types.
[[nodiscard]] Result<Value> splice(Value base, uint64_t position, uint64_t removed,
                                   std::vector<Value> inserted);

// The same value with borrowed tensors replaced by copies. OUT_OF_MEMORY where memory runs out.
[[nodiscard]] Result<Value> own_tensors(Value value);

// Gives an empty sequence the element type of its declared type.
[[nodiscard]] Value with_declared_type(Value value, const graph::ValueType& type);

// Whether the value conforms to a declared type. Tensors in a sequence are compared by element
// type; their shapes are checked when they are taken out.
[[nodiscard]] bool conforms(const eph_value& value, const graph::ValueType& type);

// Whether values of that type are held by reference instead of lying in planned memory.
[[nodiscard]] inline bool is_object(const graph::ValueType& type) {
  return type.kind != graph::ValueKind::kTensor && type.kind != graph::ValueKind::kUnknown;
}

// "float[2,3]", "a sequence of 3 float tensors", "an empty optional": for messages.
[[nodiscard]] std::string describe_value(const eph_value& value);

}  // namespace ephost::runtime
