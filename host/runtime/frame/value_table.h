// The run-time values of a frame, by value id: what a step reads and writes. Tensors are views of
// memory that the table does not own; text, and values other than tensors, are kept here. Where a
// value gets its memory from is decided elsewhere (bindings.h, step_outputs.h).
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/program.h"
#include "host/runtime/values/tensor_memory.h"
#include "host/runtime/values/value.h"

namespace ephost::runtime {

// Steps that run in parallel may change different values at the same time. All other use is by one
// thread.
class ValueTable {
 public:
  // Constants have their data from the start.
  explicit ValueTable(const Program& program);
  ValueTable(const ValueTable&) = delete;
  ValueTable& operator=(const ValueTable&) = delete;

  // A value without memory has no data. The reference stays valid as long as the table.
  [[nodiscard]] const eph_value& operator[](graph::ValueId id) const { return values_[id]; }
  [[nodiscard]] eph_value* slot(graph::ValueId id) { return &values_[id]; }

  // Makes the value a tensor in `data`, of the location that the plan gives. `shape` is borrowed.
  void set_tensor(graph::ValueId id, void* data, uint64_t bytes, ElementType type,
                  std::span<const int64_t> shape);
  // Makes the value a view of memory of the caller, of a constant or of an enclosing graph.
  void set_view(graph::ValueId id, const eph_value& view);
  // Keeps the element type that the model declares.
  void clear(graph::ValueId id) { values_[id] = unset(id); }
  // Keeps type and shape.
  void clear_data(graph::ValueId id) { values_[id].data = nullptr; }

  // Whether any value got other memory than before since the last `reset_moved`.
  [[nodiscard]] bool has_moved() const { return has_moved_.load(std::memory_order_relaxed); }
  void reset_moved() { has_moved_.store(false, std::memory_order_relaxed); }

  // A copy of the shape that lasts until the value gets another one.
  [[nodiscard]] std::span<const int64_t> keep_shape(graph::ValueId id,
                                                    std::span<const int64_t> shape);
  // The elements of a value that holds text.
  [[nodiscard]] StringTensor& text(graph::ValueId id);

  // The value if its type is not a tensor's, else null. It is empty while the value is not set.
  [[nodiscard]] const Value* object(graph::ValueId id) const;
  [[nodiscard]] Value* object(graph::ValueId id);
  // `id` is not a tensor by its type.
  void set_object(graph::ValueId id, Value value);
  // Drops the reference to a value that is not a tensor; does nothing for a tensor.
  void release_object(graph::ValueId id);
  // Drops all references; keeps those of graph outputs with `keeps_outputs`.
  void end_run(bool keeps_outputs);

 private:
  [[nodiscard]] eph_value unset(graph::ValueId id) const;

  const Program& program_;
  std::vector<eph_value> values_;
  std::vector<std::vector<int64_t>> shapes_;  // of values with open extents
  std::map<graph::ValueId, Value> objects_;   // has an entry for each of them from the start
  std::atomic<bool> has_moved_{true};
  std::mutex strings_mutex_;  // guards the map, not the text
  std::map<graph::ValueId, StringTensor> strings_;
};

// Whether the model's type admits such a tensor. Open extents admit any.
[[nodiscard]] bool admits_tensor(const graph::ValueType& type, ElementType element,
                                 std::span<const int64_t> shape);

}  // namespace ephost::runtime
