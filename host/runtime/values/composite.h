// Values that are no tensors, behind the public Value: the parts of sequences and maps, shared by
// reference, and how all kinds of values look through the C ABI. Nothing here is thread-safe to
// change; what is shared is never changed.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>
#include <ephost/value.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/graph/types.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {

// The parts of a sequence, or the keys and the values of a map.
struct Composite {
  std::vector<Value> elements;
  std::vector<eph_value> views;  // of `elements`
  int64_t count = 0;             // the shape of the sequence
};

// What the public class does not show.
struct ValueAccess {
  // A tensor whose elements are undefined.
  static Result<Value> allocate(ElementType type, std::vector<int64_t> shape);
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
  // False where somebody else has the value too. What earlier owners did with it is over then, in
  // whatever thread.
  static bool is_sole_owner(const Value& value) {
    if (owner_count(value) > 1) return false;
    // To give up an ownership waits for those given up before; reading their number does not. (A
    // fence would do as well, but ThreadSanitizer does not know fences.)
    std::shared_ptr<void>(value.owner_).reset();
    return true;
  }
  static bool is_borrowed(const Value& value) {
    return value.kind_ == ValueKind::kTensor && value.owner_ == nullptr;
  }
};

// How a value looks through the ABI. The view points into the value and stays right when the value
// is moved, as long as it, or what it was moved to, lives unchanged. Inputs are read only; the ABI
// has one struct for both directions.
[[nodiscard]] eph_value view_of(const Value& value);

// A copy of a tensor that is known by its view. FAIL where memory runs out.
[[nodiscard]] Result<Value> copy_tensor(const eph_value& tensor);

// `base` with `removed` elements from `position` on replaced by `inserted`; no value stands for an
// empty sequence. Nothing but references is copied, and these only where somebody else has `base`.
// INVALID_ARGUMENT where base is no sequence, the range is not in it, or the elements are of
// different kinds.
[[nodiscard]] Result<Value> splice(Value base, uint64_t position, uint64_t removed,
                                   std::vector<Value> inserted);

// The same value with copies in place of borrowed tensors. FAIL where memory runs out.
[[nodiscard]] Result<Value> own_tensors(Value value);

// An empty sequence learns the element type that its declared type states.
[[nodiscard]] Value with_declared_type(Value value, const graph::ValueType& type);

// Whether the value can be one of that declared type. Of the tensors in a sequence the element type
// counts, and not the shape: that is looked at when one comes out of it.
[[nodiscard]] bool conforms(const eph_value& value, const graph::ValueType& type);

// A value of that type is kept by reference rather than in planned memory.
[[nodiscard]] inline bool is_object(const graph::ValueType& type) {
  return type.kind != graph::ValueKind::kTensor && type.kind != graph::ValueKind::kUnknown;
}

// "float[2,3]", "a sequence of 3 float tensors", "an empty optional": for messages.
[[nodiscard]] std::string describe_value(const eph_value& value);

}  // namespace ephost::runtime
