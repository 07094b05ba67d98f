// FusedConv, NhwcConv, NhwcFusedConv and NhwcMaxPool: ONNX's Conv and MaxPool with something before
// and after.
#include "plugins/cpu/core/nested_run.h"
#include "plugins/cpu/kernels/elementwise/elementwise.h"
#include "plugins/cpu/microsoft/activation.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"
#include "plugins/cpu/microsoft/part.h"

namespace ephost_cpu {
namespace {

// The activation of a node of FusedConv, or why it is not supported.
std::string read_conv_activation(const eph::NodeView& node, Activation& activation) {
  std::string why_not;
  if (!parse_activation(node.get_string("activation", ""), activation.kind, why_not)) {
    return why_not;
  }
  const eph::ArrayView<float> parameters = node.get_floats("activation_params");
  const std::size_t wanted = parameter_count(activation.kind);
  if (wanted != 0 && parameters.size() != wanted) {
    return "activation '" + std::string(node.get_string("activation", "")) + "' needs " +
           std::to_string(wanted) + " activation_params, found " +
           std::to_string(parameters.size());
  }
  if (wanted > 0) activation.first = parameters[0];
  if (wanted > 1) activation.second = parameters[1];
  return {};
}

// Adds Z, input 3, to Y and applies the activation.
void finish_convolution(const eph::Run& run, const Activation& activation) {
  const eph_value& y = *run.output(0);
  const Dims shape = dims_of(y);
  if (const eph_value* z = run.input(3)) {
    if (!(dims_of(*z) == shape)) {
      fail("Z of shape " + to_string(dims_of(*z)) + " differs from Y, of shape " +
           to_string(shape));
    }
    dispatch<float, double>(y.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      broadcast_binary<T, T, T>(PlainSum(), y.data, shape, z->data, shape, y.data, shape);
    });
  }
  activation.apply(y.element_type, y.data, element_count(shape));
}

// Inputs: X, W, B, and Z, which is added before the activation.
class FusedConv final : public Kernel {
 public:
  explicit FusedConv(const NodeContext& context)
      : Kernel(context), conv_(make_part("Conv", 11, context, true)) {
    (void)read_conv_activation(context.node(), activation_);
  }

  std::unique_ptr<eph::State> create_state() override { return conv_->create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    conv_->compute(run, state);
    finish_convolution(run, activation_);
  }

 private:
  std::unique_ptr<Kernel> conv_;
  Activation activation_;
};

// ONNX's kernel for images whose channels are the last dimension: they come to the front and back.
class ChannelsLast : public Kernel {
 public:
  std::unique_ptr<eph::State> create_state() override { return part_->create_state(); }

 protected:
  ChannelsLast(const NodeContext& context, std::unique_ptr<Kernel> part)
      : Kernel(context), part_(std::move(part)) {}

  void run(eph::Run& run, eph::State* state) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() < 3) fail("the input " + to_string(shape) + " has no spatial dimensions");
    const Dims moved_shape = channels_to_front(shape);
    eph_value moved = make_tensor_view(nullptr, moved_shape, x.element_type);
    moved.data = run.scratch(moved.byte_size + 1);
    transpose_planes(x.element_type, x.data, shape[0], element_count(shape, 1, shape.size() - 1),
                     shape.back(), moved.data);
    NestedRun nested(run, {&moved, run.input(1), run.input(2)});
    eph::Run view = nested.view();
    part_->compute(view, state);
    const Dims y = dims_of(nested.output());
    const Dims out_shape = channels_to_back(y);
    const eph_value& out = allocate_output(run, 0, x.element_type, out_shape);
    transpose_planes(x.element_type, nested.output().data, y[0], y[1],
                     element_count(y, 2, y.size()), out.data);
  }

 private:
  std::unique_ptr<Kernel> part_;
};

class NhwcConv final : public ChannelsLast {
 public:
  explicit NhwcConv(const NodeContext& context)
      : ChannelsLast(context, make_part("Conv", 11, context, true)) {}
};

class NhwcFusedConv final : public ChannelsLast {
 public:
  explicit NhwcFusedConv(const NodeContext& context)
      : ChannelsLast(context, make_part("Conv", 11, context, true)) {
    (void)read_conv_activation(context.node(), activation_);
  }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    ChannelsLast::run(run, state);
    finish_convolution(run, activation_);
  }

 private:
  Activation activation_;
};

class NhwcMaxPool final : public ChannelsLast {
 public:
  explicit NhwcMaxPool(const NodeContext& context)
      : ChannelsLast(context, make_part("MaxPool", 12, context, false)) {}
};

constexpr auto& kConvTypes = kInputTypes<kFloat, kFloat, kFloat, kFloat>;
constexpr Inputs kConvInputs = {.required = 2, .same_type = 0b1111};

constexpr KernelEntry kFusedConvKernels[] = {
    {"FusedConv", 1, 1, kConvInputs, kConvTypes, &make<FusedConv>, kMicrosoft},
    {"NhwcConv", 1, 1, kConvInputs, kThreeFloats, &make<NhwcConv>, kMicrosoft},
    {"NhwcFusedConv", 1, 1, kConvInputs, kConvTypes, &make<NhwcFusedConv>, kMicrosoft},
    {"NhwcMaxPool", 1, 1, {}, kInputTypes<kBytes>, &make<NhwcMaxPool>, kMicrosoft},
};

std::string why_refused_conv(const NodeContext& context) {
  Activation activation;
  return read_conv_activation(context.node(), activation);
}

// ---- Definitions --------------------------------------------------------------------------------

infer::Shape infer_convolution(eph::Inference& node, bool channels_last) {
  const infer::Shape weights = infer::shape_of(node, 1);
  if (node.has_input(2)) {
    const bool has_outputs = weights && !weights->empty();
    infer::check_vector(infer::shape_of(node, 2), has_outputs ? (*weights)[0] : infer::Extent{},
                        "B");
  }
  infer::Shape y =
      infer::convolution(node.node(), infer::shape_of(node, 0), weights, channels_last);
  infer::set(node, 0, infer::type_of(node, 0), y);
  return y;
}

void infer_fused_convolution(eph::Inference& node, bool channels_last) {
  const infer::Shape y = infer_convolution(node, channels_last);
  const infer::Shape z = infer::shape_of(node, 3);
  if (!y || !z) return;
  if (y->size() != z->size()) {
    infer::fail("Z " + infer::to_text(*z) + " and Y " + infer::to_text(*y) + " differ in rank");
  }
  for (std::size_t d = 0; d < y->size(); ++d) {
    (void)infer::same((*y)[d], (*z)[d], "the extents of Y and Z");
  }
}

void infer_fused(eph::Inference& node) { infer_fused_convolution(node, false); }
void infer_nhwc_fused(eph::Inference& node) { infer_fused_convolution(node, true); }
void infer_nhwc(eph::Inference& node) { (void)infer_convolution(node, true); }

void infer_pool(eph::Inference& node) {
  infer::set(node, 0, infer::type_of(node, 0),
             infer::pool(node.node(), infer::shape_of(node, 0), true));
}

constexpr uint64_t kConvFloats = kFloat | kTypeSet<EPH_ELEMENT_FLOAT16>;

eph::Operator with_window(eph::Operator made) {
  return made.attribute("auto_pad", "NOTSET")
      .optional_attribute("dilations", EPH_ATTRIBUTE_INTS)
      .optional_attribute("pads", EPH_ATTRIBUTE_INTS)
      .optional_attribute("strides", EPH_ATTRIBUTE_INTS);
}

eph::Operator conv_operator(std::string_view name, std::string_view description) {
  return with_window(eph::Operator(kMicrosoft, name, 1))
      .description(description)
      .input("X", "T", kConvFloats)
      .input("W", "T", kConvFloats)
      .input("B", "T", kConvFloats, eph::kOptional)
      .output("Y", "T", kConvFloats)
      .attribute("group", 1)
      .optional_attribute("kernel_shape", EPH_ATTRIBUTE_INTS);
}

eph::Operator fused_operator(std::string_view name, std::string_view description) {
  return conv_operator(name, description)
      .input("Z", "T", kConvFloats, eph::kOptional, "has the shape of Y")
      .optional_attribute("activation", EPH_ATTRIBUTE_STRING)
      .optional_attribute("activation_params", EPH_ATTRIBUTE_FLOATS);
}

}  // namespace

Table fused_conv_kernels() { return kFusedConvKernels; }

Refusals fused_conv_refusals() {
  static constexpr Refusal kRefusals[] = {{"FusedConv", &why_refused_conv},
                                          {"NhwcFusedConv", &why_refused_conv}};
  return kRefusals;
}

Definitions define_fused_convs() {
  return {
      fused_operator("FusedConv", "An activation of the convolution of X and W, plus B, plus Z.")
          .infer(&infer_fused),
      fused_operator("NhwcFusedConv",
                     "FusedConv of an X whose channels are the last dimension, as those of Y.")
          .infer(&infer_nhwc_fused),
      conv_operator("NhwcConv",
                    "Conv of an X whose channels are the last dimension, as those of Y.")
          .infer(&infer_nhwc),
      with_window(eph::Operator(kMicrosoft, "NhwcMaxPool", 1))
          .description("MaxPool of an X whose channels are the last dimension, as those of Y.")
          .input("x", "T", kBytes)
          .output("y", "T", kBytes)
          .attribute("ceil_mode", 0)
          .required_attribute("kernel_shape", EPH_ATTRIBUTE_INTS)
          .infer(&infer_pool),
  };
}

}  // namespace ephost_cpu
