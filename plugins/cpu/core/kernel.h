// Kernel: base of every kernel of this provider; NodeContext: what one is created from. The base
// checks the arguments of a call against the kernel's table entry, so that a kernel may rely on the
// number, kind and element types of its inputs, and puts the node's name before each failure.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>
#include <ephost/sdk/graph_view.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/cpu/core/dims.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/types.h"
#include "plugins/cpu/core/widening.h"

namespace ephost_cpu {

inline constexpr uint32_t kKindFlags =
    EPH_RULE_TENSOR | EPH_RULE_SEQUENCE | EPH_RULE_MAP | EPH_RULE_OPTIONAL;

struct KernelEntry;
struct OneDnn;

// What all kernels of a provider share.
struct Settings {
  Threads threads;
  std::shared_ptr<const OneDnn> onednn;
};

// e.g. "Conv node 'stem/conv'".
[[nodiscard]] std::string label(std::string_view op_type, std::string_view name);

class NodeContext {
 public:
  NodeContext(const eph::GraphView& graph, uint32_t node, const KernelEntry& entry,
              const Settings& settings)
      : graph_(graph), node_(graph.node(node)), entry_(entry), settings_(settings) {}

  [[nodiscard]] const eph::NodeView& node() const { return node_; }
  [[nodiscard]] const KernelEntry& entry() const { return entry_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] int32_t version() const { return node_.since_version(); }
  [[nodiscard]] bool has_input(std::size_t i) const { return node_.input(i) != EPH_NONE; }
  [[nodiscard]] std::size_t output_count() const { return node_.outputs().size(); }

  // The element type of an input: EPH_ELEMENT_UNDEFINED if unknown, EPH_ELEMENT_FLOAT if it is
  // widened.
  [[nodiscard]] int32_t input_type(std::size_t i) const;
  // Whether an input is a tensor by its declared type; true if that is unknown.
  [[nodiscard]] bool holds_tensor(std::size_t input) const;
  [[nodiscard]] int32_t output_type(std::size_t i) const { return type_of(node_.output(i)); }
  // The size of an input's elements in bytes; nothing for strings, packed types and unknown types.
  [[nodiscard]] std::optional<int64_t> fixed_element_size(std::size_t input) const;
  // The shape of an input; nothing if an extent is not known before the run.
  [[nodiscard]] std::optional<eph::ArrayView<int64_t>> input_extents(std::size_t i) const {
    return static_extents(node_.input(i));
  }
  [[nodiscard]] std::optional<eph::ArrayView<int64_t>> output_extents(std::size_t i) const {
    return static_extents(node_.output(i));
  }
  [[nodiscard]] std::optional<Dims> input_shape(std::size_t i) const;
  // The constant input i; null if it is not constant.
  [[nodiscard]] const eph_value* constant(std::size_t i) const;

  // The constants that `constant` has widened; null if there are none.
  [[nodiscard]] std::unique_ptr<const WidenedConstants> take_widened_constants() {
    return std::move(widened_constants_);
  }

  [[nodiscard]] std::string label() const {
    return ephost_cpu::label(node_.op_type(), node_.name());
  }

 private:
  [[nodiscard]] int32_t type_of(uint32_t value) const {
    return value == EPH_NONE ? EPH_ELEMENT_UNDEFINED : graph_.value(value).element_type();
  }
  [[nodiscard]] std::optional<eph::ArrayView<int64_t>> static_extents(uint32_t value) const;

  const eph::GraphView& graph_;
  eph::NodeView node_;
  const KernelEntry& entry_;
  const Settings& settings_;
  mutable std::unique_ptr<WidenedConstants> widened_constants_;
};

class Kernel : public eph::Computation {
 public:
  explicit Kernel(const NodeContext& context);

  // Keeps the constants that the kernel was created with; may be null.
  void keep(std::unique_ptr<const WidenedConstants> constants) {
    widened_constants_ = std::move(constants);
  }

  void compute(eph::Run& run, eph::State* state) final;
  void describe(eph_computation_info& info) final;

 protected:
  // Computes the outputs that are wanted; at least one is. Inputs and types are as the table entry
  // says. Concurrent calls have different states.
  virtual void run(eph::Run& run, eph::State* state) = 0;

  // To be called by constructors.
  void allow_inplace(uint32_t input, uint32_t output = 0) { inplace_.push_back({input, output}); }
  // The kernel changes the input where it is, and finds it in the output's memory.
  void require_inplace(uint32_t input, uint32_t output = 0) {
    must_share_.push_back({input, output});
  }
  void allow_alias(uint32_t input, uint32_t output = 0) { aliases_.push_back({input, output}); }
  // `offset` is in bytes: of the input within the output, or of the output within the input.
  void allow_input_part(uint32_t input, uint32_t output, int64_t offset) {
    input_parts_.push_back({input, output, static_cast<uint64_t>(offset)});
  }
  void allow_output_part(uint32_t input, uint32_t output, int64_t offset) {
    output_parts_.push_back({input, output, static_cast<uint64_t>(offset)});
  }
  void set_workspace(uint64_t bytes) { workspace_bytes_ = bytes; }
  // Allows in-place computation if the input is known to have the output's shape and type.
  void allow_inplace_if_equal(const NodeContext& context, uint32_t input);

 private:
  void check_arguments(const eph::Run& run) const;
  [[nodiscard]] bool has_halves_to_widen(const eph::Run& run) const;
  void check_kinds(const eph::Run& run) const;

  std::string name_;  // the node's, for messages
  const KernelEntry& entry_;
  std::unique_ptr<const WidenedConstants> widened_constants_;
  const Threads& threads_;  // the provider's
  uint64_t workspace_bytes_ = 0;
  std::vector<eph_slot_pair> inplace_;
  std::vector<eph_slot_pair> must_share_;
  std::vector<eph_slot_pair> aliases_;
  std::vector<eph_slot_part> input_parts_;
  std::vector<eph_slot_part> output_parts_;
};

// Gives output `i`, which must be wanted, that type and shape, and memory for it. Throws if the
// model declares another type.
eph_value& allocate_output(eph::Run& run, uint32_t i, int32_t element_type, const Dims& shape);

template <class T>
[[nodiscard]] T* data(const eph_value& value) {
  return static_cast<T*>(value.data);
}

// The elements of input i; null if it is omitted.
template <class T>
[[nodiscard]] const T* optional_data(const eph::Run& run, uint32_t i) {
  const eph_value* value = run.input(i);
  return value == nullptr ? nullptr : data<const T>(*value);
}

// A tensor for an output that is not a tensor: a copy of the elements of `from` under that shape.
eph_value& make_copy(eph::Run& run, const eph_value& from, const Dims& shape);

// Makes output `i` the input's bytes under another shape; copies nothing if both share memory.
void copy_reshaped(eph::Run& run, const eph_value& from, uint32_t i, const Dims& shape);

// The elements of a tensor of int32 or int64, such as axes or a shape.
[[nodiscard]] Dims read_ints(const eph_value& value);

// The one element of a tensor of int32 or int64.
[[nodiscard]] int64_t read_int(const eph_value& value);

// "<label>: <message>", unless the message names the node already.
[[nodiscard]] std::string with_label(const std::string& label, const char* message);

}  // namespace ephost_cpu
