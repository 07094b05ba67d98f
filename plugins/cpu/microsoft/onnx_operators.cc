// QuantizeLinear, DequantizeLinear, Trilu and GridSample: what the operators of these names are in
// ai.onnx, whose kernels compute them.
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

std::unique_ptr<Kernel> make_quantize(const NodeContext& context) {
  return onnx_entry("QuantizeLinear", kNewest).create(context);
}
std::unique_ptr<Kernel> make_dequantize(const NodeContext& context) {
  return onnx_entry("DequantizeLinear", kNewest).create(context);
}
std::unique_ptr<Kernel> make_triangle(const NodeContext& context) {
  return onnx_entry("Trilu", kNewest).create(context);
}
std::unique_ptr<Kernel> make_sampler(const NodeContext& context) {
  return onnx_entry("GridSample", kNewest).create(context);
}

constexpr uint64_t kLinearCodes = kTypeSet<EPH_ELEMENT_INT8, EPH_ELEMENT_UINT8, EPH_ELEMENT_INT16,
                                           EPH_ELEMENT_UINT16, EPH_ELEMENT_INT4, EPH_ELEMENT_UINT4>;
constexpr uint64_t kLinearReals = kTypeSet<EPH_ELEMENT_FLOAT, EPH_ELEMENT_FLOAT16>;
constexpr Inputs kFromReals = {.required = 2, .same_type = 0b11};
constexpr Inputs kFromCodes = {.required = 2, .same_type = 0b101};

constexpr KernelEntry kOnnxOperatorKernels[] = {
    {"QuantizeLinear", 1, 1, kFromReals, kInputTypes<kLinearReals, kLinearReals, kLinearCodes>,
     &make_quantize, kMicrosoft},
    {"DequantizeLinear", 1, 1, kFromCodes,
     kInputTypes<kLinearCodes | kInt32, kLinearReals, kLinearCodes | kInt32>, &make_dequantize,
     kMicrosoft},
    {"Trilu", 1, 1, {}, kInputTypes<kFixedSize, kInt64>, &make_triangle, kMicrosoft},
    {"GridSample", 1, 1, kTwoInputs, kInputTypes<kFloat, kFloat>, &make_sampler, kMicrosoft},
};

// ---- Definitions --------------------------------------------------------------------------------

void infer_quantize(eph::Inference& node) {
  const int32_t type = node.has_input(2) ? infer::type_of(node, 2) : int32_t{EPH_ELEMENT_UINT8};
  infer::set(node, 0, type, infer::shape_of(node, 0));
}

void infer_dequantize(eph::Inference& node) {
  infer::set(node, 0, infer::type_of(node, 1), infer::shape_of(node, 0));
}

void infer_triangle(eph::Inference& node) {
  const infer::Shape x = infer::shape_of(node, 0);
  if (x && x->size() < 2) infer::fail("the input " + infer::to_text(*x) + " holds no matrices");
  node.set_output_like(0, 0);
}

void infer_sampler(eph::Inference& node) {
  const infer::Shape x = infer::shape_of(node, 0);
  const infer::Shape grid = infer::shape_of(node, 1);
  infer::Shape y;
  infer::check_rank(x, {4}, "X");
  infer::check_rank(grid, {4}, "Grid");
  if (x && grid) {
    (void)infer::same((*grid)[3], infer::known(2), "the last extent of Grid and 2");
    y = {infer::same((*x)[0], (*grid)[0], "the batches of X and Grid"), (*x)[1], (*grid)[1],
         (*grid)[2]};
  }
  infer::set(node, 0, infer::type_of(node, 0), y);
}

}  // namespace

Table onnx_operator_kernels() { return kOnnxOperatorKernels; }

Definitions define_onnx_operators() {
  return {
      eph::Operator(kMicrosoft, "QuantizeLinear", 1)
          .description("x / y_scale, rounded, plus y_zero_point; saturates.")
          .input("x", "T1", kLinearReals)
          .input("y_scale", "T1", kLinearReals, 0, "one number, or one for each index of the axis")
          .input("y_zero_point", "T2", kLinearCodes, eph::kOptional,
                 "has the type of y; 0 of uint8")
          .output("y", "T2", kLinearCodes)
          .optional_attribute("axis", EPH_ATTRIBUTE_INT)
          .attribute("block_size", 0)
          .infer(&infer_quantize),
      eph::Operator(kMicrosoft, "DequantizeLinear", 1)
          .description("(x - x_zero_point) * x_scale")
          .input("x", "T1", kLinearCodes | kInt32)
          .input("x_scale", "T2", kLinearReals, 0, "one number, or one for each index of the axis")
          .input("x_zero_point", "T1", kLinearCodes | kInt32, eph::kOptional)
          .output("y", "T2", kLinearReals)
          .optional_attribute("axis", EPH_ATTRIBUTE_INT)
          .attribute("block_size", 0)
          .infer(&infer_dequantize),
      eph::Operator(kMicrosoft, "Trilu", 1)
          .description("One triangle of each matrix, zeros elsewhere.")
          .input("X", "T", kFixedSize)
          .input("k", "", kInt64, eph::kOptional, "the diagonal, counted to the right")
          .output("Y", "T", kFixedSize)
          .attribute("upper", 1)
          .infer(&infer_triangle),
      eph::Operator(kMicrosoft, "GridSample", 1)
          .description("Samples images at a grid of coordinates.")
          .input("X", "T1", kFloat)
          .input("Grid", "T1", kFloat)
          .output("Y", "T1", kFloat)
          .attribute("align_corners", 0)
          .attribute("mode", "bilinear")
          .attribute("padding_mode", "zeros")
          .infer(&infer_sampler),
  };
}

}  // namespace ephost_cpu
