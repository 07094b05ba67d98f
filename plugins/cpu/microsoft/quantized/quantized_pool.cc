// QLinearGlobalAveragePool, QLinearAveragePool, QLinearReduceMean and QLinearSoftmax.
#include <algorithm>

#include "plugins/cpu/core/nested_run.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"
#include "plugins/cpu/microsoft/part.h"
#include "plugins/cpu/microsoft/quantized/quantized_parameters.h"

namespace ephost_cpu {
namespace {

// Inputs: X, its scale and zero point, scale and zero point of Y.
class QLinearGlobalAveragePool final : public Kernel {
 public:
  explicit QLinearGlobalAveragePool(const NodeContext& context)
      : Kernel(context), channels_last_(context.node().get_int("channels_last", 0) != 0) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() < 2) fail("the input " + to_string(shape) + " has no channels");
    const QuantizedParameters from = read_parameters(run, 1, 2);
    const QuantizedParameters to = read_parameters(run, 3, 4);
    const std::size_t channel = channels_last_ ? shape.size() - 1 : 1;
    Dims out = shape;
    for (std::size_t d = 1; d < out.size(); ++d) out[d] = d == channel ? shape[d] : 1;
    const int64_t planes = checked_multiply(shape[0], shape[channel]);
    const int64_t extent = planes == 0 ? 0 : element_count(shape) / planes;
    if (planes > 0 && extent == 0) fail("there is nothing to pool in " + to_string(shape));
    const eph_value& y = allocate_output(run, 0, x.element_type, out);
    if (planes == 0) return;
    auto* means = static_cast<float*>(
        run.scratch(static_cast<uint64_t>(checked_multiply(planes, sizeof(float)))));
    const int64_t step = channels_last_ ? shape[channel] : 1;
    dispatch<int8_t, uint8_t>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* bytes = data<const T>(x);
      parallel_for(planes, 0.5 * static_cast<double>(extent), [=](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          const T* first = bytes + p / step * step * extent + p % step;
          int64_t sum = 0;
          for (int64_t i = 0; i < extent; ++i) sum += first[i * step];
          const auto distance = static_cast<double>(sum - extent * from.zero_point);
          means[p] = static_cast<float>(distance / static_cast<double>(extent) *
                                        static_cast<double>(from.scale));
        }
      });
    });
    quantize_bytes(x.element_type, means, to, y.data, planes);
  }

 private:
  bool channels_last_;
};

// Operators that are computed in float, by the kernel of ai.onnx: X is dequantised before, and Y
// quantised after it.
class InFloat : public Kernel {
 public:
  std::unique_ptr<eph::State> create_state() override { return part_->create_state(); }

 protected:
  InFloat(const NodeContext& context, std::unique_ptr<Kernel> part, bool channels_last)
      : Kernel(context), part_(std::move(part)), channels_last_(channels_last) {
    require_inputs(context, {3});
  }

  void run(eph::Run& run, eph::State* state) override {
    const eph_value& x = *run.input(0);
    const QuantizedParameters from = read_parameters(run, 1, 2);
    const QuantizedParameters to = read_parameters(run, 3, 4);
    Dims shape = dims_of(x);
    if (channels_last_ && shape.size() < 3) {
      fail("the input " + to_string(shape) + " has no spatial dimensions");
    }
    const int64_t count = element_count(shape);
    const void* bytes = x.data;
    if (channels_last_) {
      void* moved = run.scratch(static_cast<uint64_t>(count) + 1);
      const int64_t area = element_count(shape, 1, shape.size() - 1);
      transpose_planes(x.element_type, bytes, shape[0], area, shape.back(), moved);
      bytes = moved;
      shape = channels_to_front(shape);
    }
    auto* floats = static_cast<float*>(
        run.scratch(static_cast<uint64_t>(checked_multiply(count + 1, sizeof(float)))));
    look_up(byte_table(x.element_type, from.zero_point, from.scale), bytes, floats, count);
    const eph_value in_float = make_tensor_view(floats, shape, EPH_ELEMENT_FLOAT);
    NestedRun nested(run, {&in_float});
    eph::Run view = nested.view();
    part_->compute(view, state);
    store(run, x.element_type, nested.output(), to);
  }

 private:
  void store(eph::Run& run, int32_t type, const eph_value& y, QuantizedParameters to) const {
    const Dims shape = dims_of(y);
    const int64_t count = element_count(shape);
    const Dims out_shape = channels_last_ ? channels_to_back(shape) : shape;
    const eph_value& out = allocate_output(run, 0, type, out_shape);
    if (!channels_last_) return quantize_bytes(type, data<const float>(y), to, out.data, count);
    void* bytes = run.scratch(static_cast<uint64_t>(count) + 1);
    quantize_bytes(type, data<const float>(y), to, bytes, count);
    transpose_planes(type, bytes, shape[0], shape[1], element_count(shape, 2, shape.size()),
                     out.data);
  }

  std::unique_ptr<Kernel> part_;
  bool channels_last_;
};

class QLinearAveragePool final : public InFloat {
 public:
  explicit QLinearAveragePool(const NodeContext& context)
      : InFloat(context, make_part("AveragePool", 11, context, false),
                context.node().get_int("channels_last", 0) != 0) {}
};

class QLinearReduceMean final : public InFloat {
 public:
  explicit QLinearReduceMean(const NodeContext& context)
      : InFloat(context, make_part("ReduceMean", 13, context, false), false) {}
};

// The attribute `opset` says which Softmax of ONNX it is: up to 12, all dimensions from the axis
// on count as one.
constexpr int64_t kSoftmaxOfOneAxis = 13;

class QLinearSoftmax final : public InFloat {
 public:
  explicit QLinearSoftmax(const NodeContext& context)
      : InFloat(
            context,
            make_part("Softmax", context.node().get_int("opset", 0) < kSoftmaxOfOneAxis ? 11 : 13,
                      context, false),
            false) {}
};

constexpr Inputs kAllParameters = {.required = 5, .same_type = 0b10101};

constexpr KernelEntry kQuantizedPoolKernels[] = {
    {"QLinearGlobalAveragePool", 1, 1, kAllParameters, kQuantizedUnaryTypes,
     &make<QLinearGlobalAveragePool>, kMicrosoft},
    {"QLinearAveragePool", 1, 1, kQuantizedUnary, kQuantizedUnaryTypes, &make<QLinearAveragePool>,
     kMicrosoft},
    {"QLinearReduceMean", 1, 1, kQuantizedUnary, kQuantizedUnaryTypes, &make<QLinearReduceMean>,
     kMicrosoft},
    {"QLinearSoftmax", 1, 1, kQuantizedUnary, kQuantizedUnaryTypes, &make<QLinearSoftmax>,
     kMicrosoft},
};

// ---- Definitions --------------------------------------------------------------------------------

void check_all(const eph::Inference& node) {
  check_parameters(node, 1, 2);
  check_parameters(node, 3, 4);
}

void infer_global(eph::Inference& node) {
  check_all(node);
  infer::Shape shape = infer::shape_of(node, 0);
  if (!shape) return node.set_output(0, infer::type_of(node, 0));
  if (shape->size() < 2) infer::fail("the input " + infer::to_text(*shape) + " has no channels");
  const bool channels_last = node.node().get_int("channels_last", 0) != 0;
  const std::size_t channel = channels_last ? shape->size() - 1 : 1;
  for (std::size_t d = 1; d < shape->size(); ++d) {
    if (d != channel) (*shape)[d] = infer::known(1);
  }
  infer::set(node, 0, infer::type_of(node, 0), shape);
}

void infer_average(eph::Inference& node) {
  check_all(node);
  const eph::NodeView view = node.node();
  infer::set(node, 0, infer::type_of(node, 0),
             infer::pool(view, infer::shape_of(node, 0), view.get_int("channels_last", 0) != 0));
}

void infer_mean(eph::Inference& node) {
  check_all(node);
  const infer::Shape x = infer::shape_of(node, 0);
  if (!x) return node.set_output(0, infer::type_of(node, 0));
  const eph::ArrayView<int64_t> axes = node.node().get_ints("axes");
  const bool keeps = node.node().get_int("keepdims", 1) != 0;
  std::vector<bool> reduced(x->size(), axes.empty());
  for (const int64_t axis : axes) reduced[infer::axis_of(axis, x->size())] = true;
  infer::Extents y;
  for (std::size_t d = 0; d < x->size(); ++d) {
    if (!reduced[d]) y.push_back((*x)[d]);
    if (reduced[d] && keeps) y.push_back(infer::known(1));
  }
  infer::set(node, 0, infer::type_of(node, 0), y);
}

void infer_softmax(eph::Inference& node) {
  check_all(node);
  const infer::Shape shape = infer::shape_of(node, 0);
  // Up to opset 12 the axis may be one past the last.
  const bool is_old = node.node().get_int("opset", 0) < kSoftmaxOfOneAxis;
  if (shape) {
    const int64_t axis = node.node().get_int("axis", -1);
    const bool is_end = is_old && axis == static_cast<int64_t>(shape->size());
    if (!is_end) (void)infer::axis_of(axis, shape->size());
  }
  node.set_output_like(0, 0);
}

eph::Operator one_input(std::string_view name, std::string_view description, uint32_t x_zero,
                        uint32_t y_zero) {
  return eph::Operator(kMicrosoft, name, 1)
      .description(description)
      .input("X", "T", kBytes)
      .input("x_scale", "", kOnlyFloat)
      .input("x_zero_point", "T", kBytes, x_zero)
      .input("y_scale", "", kOnlyFloat)
      .input("y_zero_point", "T", kBytes, y_zero)
      .output("Y", "T", kBytes);
}

}  // namespace

Table quantized_pool_kernels() { return kQuantizedPoolKernels; }

Definitions define_quantized_pools() {
  return {
      one_input("QLinearGlobalAveragePool", "The mean of each channel, quantised.", 0, 0)
          .attribute("channels_last", 0)
          .infer(&infer_global),
      one_input("QLinearAveragePool", "The mean of each window, quantised.", eph::kOptional,
                eph::kOptional)
          .attribute("auto_pad", "NOTSET")
          .attribute("ceil_mode", 0)
          .attribute("channels_last", 0)
          .attribute("count_include_pad", 0)
          .required_attribute("kernel_shape", EPH_ATTRIBUTE_INTS)
          .optional_attribute("pads", EPH_ATTRIBUTE_INTS)
          .optional_attribute("strides", EPH_ATTRIBUTE_INTS)
          .infer(&infer_average),
      one_input("QLinearReduceMean", "The mean along axes, quantised.", eph::kOptional,
                eph::kOptional)
          .required_attribute("axes", EPH_ATTRIBUTE_INTS)
          .required_attribute("keepdims", EPH_ATTRIBUTE_INT)
          .infer(&infer_mean),
      one_input("QLinearSoftmax", "Softmax of a quantised tensor, quantised.", eph::kOptional, 0)
          .attribute("axis", -1)
          .required_attribute("opset", EPH_ATTRIBUTE_INT)
          .infer(&infer_softmax),
  };
}

}  // namespace ephost_cpu
