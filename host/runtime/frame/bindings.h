// Bindings of the values of a frame to what a run brings: inputs, captured values, memory for the
// outputs. Types and shapes are checked against the model's, and the outputs collected afterwards.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <span>
#include <vector>

#include "host/graph/graph.h"
#include "host/runtime/frame/device_bindings.h"
#include "host/runtime/frame/frame_memory.h"
#include "host/runtime/frame/value_table.h"
#include "host/runtime/pattern_cache.h"
#include "host/runtime/program.h"
#include "host/runtime/values/held_value.h"
#include "host/runtime/values/value.h"

namespace ephost::runtime {

// Only `allocate_output` and `output` may be called by steps, in parallel for different values.
class Bindings {
 public:
  // Borrows all.
  Bindings(const Program& program, ValueTable& values, const FrameMemory& memory);
  Bindings(const Bindings&) = delete;
  Bindings& operator=(const Bindings&) = delete;

  // One entry for each graph input; null takes the input's default. INVALID_ARGUMENT where a value
  // is missing, has another type or shape than the model declares, or disagrees with another input
  // about an extent that has a name. The values are borrowed until `end_run`.
  [[nodiscard]] Status bind_inputs(std::span<const Value* const> inputs);
  // The same for a body, which also captures values of the enclosing frame. Inputs that are not
  // there take their defaults.
  [[nodiscard]] Status bind_body(const ValueTable& enclosing, std::span<const HeldValue> inputs);
  // The shapes of everything that was bound last.
  [[nodiscard]] const ShapeKey& shape_key() const { return shape_key_; }

  // Binds outputs of known size to the caller's values, which are borrowed until `end_run`. One
  // that does not have the right type and shape is replaced by a value that does, and so is one in
  // memory of an input, unless the program may change that where it is.
  [[nodiscard]] Status bind_outputs(std::span<Value> outputs);
  // Places the values that lie in the buffer of an input, a constant or an output ("followers").
  // Comes after all other bindings.
  void bind_followers();
  // Whether all followers have got their memory, so that no step has to allocate it.
  [[nodiscard]] bool followers_fit() const { return followers_fit_; }

  // Gives a graph output, of which the caller may have brought memory, its type and shape.
  [[nodiscard]] Status allocate_output(graph::ValueId id, ElementType type,
                                       std::span<const int64_t> shape);
  // The caller's value for a graph output.
  [[nodiscard]] Value& output(graph::ValueId id) { return outputs_[output_of_value_[id]]; }
  // Memory on a device that the caller has brought for a value which is copied to an output; null
  // where the caller has brought none of that size.
  [[nodiscard]] std::byte* place_on_device(graph::ValueId id, uint64_t bytes) const {
    return device_.place(id, bytes);
  }

  // After the last step: copies text, and outputs that no step wrote in place.
  [[nodiscard]] Status collect_outputs();
  void end_run();

 private:
  Status bind_input(size_t index, const Value* value);
  Status bind_device_input(size_t index, const Value& value);
  Status bind_default(size_t index);
  Status bind_body_input(size_t index, const HeldValue& held);
  Status bind_captures(const ValueTable& enclosing);
  Status bind_tensor(graph::ValueId id, const eph_value& view);
  Status bind_object(graph::ValueId id, Value value);
  Status check_symbols(graph::ValueId id);
  [[nodiscard]] Status wrong_type(graph::ValueId id, const eph_value& value) const;
  // Whether the run reads memory of the output that must not change.
  [[nodiscard]] bool is_read(size_t output) const;
  Status collect_output(size_t index);
  Status copy_output(graph::ValueId id);

  const Program& program_;
  ValueTable& values_;
  DeviceBindings device_;
  std::vector<size_t> output_of_value_;   // by value id: index of its first graph output
  std::span<const Value* const> inputs_;  // the caller's, by graph input; empty for a body
  std::span<Value> outputs_;              // the same by graph output
  ShapeKey shape_key_;
  std::vector<int64_t> symbol_extents_;  // by symbol; -1 while no input has shown it
  bool followers_fit_ = false;
  bool is_body_ = false;
};

}  // namespace ephost::runtime
