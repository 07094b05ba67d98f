// random_graph.h: random valid models, made node by node. Every node is evaluated on bounded
// numbers as soon as it is added, and stays only if all implementations must closely agree about
// its result. So values, shapes and rounding errors are known while further nodes are chosen:
// bounds are chosen so that they clip, denominators so that they are not zero. Models with open
// extents are evaluated on several sets of extents at once, and a node stays only if it is valid
// for all of them.
#pragma once

#include <onnx/onnx_pb.h>

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/conformance/random/evaluate/evaluate.h"
#include "host/conformance/random/numbers/dice.h"

namespace ephost::conformance {

// A model and its inputs: one set, or several sets of different extents.
struct Case {
  onnx::ModelProto model;
  std::vector<BoundedValues> inputs;
};

// The same seed makes the same case.
[[nodiscard]] Case make_random_case(uint64_t seed);

// A node that is being put together.
class Draft {
 public:
  explicit Draft(const char* op_type, const std::vector<std::string>& inputs = {});

  Draft& read(const std::string& input);
  // Each type has a name of its own, so that a double does not silently become an integer.
  Draft& integer(const char* name, int64_t value);
  Draft& real(const char* name, double value);
  Draft& text(const char* name, const std::string& value);
  Draft& integers(const char* name, const Dims& values);

  onnx::NodeProto node;
};

// The range of the numbers of a constant or an input.
struct Range {
  double low = -2, high = 2;
  bool has_both_signs = false;  // the negatives of the range too

  [[nodiscard]] static Range weights(int64_t terms);
  [[nodiscard]] static Range positive() { return {0.5, 2}; }
  [[nodiscard]] static Range away_from_zero() { return {0.4, 2.5, true}; }
};

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed);

  // The interface of the functions that add nodes. Values are named.
  Dice& dice() { return dice_; }
  [[nodiscard]] int opset() const { return opset_; }
  // A value of floats of such a rank that is not constant: the newest one, or sometimes another.
  std::optional<std::string> pick(std::size_t least_rank = 0, std::size_t most_rank = 6);
  // Any value of floats that is not constant with these extents, other than the one named.
  std::optional<std::string> pick_like(const std::string& value);
  // The dimensions for the first set of inputs.
  [[nodiscard]] const BoundedTensor& first(const std::string& value) const;
  [[nodiscard]] const Dims& dims(const std::string& value) const { return first(value).dims; }
  [[nodiscard]] bool is_open(const std::string& value, std::size_t axis) const;
  // A number between the smallest and the largest one of a value.
  double quantile(const std::string& value, double share) const;

  // A constant: a new or an existing one.
  std::string constant(const Dims& dims, Range range);
  std::string scalar(double number);
  std::string ints(const Dims& integers);
  // A new input of the model, without open extents.
  std::string input(const Dims& dims, Range range);
  // A constant of 8 bits.
  std::string int8(const Dims& dims, const std::vector<int64_t>& integers);
  // Mostly a constant, sometimes an input or quantised.
  std::string weights(const Dims& dims, Range range);

  // The output of a DequantizeLinear node, up to that number; nothing if that is uncertain.
  std::optional<std::string> add_quantized(const Dims& dims, double largest);

  // Adds the node if it is valid and its results are certain, and returns the name of its first
  // output. `unread` further outputs, which the evaluation does not know, have names that are not
  // read.
  std::optional<std::string> add(Draft draft, int outputs = 1, int unread = 0);
  // Integers that are an attribute before `version` and an input since.
  void give_ints(Draft& draft, const char* attribute, const Dims& integers, int version);

  // Adds up to that many nodes and chooses outputs.
  Case grow(int nodes);

 private:
  struct Known {
    std::string name;
    std::vector<BoundedTensor> variants;
    bool is_constant = false;
    onnx::TensorProto::DataType type = onnx::TensorProto::FLOAT;
  };
  [[nodiscard]] const Known& known(const std::string& name) const;
  [[nodiscard]] bool is_certain(const BoundedTensor& tensor) const;
  [[nodiscard]] std::size_t variant_count() const { return extents_.size(); }
  std::string fresh(const char* prefix) { return prefix + std::to_string(next_name_++); }
  void add_first_inputs();
  std::string add_input(const std::vector<int>& dims, Range range);
  double draw(Range range);
  double draw_special();
  void write_constants();
  void write_outputs();
  void write_constant(const Known& constant);
  void make_constant_default(const onnx::TensorProto& tensor);

  Dice dice_;
  int opset_;
  bool has_special_numbers_;   // inputs have numbers that are not finite, very large or very small
  std::vector<Dims> extents_;  // by set of inputs: the open extents
  std::deque<Known> values_;   // references stay valid
  onnx::ModelProto model_;
  std::vector<BoundedValues> inputs_;
  int next_name_ = 0;
};

// Adds one node or several; false where nothing fits.
struct Choice {
  int weight;
  bool (*add)(RandomGraph& graph);
};
using Choices = std::vector<Choice>;
// The operators by their kind, each in a file of its own.
[[nodiscard]] const Choices& elementwise_choices();
[[nodiscard]] const Choices& layout_choices();
[[nodiscard]] const Choices& normalization_choices();
[[nodiscard]] const Choices& pattern_choices();
[[nodiscard]] const Choices& product_choices();
[[nodiscard]] const Choices& window_choices();

}  // namespace ephost::conformance
