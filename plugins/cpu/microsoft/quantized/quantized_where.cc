// QLinearWhere: takes bytes of two quantised tensors, by a condition.
#include <array>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"
#include "plugins/cpu/microsoft/quantized/quantized_parameters.h"

namespace ephost_cpu {
namespace {

// Which byte stands for the same number, or the nearest one, with other parameters.
ByteMap requantization_map(int32_t type, QuantizedParameters from, QuantizedParameters to) {
  const ByteTable numbers = byte_table(type, from.zero_point, from.scale);
  ByteMap map;
  quantize_bytes(type, numbers.data(), to, map.data(), static_cast<int64_t>(map.size()));
  return map;
}

// Inputs: the condition, then X and Y with scale and zero point each, and those of Z.
class QLinearWhere final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& condition = *run.input(0);
    const eph_value& x = *run.input(1);
    const eph_value& y = *run.input(4);
    const QuantizedParameters to = read_parameters(run, 7, 8);
    const ByteMap of_x = requantization_map(x.element_type, read_parameters(run, 2, 3), to);
    const ByteMap of_y = requantization_map(x.element_type, read_parameters(run, 5, 6), to);
    const Dims shape = broadcast_shape(broadcast_shape(dims_of(condition), dims_of(x)), dims_of(y));
    const eph_value& z = allocate_output(run, 0, x.element_type, shape);
    const Broadcast<3> walk(shape, {dims_of(condition), dims_of(x), dims_of(y)});
    walk.for_each_row(0.5, [&](int64_t at, const auto& offsets, const auto& strides,
                               int64_t count) {
      const auto* flags = data<const uint8_t>(condition) + offsets[0];
      const auto* xs = data<const uint8_t>(x) + offsets[1];
      const auto* ys = data<const uint8_t>(y) + offsets[2];
      auto* out = data<uint8_t>(z) + at;
      for (int64_t i = 0; i < count; ++i) {
        out[i] = flags[i * strides[0]] != 0 ? of_x[xs[i * strides[1]]] : of_y[ys[i * strides[2]]];
      }
    });
  }
};

constexpr Inputs kWhereInputs = {.required = 9, .same_type = 0b101011010};

constexpr KernelEntry kQuantizedWhereKernels[] = {
    {"QLinearWhere", 1, 1, kWhereInputs,
     kInputTypes<kBool, kBytes, kOnlyFloat, kBytes, kBytes, kOnlyFloat, kBytes, kOnlyFloat, kBytes>,
     &make<QLinearWhere>, kMicrosoft},
};

void infer_where(eph::Inference& node) {
  for (const uint32_t scale : {2U, 5U, 7U}) check_parameters(node, scale, scale + 1);
  infer::set(node, 0, infer::type_of(node, 1),
             infer::broadcast(infer::broadcast(infer::shape_of(node, 0), infer::shape_of(node, 1)),
                              infer::shape_of(node, 4)));
}

}  // namespace

Table quantized_where_kernels() { return kQuantizedWhereKernels; }

Definitions define_quantized_where() {
  return {
      eph::Operator(kMicrosoft, "QLinearWhere", 1)
          .description("X where the condition holds, else Y; quantised.")
          .input("condition", "B", kBool)
          .input("X", "T", kBytes)
          .input("x_scale", "TF", kOnlyFloat)
          .input("x_zero_point", "T", kBytes)
          .input("Y", "T", kBytes)
          .input("y_scale", "TF", kOnlyFloat)
          .input("y_zero_point", "T", kBytes)
          .input("z_scale", "TF", kOnlyFloat)
          .input("z_zero_point", "T", kBytes)
          .output("Z", "T", kBytes)
          .infer(&infer_where),
  };
}

}  // namespace ephost_cpu
