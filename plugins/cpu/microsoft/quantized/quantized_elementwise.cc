// QLinearAdd and QLinearMul, which compute in float, and QLinearSigmoid, QLinearLeakyRelu and
// QLinearConcat: of a byte only 256 values exist, so that what they become is looked up in a table.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"
#include "plugins/cpu/microsoft/quantized/quantized_parameters.h"

namespace ephost_cpu {
namespace {

template <class T>
CPU_SIMD void decode_row(const T* x, float zero_point, float factor, float* y, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = (static_cast<float>(x[i]) - zero_point) * factor;
}

CPU_SIMD void add_row(const float* b, float* a, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) a[i] += b[i];
}

CPU_SIMD void multiply_row(const float* b, float factor, float* a, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) a[i] = a[i] * b[i] * factor;
}

// Takes scaled operands, or their distances from the zero points. In a step of its own, as a fused
// multiplication and addition would round sums in another way than the operators of float.
struct AddOp {
  static constexpr bool kScales = true;
  static constexpr double kCost = 0.3;
  float factor;
  void operator()(const QuantizationBuffer& b, QuantizationBuffer& a, int64_t count) const {
    add_row(b.data(), a.data(), count);
  }
};
struct MulOp {
  static constexpr bool kScales = false;
  static constexpr double kCost = 0.3;
  float factor;  // the product of the scales
  void operator()(const QuantizationBuffer& b, QuantizationBuffer& a, int64_t count) const {
    multiply_row(b.data(), factor, a.data(), count);
  }
};

template <class Op>
class QLinearBinary final : public Kernel {
 public:
  explicit QLinearBinary(const NodeContext& context) : Kernel(context) {
    require_inputs(context, {3, 4, 6});
    allow_inplace_if_equal(context, 0);
    allow_inplace_if_equal(context, 3);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& a = *run.input(0);
    const eph_value& b = *run.input(3);
    const QuantizedParameters of_a = read_parameters(run, 1, 2);
    const QuantizedParameters of_b = read_parameters(run, 4, 5);
    const QuantizedParameters of_c = read_parameters(run, 6, 7);
    const Dims shape = broadcast_shape(dims_of(a), dims_of(b));
    const int32_t type = a.element_type;
    const eph_value& c = allocate_output(run, 0, type, shape);
    const Op op{of_a.scale * of_b.scale};
    const Broadcast<2> walk(shape, {dims_of(a), dims_of(b)});
    dispatch<int8_t, uint8_t>(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto operand = [](const eph_value& value, QuantizedParameters of, int64_t offset,
                              int64_t stride) {
        return Operand<T>{data<const T>(value) + offset, stride, static_cast<float>(of.zero_point),
                          Op::kScales ? of.scale : 1};
      };
      walk.for_each_row(
          Op::kCost, [&](int64_t at, const auto& offsets, const auto& strides, int64_t count) {
            combine(op, operand(a, of_a, offsets[0], strides[0]),
                    operand(b, of_b, offsets[1], strides[1]), of_c, data<T>(c) + at, count);
          });
    });
  }

 private:
  template <class T>
  struct Operand {
    const T* bytes;
    int64_t stride;
    float zero_point, factor;

    void decode(int64_t first, int64_t count, QuantizationBuffer& to) const {
      if (stride == 1) return decode_row(bytes + first, zero_point, factor, to.data(), count);
      for (int64_t i = 0; i < count; ++i) {
        const auto number = static_cast<float>(bytes[(first + i) * stride]);
        to[static_cast<std::size_t>(i)] = (number - zero_point) * factor;
      }
    }
  };

  template <class T>
  static void combine(const Op& op, const Operand<T>& a, const Operand<T>& b,
                      QuantizedParameters to, T* y, int64_t count) {
    const QuantizedRange range = quantized_range(eph::element_type_of<T>());
    QuantizationBuffer left, right;
    for (int64_t at = 0; at < count; at += kQuantizationBlock) {
      const int64_t length = std::min(kQuantizationBlock, count - at);
      a.decode(at, length, left);
      b.decode(at, length, right);
      op(right, left, length);
      quantize(left.data(), to.scale, static_cast<float>(to.zero_point), range, y + at, length);
    }
  }
};

// What each byte becomes: quantised f(what it stands for).
template <class F>
ByteMap byte_map(int32_t type, QuantizedParameters from, QuantizedParameters to, const F& f) {
  ByteTable values = byte_table(type, from.zero_point, from.scale);
  for (float& value : values) value = f(value);
  ByteMap map;
  quantize_bytes(type, values.data(), to, map.data(), static_cast<int64_t>(map.size()));
  return map;
}

void map_bytes(const ByteMap& map, const uint8_t* x, uint8_t* y, int64_t count) {
  parallel_for(count, 0.5, [&map, x, y](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = map[x[i]];
  });
}

struct SigmoidOf {
  explicit SigmoidOf(const NodeContext&) {}
  float operator()(float x) const { return 1 / (1 + std::exp(-x)); }
};

struct LeakyReluOf {
  explicit LeakyReluOf(const NodeContext& context)
      : alpha(context.node().get_float("alpha", 0.01F)) {}
  float operator()(float x) const { return x >= 0 ? x : alpha * x; }
  float alpha;
};

template <class Function>
class QLinearUnary final : public Kernel {
 public:
  explicit QLinearUnary(const NodeContext& context) : Kernel(context), function_(context) {
    require_inputs(context, {3});
    allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const ByteMap map =
        byte_map(x.element_type, read_parameters(run, 1, 2), read_parameters(run, 3, 4), function_);
    const Dims shape = dims_of(x);
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    map_bytes(map, data<const uint8_t>(x), data<uint8_t>(y), element_count(shape));
  }

 private:
  Function function_;
};

// Inputs: scale and zero point of Y, then tensor, scale and zero point of each part.
class QLinearConcat final : public Kernel {
 public:
  explicit QLinearConcat(const NodeContext& context)
      : Kernel(context), axis_(context.node().get_int("axis", 0)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    if (run.input_count() < 5 || run.input_count() % 3 != 2) {
      fail("there are " + std::to_string(run.input_count()) +
           " inputs, expected a scale and a zero point, and three for each tensor");
    }
    const QuantizedParameters to = read_parameters(run, 0, 1);
    const int32_t type = run.input(1)->element_type;
    Dims shape = dims_of(*part(run, 2, type));
    const std::size_t axis = normalize_axis(axis_, shape.size());
    for (uint32_t i = 5; i < run.input_count(); i += 3) {
      const Dims other = dims_of(*part(run, i, type));
      bool fits = other.size() == shape.size();
      for (std::size_t d = 0; fits && d < shape.size(); ++d) {
        fits = d == axis || other[d] == shape[d];
      }
      if (!fits) {
        fail("tensors of shapes " + to_string(shape) + " and " + to_string(other) +
             " cannot be joined along axis " + std::to_string(axis));
      }
      shape[axis] = checked_add(shape[axis], other[axis]);
    }
    const eph_value& y = allocate_output(run, 0, type, shape);
    const int64_t outer = element_count(shape, 0, axis);
    const int64_t row = element_count(shape, axis, shape.size());
    int64_t offset = 0;
    for (uint32_t i = 2; i < run.input_count(); i += 3) {
      const eph_value& x = *run.input(i);
      const int64_t length = element_count(dims_of(x), axis, shape.size());
      const ByteMap map =
          byte_map(type, read_parameters(run, i + 1, i + 2), to, [](float value) { return value; });
      for (int64_t o = 0; o < outer; ++o) {
        map_bytes(map, data<const uint8_t>(x) + o * length, data<uint8_t>(y) + o * row + offset,
                  length);
      }
      offset += length;
    }
  }

 private:
  // The tensor that begins at the input, whose scale and zero point follow.
  static const eph_value* part(const eph::Run& run, uint32_t first, int32_t type) {
    const auto has_type = [&](uint32_t i, int32_t wanted) {
      return run.input(i) != nullptr && run.input(i)->element_type == wanted;
    };
    if (!has_type(first, type) || !has_type(first + 1, EPH_ELEMENT_FLOAT) ||
        !has_type(first + 2, type)) {
      fail("inputs " + std::to_string(first) + " to " + std::to_string(first + 2) +
           " are not a tensor of " + type_name(type) + " with its scale and zero point");
    }
    return run.input(first);
  }

  int64_t axis_;
};

constexpr Inputs kBinary = {.required = 2, .same_type = 0b10101101};
constexpr auto& kBinaryTypes =
    kInputTypes<kBytes, kOnlyFloat, kBytes, kBytes, kOnlyFloat, kBytes, kOnlyFloat, kBytes>;
constexpr eph_type_rule kConcatTypes[] = {
    {0, 0, kOnlyFloat}, {1, 0, kBytes}, {2, EPH_RULE_VARIADIC, kBytes | kOnlyFloat}};

constexpr KernelEntry kQuantizedElementwiseKernels[] = {
    {"QLinearAdd", 1, 1, kBinary, kBinaryTypes, &make<QLinearBinary<AddOp>>, kMicrosoft},
    {"QLinearMul", 1, 1, kBinary, kBinaryTypes, &make<QLinearBinary<MulOp>>, kMicrosoft},
    {"QLinearSigmoid", 1, 1, kQuantizedUnary, kQuantizedUnaryTypes, &make<QLinearUnary<SigmoidOf>>,
     kMicrosoft},
    {"QLinearLeakyRelu", 1, 1, kQuantizedUnary, kQuantizedUnaryTypes,
     &make<QLinearUnary<LeakyReluOf>>, kMicrosoft},
    {"QLinearConcat", 1, 1, {.required = 5}, kConcatTypes, &make<QLinearConcat>, kMicrosoft},
};

// ---- Definitions --------------------------------------------------------------------------------

void infer_binary(eph::Inference& node) {
  for (const uint32_t scale : {1U, 4U, 6U}) check_parameters(node, scale, scale + 1);
  infer::set(node, 0, infer::type_of(node, 0),
             infer::broadcast(infer::shape_of(node, 0), infer::shape_of(node, 3)));
}

void infer_unary(eph::Inference& node) {
  check_parameters(node, 1, 2);
  check_parameters(node, 3, 4);
  node.set_output_like(0, 0);
}

void infer_concat(eph::Inference& node) {
  check_parameters(node, 0, 1);
  const auto inputs = static_cast<uint32_t>(node.node().inputs().size());
  if (inputs < 5 || inputs % 3 != 2) {
    infer::fail("it has " + std::to_string(inputs) +
                " inputs, expected a scale and a zero point, and three for each tensor");
  }
  infer::Shape joined = infer::shape_of(node, 2);
  if (!joined) return node.set_output(0, infer::type_of(node, 1));
  const std::size_t axis = infer::axis_of(node.node().get_int("axis", 0), joined->size());
  for (uint32_t i = 2; i < inputs; i += 3) {
    check_parameters(node, i + 1, i + 2);
    if (i == 2) continue;
    const infer::Shape part = infer::shape_of(node, i);
    if (!part) {
      (*joined)[axis] = {};
      continue;
    }
    if (part->size() != joined->size()) {
      infer::fail("tensors " + infer::to_text(*joined) + " and " + infer::to_text(*part) +
                  " differ in rank");
    }
    for (std::size_t d = 0; d < part->size(); ++d) {
      infer::Extent& extent = (*joined)[d];
      extent = d == axis ? infer::sum(extent, (*part)[d])
                         : infer::same(extent, (*part)[d], "extents of joined tensors");
    }
  }
  infer::set(node, 0, infer::type_of(node, 1), joined);
}

eph::Operator binary(std::string_view name, std::string_view description) {
  return eph::Operator(kMicrosoft, name, 1)
      .description(description)
      .input("A", "T", kBytes)
      .input("A_scale", "", kOnlyFloat)
      .input("A_zero_point", "T", kBytes, eph::kOptional)
      .input("B", "T", kBytes)
      .input("B_scale", "", kOnlyFloat)
      .input("B_zero_point", "T", kBytes, eph::kOptional)
      .input("C_scale", "", kOnlyFloat)
      .input("C_zero_point", "T", kBytes, eph::kOptional)
      .output("C", "T", kBytes)
      .infer(&infer_binary);
}

eph::Operator unary(std::string_view name, std::string_view description) {
  return eph::Operator(kMicrosoft, name, 1)
      .description(description)
      .input("X", "T", kBytes)
      .input("X_scale", "", kOnlyFloat)
      .input("X_zero_point", "T", kBytes, eph::kOptional)
      .input("Y_scale", "", kOnlyFloat)
      .input("Y_zero_point", "T", kBytes, eph::kOptional)
      .output("Y", "T", kBytes)
      .infer(&infer_unary);
}

}  // namespace

Table quantized_elementwise_kernels() { return kQuantizedElementwiseKernels; }

Definitions define_quantized_elementwise() {
  return {
      binary("QLinearAdd", "The sum of two quantised tensors, quantised."),
      binary("QLinearMul", "The product of two quantised tensors, quantised."),
      unary("QLinearSigmoid", "1 / (1 + e^-x) of a quantised tensor, quantised."),
      unary("QLinearLeakyRelu", "x, times alpha where it is negative, of a quantised tensor.")
          .attribute("alpha", 0.01F),
      eph::Operator(kMicrosoft, "QLinearConcat", 1)
          .description("Joins quantised tensors along an axis, with one scale for the result.")
          .input("Y_scale", "TF", kOnlyFloat)
          .input("Y_zero_point", "T8", kBytes)
          .input("inputs", "", kBytes | kOnlyFloat, eph::kVariadic | eph::kHeterogeneous)
          .output("Y", "T8", kBytes)
          .required_attribute("axis", EPH_ATTRIBUTE_INT)
          .infer(&infer_concat),
  };
}

}  // namespace ephost_cpu
