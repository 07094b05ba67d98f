#include "plugins/dnnl/recipe/shape_rules.h"

#include <algorithm>
#include <string>

#include "plugins/dnnl/recipe/type_rules.h"

namespace ephost_dnnl {
namespace {

void require_inputs(const std::vector<Dims>& inputs, std::size_t least, std::size_t most) {
  require(inputs.size() >= least && inputs.size() <= most,
          "has " + std::to_string(inputs.size()) + " inputs");
}

void require_vector(const Dims& dims, int64_t extent, const char* what) {
  require(dims == Dims{extent}, std::string(what) + " has dimensions " + to_text(dims) +
                                    ", expected [" + std::to_string(extent) + "]");
}

void require_window(const Dims& values, std::size_t rank, int64_t least, const char* what) {
  require(values.size() == rank &&
              std::all_of(values.begin(), values.end(),
                          [&](int64_t value) { return value >= least && value <= kMaxWindow; }),
          std::string(what) + " " + to_text(values) + " don't fit " + std::to_string(rank) +
              " spatial dimensions");
}

// What convolution and pooling share: strides, dilations and pads over the spatial dimensions.
template <class Window>
Dims slide(const Window& window, const Dims& kernel, const Dims& data) {
  const std::size_t rank = data.size() - 2;
  require_window(kernel, rank, 1, "kernel extents");
  require_window(window.strides, rank, 1, "strides");
  require_window(window.dilations, rank, 1, "dilations");
  require_window(window.pads_begin, rank, 0, "pads");
  require_window(window.pads_end, rank, 0, "pads");
  Dims spatial(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const int64_t reach = (kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t padded = data[i + 2] + window.pads_begin[i] + window.pads_end[i];
    require(padded >= reach, "the window is larger than its padded input " + to_text(data));
    require(window.pads_begin[i] < reach && window.pads_end[i] < reach,
            "a window may lie in the padding");
    spatial[i] = (padded - reach) / window.strides[i] + 1;
  }
  return spatial;
}

Dims with_spatial(int64_t batch, int64_t channels, const Dims& spatial) {
  Dims dims = {batch, channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

Dims infer(const Convolution& op, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 2, 3);
  const Dims &data = inputs[0], &weights = inputs[1];
  require(data.size() >= 3 && data.size() <= 5, "data must have 1 to 3 spatial dimensions");
  require(weights.size() == data.size(), "weights and data differ in rank");
  require(op.groups >= 1 && data[1] % op.groups == 0 && weights[0] % op.groups == 0 &&
              weights[1] == data[1] / op.groups,
          "weights " + to_text(weights) + " don't fit data " + to_text(data) + " in " +
              std::to_string(op.groups) + " groups");
  if (inputs.size() == 3) require_vector(inputs[2], weights[0], "bias");
  return with_spatial(data[0], weights[0],
                      slide(op, Dims(weights.begin() + 2, weights.end()), data));
}

Dims infer(const MatMul&, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 2, 3);
  const Dims &a = inputs[0], &b = inputs[1];
  require(a.size() >= 2 && (b.size() == 2 || b.size() == a.size()),
          "the ranks of the factors don't match");
  require(a.back() == b[b.size() - 2],
          "factors " + to_text(a) + " and " + to_text(b) + " differ in their common extent");
  Dims out = a;
  out.back() = b.back();
  for (std::size_t i = 0; b.size() > 2 && i + 2 < a.size(); ++i) {
    require(a[i] == b[i] || a[i] == 1 || b[i] == 1, "batch dimensions don't broadcast");
    out[i] = std::max(a[i], b[i]);
  }
  if (inputs.size() == 3) require_vector(inputs[2], b.back(), "bias");
  return out;
}

Dims infer(const Pooling& op, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 1, 1);
  const Dims& data = inputs[0];
  require(data.size() >= 3 && data.size() <= 5, "data must have 1 to 3 spatial dimensions");
  return with_spatial(data[0], data[1], slide(op, op.kernel, data));
}

Dims infer(const BatchNormalization&, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 5, 5);
  require(inputs[0].size() >= 2 && inputs[0].size() <= 5, "data must have rank 2 to 5");
  for (std::size_t i = 1; i < 5; ++i) require_vector(inputs[i], inputs[0][1], "a statistic");
  return inputs[0];
}

Dims infer(const LayerNormalization&, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 2, 3);
  require(inputs[0].size() >= 2 && inputs[0].size() <= 5, "data must have rank 2 to 5");
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    require_vector(inputs[i], inputs[0].back(), "scale or bias");
  }
  return inputs[0];
}

Dims infer(const Lrn& op, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 1, 1);
  require(inputs[0].size() >= 3 && inputs[0].size() <= 5, "data must have rank 3 to 5");
  require(op.size >= 1 && op.size % 2 == 1 && op.size <= kMaxWindow, "size must be odd");
  return inputs[0];
}

Dims infer(const Softmax& op, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 1, 1);
  require(op.axis >= 0 && op.axis < static_cast<int64_t>(inputs[0].size()), "bad axis");
  require(op.logarithm <= 1, "bad flag");
  return inputs[0];
}

Dims infer(const Eltwise&, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 1, 1);
  return inputs[0];
}

Dims infer(const Binary&, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 2, 2);
  require(broadcasts_to(inputs[1], inputs[0]),
          to_text(inputs[1]) + " doesn't broadcast to " + to_text(inputs[0]));
  return inputs[0];
}

Dims infer(const Reduction& op, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 1, 1);
  require(!op.axes.empty(), "no axes");
  Dims out = inputs[0];
  for (std::size_t i = 0; i < op.axes.size(); ++i) {
    require(op.axes[i] >= 0 && op.axes[i] < static_cast<int64_t>(out.size()) &&
                (i == 0 || op.axes[i - 1] < op.axes[i]),
            "bad axes " + to_text(op.axes));
    out[static_cast<std::size_t>(op.axes[i])] = 1;
  }
  return out;
}

Dims infer(const Concat& op, const std::vector<Dims>& inputs) {
  constexpr std::size_t kMaxInputs = 256;  // the library's argument numbers for them are limited
  require_inputs(inputs, 1, kMaxInputs);
  Dims out = inputs[0];
  require(op.axis >= 0 && op.axis < static_cast<int64_t>(out.size()), "bad axis");
  const auto axis = static_cast<std::size_t>(op.axis);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    Dims expected = out;
    if (inputs[i].size() == out.size()) expected[axis] = inputs[i][axis];
    require(inputs[i] == expected, "inputs differ outside of the axis");
    out[axis] += inputs[i][axis];
  }
  return out;
}

Dims infer(const Conversion&, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 1, 1);
  return inputs[0];
}

Dims infer(const Reshape& op, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 1, 1);
  check_dims(op.dims);
  require(element_count(op.dims) == element_count(inputs[0]),
          to_text(inputs[0]) + " cannot be reshaped to " + to_text(op.dims));
  return op.dims;
}

Dims infer(const Transpose& op, const std::vector<Dims>& inputs) {
  require_inputs(inputs, 1, 1);
  Dims sorted = op.permutation;
  std::sort(sorted.begin(), sorted.end());
  require(sorted.size() == inputs[0].size(), "permutation and data differ in rank");
  // Checked completely before use: only then is every element a valid index.
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    require(sorted[i] == static_cast<int64_t>(i), "not a permutation");
  }
  Dims out;
  for (const int64_t axis : op.permutation)
    out.push_back(inputs[0][static_cast<std::size_t>(axis)]);
  return out;
}

// Follows the definitions of tensors through a recipe.
class RecipeChecker {
 public:
  explicit RecipeChecker(const Recipe& recipe)
      : recipe_(recipe), defined_(recipe.tensors.size(), false) {}

  void check() {
    for (const Tensor& tensor : recipe_.tensors) check_dims(tensor.dims);
    for (const TensorId constant : recipe_.constants) define(constant);
    require(std::is_sorted(recipe_.constants.begin(), recipe_.constants.end()),
            "constants are not in order");
    for (const Port& input : recipe_.inputs) {
      define(input.tensor);
      check_port(input);
    }
    for (const Op& op : recipe_.ops) check_op(op);
    for (const Port& output : recipe_.outputs) {
      require_defined(output.tensor);
      check_port(output);
    }
    require(std::find(defined_.begin(), defined_.end(), false) == defined_.end(),
            "a tensor is never defined");
  }

 private:
  void define(TensorId tensor) {
    require(tensor < defined_.size() && !defined_[tensor],
            "tensor " + std::to_string(tensor) + " is unknown or defined twice");
    defined_[tensor] = true;
  }
  void require_defined(TensorId tensor) {
    require(tensor < defined_.size() && defined_[tensor],
            "tensor " + std::to_string(tensor) + " is used before it is defined");
  }
  void check_port(const Port& port) {
    const Dims shape = port.shape.empty() ? Dims{1} : port.shape;
    check_dims(shape);
    require(element_count(shape) == element_count(recipe_.dims(port.tensor)),
            "a port's shape " + to_text(shape) + " differs from its tensor's");
  }
  void check_op(const Op& op) try {
    std::vector<Dims> inputs;
    for (const TensorId input : op.inputs) {
      require_defined(input);
      inputs.push_back(recipe_.dims(input));
    }
    require(op.failed_primitives <= kMaxFailedPrimitives, "too many primitives have failed");
    const Dims dims = infer_output_dims(op.parameters, inputs);
    int sums = 0;
    for (const PostOp& post_op : op.post_ops) {
      require(takes_post_op(op, post_op.kind), "does not take this kind of post-op");
      if (!post_op.has_operand()) continue;
      require_defined(post_op.operand);
      const Dims& operand = recipe_.dims(post_op.operand);
      if (post_op.kind == PostOpKind::kSum) {
        require(++sums == 1 && operand == dims, "bad operand of a sum");
      } else {
        require(broadcasts_to(operand, dims), "operand " + to_text(operand) + " doesn't broadcast");
      }
    }
    define(op.output);
    require(recipe_.dims(op.output) == dims, "the output has dimensions " +
                                                 to_text(recipe_.dims(op.output)) + ", expected " +
                                                 to_text(dims));
    check_types(recipe_, op);
  } catch (const InvalidRecipe& error) {
    throw InvalidRecipe(describe(op) + ": " + error.what());
  }

  const Recipe& recipe_;
  std::vector<bool> defined_;
};

}  // namespace

void require(bool condition, std::string_view message) {
  if (!condition) throw InvalidRecipe(std::string(message));
}

Dims infer_output_dims(const Parameters& parameters, const std::vector<Dims>& inputs) {
  Dims dims = std::visit([&](const auto& op) { return infer(op, inputs); }, parameters);
  check_dims(dims);
  return dims;
}

bool broadcasts_to(const Dims& from, const Dims& to) {
  return from.size() == to.size() &&
         std::equal(from.begin(), from.end(), to.begin(),
                    [](int64_t small, int64_t large) { return small == large || small == 1; });
}

bool takes_post_op(const Op& op, PostOpKind kind) {
  if (get_if<Convolution>(op) != nullptr || get_if<MatMul>(op) != nullptr) return true;
  if (get_if<Binary>(op) != nullptr && op.quantization && kind == PostOpKind::kBinary) return true;
  return kind == PostOpKind::kEltwise &&
         (get_if<Binary>(op) != nullptr || get_if<Pooling>(op) != nullptr ||
          get_if<BatchNormalization>(op) != nullptr);
}

void check_dims(const Dims& dims) {
  require(!dims.empty() && dims.size() <= kMaxRank,
          "rank " + std::to_string(dims.size()) + " is not supported");
  int64_t count = 1;
  for (const int64_t extent : dims) {
    require(extent > 0 && extent <= kMaxElements / count,
            "a tensor " + to_text(dims) + " is empty or too large");
    count *= extent;
  }
}

void check_recipe(const Recipe& recipe) { RecipeChecker(recipe).check(); }

}  // namespace ephost_dnnl
