// Outputs of Loop and Scan that hold one element of each iteration.
#pragma once

#include <ephost/status.h>
#include <ephost/value.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/host_step.h"
#include "host/runtime/values/held_value.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {

// Type and shape that all elements of a stack have: those of the first.
struct ElementForm {
  ElementType type = ElementType::kUndefined;  // while nothing is known
  std::vector<int64_t> shape;
  uint64_t bytes = 0;  // of text: of the views

  [[nodiscard]] bool is_known() const { return type != ElementType::kUndefined; }
  [[nodiscard]] bool is_text() const { return type == ElementType::kString; }
  // NOT_IMPLEMENTED for 4-bit elements that do not fill whole bytes.
  [[nodiscard]] Status set(ElementType new_type, std::span<const int64_t> new_shape);
  // INVALID_ARGUMENT where the value has another type or shape.
  [[nodiscard]] Status check(const eph_value& value) const;
};

// What `type` says of an element that was never seen: open extents are 0.
[[nodiscard]] Status set_from_type(ElementForm& form, const graph::ValueType& type);

// An output of a Loop: the number of elements is not known before the end, so that they are
// collected in memory that grows and copied once more when the loop ends.
class GrowingStack {
 public:
  // More than `limit` bytes are refused: a loop without end must not take the machine's memory.
  explicit GrowingStack(uint64_t limit = half_of_physical_memory()) : limit_(limit) {}

  // Memory for the next element, where type and shape are known and can be written in place; else
  // no value. FAIL where memory runs out.
  [[nodiscard]] Result<Value> place();
  [[nodiscard]] Status append(const Held& element);
  // Gives `output` its value; `declared` is the type of an element, for a stack without any.
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

// An output of a Scan: as many elements as the scan has iterations, written where they belong.
class FixedStack {
 public:
  // `lengths` are the extents of the stack: one, or the batch and the sequence of Scan 8. They come
  // at `axis` of the output (negative: from its end; with two lengths 0). `padded` says that not
  // all elements will come: the others are zero.
  FixedStack(HostStep& step, size_t output, std::vector<int64_t> lengths, int64_t axis, bool padded)
      : step_(step), output_(output), lengths_(std::move(lengths)), axis_(axis), padded_(padded) {}

  // Takes the memory of the output beforehand if `declared`, the type of an element, is static.
  [[nodiscard]] Status prepare(const graph::ValueType& declared);
  // Memory for the element at `position`, where it can be written in place; else no value.
  [[nodiscard]] Result<Value> place(uint64_t position) const;
  [[nodiscard]] Status store(uint64_t position, const Held& element);
  // Gives the output its value where no element came.
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
  uint64_t inner_bytes_ = 0;  // of the extents behind it
};

}  // namespace ephost::runtime
