// evaluate.h: ONNX operators on bounded numbers, implemented directly from their definitions. It is
// an oracle independent of the providers: random graphs are made with it, so that their numbers
// stay where implementations must agree, and results are compared with it.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/conformance/random/numbers/bounded.h"

namespace ephost::conformance {

using Dims = std::vector<int64_t>;

// A tensor of floats (`numbers`), or of integers such as axes and shapes.
struct BoundedTensor {
  Dims dims;
  std::vector<Bounded> numbers;
  std::vector<int64_t> integers;
};

// A node that is not valid for these inputs, or whose meaning is not certain.
class NotEvaluable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A node with the values that it reads.
class Invocation {
 public:
  Invocation(const onnx::NodeProto& node, int opset, std::vector<const BoundedTensor*> inputs)
      : node_(node), opset_(opset), inputs_(std::move(inputs)) {}

  [[nodiscard]] const onnx::NodeProto& node() const { return node_; }
  [[nodiscard]] int opset() const { return opset_; }
  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < inputs_.size() && inputs_[i] != nullptr;
  }
  [[nodiscard]] const BoundedTensor& input(std::size_t i) const;

  [[nodiscard]] bool has(const char* name) const { return find(name) != nullptr; }
  [[nodiscard]] int64_t integer(const char* name, int64_t fallback) const;
  [[nodiscard]] double real(const char* name, double fallback) const;
  [[nodiscard]] std::string text(const char* name, const char* fallback) const;
  [[nodiscard]] Dims integers(const char* name, Dims fallback) const;
  // Integers from an attribute, or from that input if it is given.
  [[nodiscard]] Dims integers(const char* name, std::size_t i) const;

 private:
  [[nodiscard]] const onnx::AttributeProto* find(const char* name) const;

  const onnx::NodeProto& node_;
  int opset_;
  std::vector<const BoundedTensor*> inputs_;  // null if omitted
};

// The outputs of a node, except those of other types than float (masks, indices).
using Outputs = std::vector<BoundedTensor>;
[[nodiscard]] Outputs evaluate(const Invocation& invocation);

// All values of a model by name, for these inputs. Throws NotEvaluable.
using BoundedValues = std::map<std::string, BoundedTensor>;
[[nodiscard]] BoundedValues evaluate_model(const onnx::ModelProto& model, BoundedValues inputs);

[[nodiscard]] int opset_of(const onnx::ModelProto& model);
// A float or int64 constant.
[[nodiscard]] BoundedTensor to_bounded(const onnx::TensorProto& tensor);

// ---- For the evaluation itself ------------------------------------------------------------------

// Throws NotEvaluable if an extent is negative or the count exceeds int64.
[[nodiscard]] int64_t element_count(const Dims& dims);
// Throws NotEvaluable unless the condition holds.
void require(bool condition, const char* what);
// The axis counted from the front. Throws NotEvaluable if it is out of range.
[[nodiscard]] std::size_t normalized_axis(int64_t axis, std::size_t rank);
[[nodiscard]] BoundedTensor zeros(Dims dims);
// Row-major strides.
[[nodiscard]] Dims strides_of(const Dims& dims);
// The dimensions to which both broadcast.
[[nodiscard]] Dims broadcast(const Dims& a, const Dims& b);
// For each element of `to`, in order, the position in a tensor `from` that broadcasts to it.
[[nodiscard]] std::vector<std::size_t> broadcast_positions(const Dims& from, const Dims& to);
// Steps through all indices below `dims` in row-major order: false after the last.
bool next_index(Dims& index, const Dims& dims);

using Evaluation = Outputs (*)(const Invocation&);
using Evaluations = std::map<std::string, Evaluation>;
// The operators by their kind, each in a file of its own.
[[nodiscard]] const Evaluations& elementwise_evaluations();
[[nodiscard]] const Evaluations& layout_evaluations();
[[nodiscard]] const Evaluations& normalization_evaluations();
[[nodiscard]] const Evaluations& product_evaluations();
[[nodiscard]] const Evaluations& window_evaluations();

}  // namespace ephost::conformance
