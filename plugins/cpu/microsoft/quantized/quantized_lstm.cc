// DynamicQuantizeLSTM: ONNX's LSTM with weights of bytes; X and the state are quantised to bytes
// too before they are multiplied.
#include <array>
#include <vector>

#include "plugins/cpu/core/nested_run.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/kernels/quantized/quantization.h"
#include "plugins/cpu/kernels/recurrent/recurrent.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"
#include "plugins/cpu/microsoft/part.h"

namespace ephost_cpu {
namespace {

std::unique_ptr<Kernel> make_lstm(const NodeContext& context) {
  static constexpr int64_t kYes = 1;
  std::vector<eph_attribute> attributes = context.node().attributes().to_vector();
  attributes.push_back({eph::to_abi(kQuantizesState), &kYes, 1, EPH_ATTRIBUTE_INT, 0});
  return make_part_with("LSTM", 14, context, eph::ArrayView<eph_attribute>(attributes));
}

// Inputs: those of LSTM, with W [directions, input, 4 * hidden] and R [directions, hidden, 4 *
// hidden] of bytes; then scale and zero point of W and of R, which are one number for each
// direction, or one for each of its columns.
class DynamicQuantizeLstm final : public Kernel {
 public:
  explicit DynamicQuantizeLstm(const NodeContext& context)
      : Kernel(context), lstm_(make_lstm(context)) {
    require_inputs(context, {8, 9, 10, 11});
  }

  std::unique_ptr<eph::State> create_state() override { return lstm_->create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const Dims shape = dims_of(*run.input(0));
    const int64_t count = element_count(shape);
    auto* x = static_cast<float*>(run.scratch(float_bytes(count)));
    pass_through_bytes(run.input_data<float>(0), x, count);
    const eph_value input = make_tensor_view(x, shape, EPH_ELEMENT_FLOAT);
    const Dims w_shape = turned(*run.input(1));
    const Dims r_shape = turned(*run.input(2));
    const eph_value w = make_tensor_view(read_weights(run, 1, 8, 9), w_shape, EPH_ELEMENT_FLOAT);
    const eph_value r = make_tensor_view(read_weights(run, 2, 10, 11), r_shape, EPH_ELEMENT_FLOAT);
    NestedRun nested(
        run, {&input, &w, &r, run.input(3), run.input(4), run.input(5), run.input(6), run.input(7)},
        OuterOutputs());
    eph::Run view = nested.view();
    lstm_->compute(view, state);
  }

 private:
  static uint64_t float_bytes(int64_t count) {
    return static_cast<uint64_t>(checked_multiply(checked_add(count, 1), sizeof(float)));
  }

  // The shape with rows and columns of each matrix exchanged.
  static Dims turned(const eph_value& weights) {
    const Dims shape = dims_of(weights);
    if (shape.size() != 3)
      fail("weights of shape " + to_string(shape) + " have no three dimensions");
    return {shape[0], shape[2], shape[1]};
  }

  // In float, as [directions, 4 * hidden, ...].
  static const float* read_weights(eph::Run& run, uint32_t input, uint32_t scale_input,
                                   uint32_t zero_input) {
    const eph_value& codes = *run.input(input);
    const Dims shape = dims_of(codes);
    const int64_t rows = shape[1];
    const int64_t columns = shape[2];
    const eph_value& scales = *run.input(scale_input);
    const eph_value& zeros = *run.input(zero_input);
    const int64_t numbers = element_count(eph::shape_of(scales));
    const bool is_per_column = numbers == shape[0] * columns && columns != 1;
    if ((numbers != shape[0] && !is_per_column) || element_count(eph::shape_of(zeros)) != numbers) {
      fail("scales of shape " + to_string(dims_of(scales)) + " and zero points of shape " +
           to_string(dims_of(zeros)) + " do not fit weights of shape " + to_string(shape));
    }
    auto* weights = static_cast<float*>(run.scratch(float_bytes(element_count(shape))));
    dispatch<int8_t, uint8_t>(codes.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double cost = static_cast<double>(rows);
      parallel_for(shape[0] * columns, cost, [=, &codes, &scales, &zeros](int64_t at, int64_t end) {
        for (; at < end; ++at) {
          const int64_t parameter = is_per_column ? at : at / columns;
          const float scale = data<const float>(scales)[parameter];
          const int zero = data<const T>(zeros)[parameter];
          const T* from = data<const T>(codes) + at / columns * rows * columns + at % columns;
          for (int64_t i = 0; i < rows; ++i) {
            weights[at * rows + i] = static_cast<float>(from[i * columns] - zero) * scale;
          }
        }
      });
    });
    return weights;
  }

  std::unique_ptr<Kernel> lstm_;
};

constexpr KernelEntry kQuantizedLstmKernels[] = {
    {"DynamicQuantizeLSTM",
     1,
     1,
     {.required = 3, .same_type = 0b010111101001},
     kInputTypes<kOnlyFloat, kBytes, kBytes, kOnlyFloat, kInt32, kOnlyFloat, kOnlyFloat, kOnlyFloat,
                 kOnlyFloat, kBytes, kOnlyFloat, kBytes>,
     &make<DynamicQuantizeLstm>,
     kMicrosoft},
};

// ---- Definition ---------------------------------------------------------------------------------

void infer_quantized_lstm(eph::Inference& node) {
  const infer::Shape x = infer::shape_of(node, 0);
  const infer::Shape w = infer::shape_of(node, 1);
  const infer::Shape r = infer::shape_of(node, 2);
  infer::check_rank(x, {3}, "X");
  infer::check_rank(w, {3}, "W");
  infer::check_rank(r, {3}, "R");
  const bool is_double = node.node().get_string("direction", "forward") == "bidirectional";
  const infer::Extent directions = infer::known(is_double ? 2 : 1);
  const int64_t stated = node.node().get_int("hidden_size", 0);
  infer::Extent hidden = stated > 0 ? infer::known(stated) : infer::Extent{};
  if (r) hidden = infer::same(hidden, (*r)[1], "hidden_size and the rows of R");
  infer::Shape y;
  infer::Shape last;
  if (x) {
    if (w) (void)infer::same((*x)[2], (*w)[1], "the elements of X and the rows of W");
    y = {(*x)[0], directions, (*x)[1], hidden};
    last = {directions, (*x)[1], hidden};
  }
  const int32_t type = infer::type_of(node, 0);
  infer::set_optional(node, 0, type, y);
  infer::set_optional(node, 1, type, last);
  infer::set_optional(node, 2, type, last);
}

}  // namespace

Table quantized_lstm_kernels() { return kQuantizedLstmKernels; }

Definitions define_quantized_lstm() {
  return {
      eph::Operator(kMicrosoft, "DynamicQuantizeLSTM", 1)
          .description("LSTM with weights of bytes.")
          .input("X", "T", kOnlyFloat)
          .input("W", "T2", kBytes, 0, "[directions, input size, 4 * hidden size]")
          .input("R", "T2", kBytes, 0, "[directions, hidden size, 4 * hidden size]")
          .input("B", "T", kOnlyFloat, eph::kOptional)
          .input("sequence_lens", "T1", kInt32, eph::kOptional)
          .input("initial_h", "T", kOnlyFloat, eph::kOptional)
          .input("initial_c", "T", kOnlyFloat, eph::kOptional)
          .input("P", "T", kOnlyFloat, eph::kOptional)
          .input("W_scale", "T", kOnlyFloat)
          .input("W_zero_point", "T2", kBytes)
          .input("R_scale", "T", kOnlyFloat)
          .input("R_zero_point", "T2", kBytes)
          .output("Y", "T", kOnlyFloat, eph::kOptional)
          .output("Y_h", "T", kOnlyFloat, eph::kOptional)
          .output("Y_c", "T", kOnlyFloat, eph::kOptional)
          .optional_attribute("activation_alpha", EPH_ATTRIBUTE_FLOATS)
          .optional_attribute("activation_beta", EPH_ATTRIBUTE_FLOATS)
          .optional_attribute("activations", EPH_ATTRIBUTE_STRINGS)
          .optional_attribute("clip", EPH_ATTRIBUTE_FLOAT)
          .attribute("direction", "forward")
          .optional_attribute("hidden_size", EPH_ATTRIBUTE_INT)
          .attribute("input_forget", 0)
          .infer(&infer_quantized_lstm),
  };
}

}  // namespace ephost_cpu
