// Outputs of Loop and Scan with one element for each iteration.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/base/memory/system_memory.h"
#include "host/graph/graph.h"
#include "host/runtime/host_step.h"
#include "host/runtime/values/held_value.h"
#include "host/runtime/values/tensor_memory.h"
#include "host/runtime/values/value.h"

namespace ephost::runtime {

// Type and shape of all elements of a stack: those of the first one.
struct ElementForm {
  ElementType type = ElementType::kUndefined;  // while nothing is known
  std::vector<int64_t> shape;
  uint64_t bytes = 0;  // of text: of the views

  [[nodiscard]] bool is_known() const { return type != ElementType::kUndefined; }
  [[nodiscard]] bool is_text() const { return type == ElementType::kString; }
  // NOT_IMPLEMENTED for packed elements that do not fill whole bytes.
  [[nodiscard]] Status set(ElementType new_type, std::span<const int64_t> new_shape);
  // INVALID_ARGUMENT if the value has another type or shape.
  [[nodiscard]] Status check(const eph_value& value) const;
};

// The form of an element by its declared type, for a stack without elements: open extents are 0.
[[nodiscard]] Status set_from_type(ElementForm& form, const graph::ValueType& type);

// An output of a Loop. The number of elements is not known before the end, so they are collected in
// memory that grows, and copied once when the loop ends.
class GrowingStack {
 public:
  // Refuses to grow beyond `limit` bytes, so that an endless loop does not exhaust memory.
  explicit GrowingStack(uint64_t limit = half_of_physical_memory()) : limit_(limit) {}

  // Memory for the next element if its type and shape are known and it can be written in place;
  // else an empty value. OUT_OF_MEMORY where memory runs out.
  [[nodiscard]] Result<Value> place();
  [[nodiscard]] Status append(const Held& element);
  // Gives `output` its value. `declared` is the type of an element, for a stack without elements.
  [[nodiscard]] Status finish(HostStep& step, size_t output, const graph::ValueType& declared);

 private:
  [[nodiscard]] Status reserve_one();
  [[nodiscard]] Status full() const;

  uint64_t limit_;
  ElementForm form_;
  AlignedMemory memory_;
  uint64_t capacity_ = 0;  // in bytes
  uint64_t used_ = 0;
  int64_t count_ = 0;
  std::vector<std::string> texts_;
};

// An output of a Scan. The number of elements is known, so each is written directly to its place.
class FixedStack {
 public:
  // `lengths` are the extents of the stack: one, or batch and sequence for Scan 8. They are
  // inserted at `axis` of the output, which counts from the end if it is negative and is 0 for two
  // lengths. With `padded`, missing elements are zero.
  FixedStack(HostStep& step, size_t output, std::vector<int64_t> lengths, int64_t axis, bool padded)
      : step_(step), output_(output), lengths_(std::move(lengths)), axis_(axis), padded_(padded) {}

  // Allocates the output before the first element if `declared`, the type of an element, is static.
  [[nodiscard]] Status prepare(const graph::ValueType& declared);
  // Memory for the element at `position` if it can be written in place; else an empty value.
  [[nodiscard]] Result<Value> place(uint64_t position) const;
  [[nodiscard]] Status store(uint64_t position, const Held& element);
  // Gives the output its value if there was no element.
  [[nodiscard]] Status finish(const graph::ValueType& declared);

 private:
  [[nodiscard]] Status allocate(ElementType type, std::span<const int64_t> shape);

  HostStep& step_;
  size_t output_;
  std::vector<int64_t> lengths_;
  int64_t axis_;
  bool padded_;
  ElementForm form_;
  std::byte* data_ = nullptr;
  uint64_t outer_ = 1;        // product of the element's extents before the axis
  uint64_t inner_bytes_ = 0;  // bytes after the axis
};

}  // namespace ephost::runtime
