// QAttention: Attention of com.microsoft with an input and weights of bytes.
#include <algorithm>

#include "plugins/cpu/core/nested_run.h"
#include "plugins/cpu/microsoft/attention/attention_masking.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"
#include "plugins/cpu/microsoft/part.h"
#include "plugins/cpu/microsoft/quantized/quantized_parameters.h"

namespace ephost_cpu {
namespace {

// Inputs: input, weights, bias, scales of the first two, mask, their zero points, past. Scale and
// zero point of the weights are one number, or one for each column.
class QAttention final : public Kernel {
 public:
  explicit QAttention(const NodeContext& context)
      : Kernel(context),
        attention_(make_microsoft_part(microsoft_attention_kernels().front(), context)) {}

  std::unique_ptr<eph::State> create_state() override { return attention_->create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& bytes = *run.input(0);
    const Dims shape = dims_of(bytes);
    const Dims weights_shape = dims_of(*run.input(1));
    if (weights_shape.size() != 2) fail("weights of shape " + to_string(weights_shape));
    const QuantizedParameters of_input = read_parameters(run, 3, 6);
    const int64_t count = element_count(shape);
    auto* floats = static_cast<float*>(run.scratch(float_bytes(count)));
    look_up(byte_table(bytes.element_type, of_input.zero_point, of_input.scale), bytes.data, floats,
            count);
    const eph_value input = make_tensor_view(floats, shape, EPH_ELEMENT_FLOAT);
    const eph_value weights =
        make_tensor_view(read_weights(run, weights_shape), weights_shape, EPH_ELEMENT_FLOAT);
    NestedRun nested(run, {&input, &weights, run.input(2), run.input(5), run.input(8)},
                     OuterOutputs());
    eph::Run view = nested.view();
    attention_->compute(view, state);
  }

 private:
  static uint64_t float_bytes(int64_t count) {
    return static_cast<uint64_t>(checked_multiply(checked_add(count, 1), sizeof(float)));
  }

  static const float* read_weights(eph::Run& run, const Dims& shape) {
    const eph_value& codes = *run.input(1);
    const eph_value& scales = *run.input(4);
    const eph_value* zeros = run.input(7);
    const int64_t columns = shape[1];
    for (const eph_value* given : {&scales, zeros}) {
      if (given == nullptr) continue;
      const int64_t numbers = element_count(eph::shape_of(*given));
      if (numbers != 1 && numbers != columns) {
        fail("a scale or zero point of the weights of shape " + to_string(dims_of(*given)) +
             " has neither one element nor one for each of " + std::to_string(columns) +
             " columns");
      }
    }
    const int64_t scale_step = element_count(eph::shape_of(scales)) == 1 ? 0 : 1;
    const int64_t zero_step = zeros == nullptr || element_count(eph::shape_of(*zeros)) == 1 ? 0 : 1;
    const int64_t count = element_count(shape);
    auto* weights = static_cast<float*>(run.scratch(float_bytes(count)));
    dispatch<int8_t, uint8_t>(codes.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = data<const T>(codes);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t column = i % columns;
        const int zero = zeros == nullptr ? 0 : data<const T>(*zeros)[column * zero_step];
        weights[i] =
            static_cast<float>(from[i] - zero) * data<const float>(scales)[column * scale_step];
      }
    });
    return weights;
  }

  std::unique_ptr<Kernel> attention_;
};

constexpr KernelEntry kQuantizedAttentionKernels[] = {
    {"QAttention",
     1,
     1,
     {.required = 5, .same_type = 0b100011100},
     kInputTypes<kBytes, kBytes, kOnlyFloat, kOnlyFloat, kOnlyFloat, kInt32, kBytes, kBytes,
                 kOnlyFloat>,
     &make<QAttention>,
     kMicrosoft},
};

std::string why_refused_quantized(const NodeContext& context) {
  if (context.node().get_int("do_rotary", 0) != 0) return "do_rotary is not supported";
  if (context.node().get_int("past_present_share_buffer", 0) != 0) {
    return "past_present_share_buffer is not supported";
  }
  return {};
}

// ---- Definition ---------------------------------------------------------------------------------

void infer_quantized_attention(eph::Inference& node) {
  const int64_t heads = node.node().get_int("num_heads", 0);
  const infer::Shape input = infer::shape_of(node, 0);
  const infer::Shape weights = infer::shape_of(node, 1);
  const infer::Shape past = infer::shape_of(node, 8);
  infer::check_rank(input, {3}, "input");
  infer::check_rank(weights, {2}, "weight");
  infer::check_rank(past, {5}, "past");
  if (heads < 1) infer::fail("attribute num_heads=" + std::to_string(heads) + " is not positive");
  check_parameters(node, 3, 6);
  infer::Extent hidden;
  if (weights) hidden = infer::quotient((*weights)[1], 3, "the weights' columns");
  infer::Shape y;
  infer::Shape present;
  if (input) {
    if (weights) {
      (void)infer::same((*input)[2], (*weights)[0],
                        "the hidden size of the input and the weights'");
    }
    y = {(*input)[0], (*input)[1], hidden};
    infer::Extent keys;
    if (!node.has_input(8)) keys = (*input)[1];
    if (past) keys = infer::sum((*past)[3], (*input)[1]);
    present = {infer::known(2), (*input)[0], infer::known(heads), keys,
               infer::quotient(hidden, heads, "the hidden size")};
  }
  infer::set(node, 0, infer::type_of(node, 3), y);
  infer::set_optional(node, 1, infer::type_of(node, 3), present);
}

}  // namespace

Table quantized_attention_kernels() { return kQuantizedAttentionKernels; }

Refusals quantized_attention_refusals() {
  static constexpr Refusal kRefusals[] = {{"QAttention", &why_refused_quantized}};
  return kRefusals;
}

Definitions define_quantized_attention() {
  return {
      eph::Operator(kMicrosoft, "QAttention", 1)
          .description("Self-attention over a projection of the input by weights of bytes.")
          .input("input", "T1", kBytes)
          .input("weight", "T2", kBytes, 0, "[input size, sizes of Q, K and V]")
          .input("bias", "T3", kUpToFloat)
          .input("input_scale", "T3", kUpToFloat)
          .input("weight_scale", "T3", kUpToFloat, 0, "one number, or one for each column")
          .input("mask_index", "T4", kInt32, eph::kOptional)
          .input("input_zero_point", "T1", kBytes, eph::kOptional)
          .input("weight_zero_point", "T2", kBytes, eph::kOptional)
          .input("past", "T3", kUpToFloat, eph::kOptional)
          .output("output", "T3", kUpToFloat)
          .output("present", "T3", kUpToFloat, eph::kOptional)
          .attribute("do_rotary", 0)
          .attribute("mask_filter_value", kMaskFilter)
          .required_attribute("num_heads", EPH_ATTRIBUTE_INT)
          .attribute("past_present_share_buffer", 0)
          .optional_attribute("scale", EPH_ATTRIBUTE_FLOAT)
          .attribute("unidirectional", 0)
          .infer(&infer_quantized_attention),
  };
}

}  // namespace ephost_cpu
