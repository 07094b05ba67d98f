// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include <algorithm>
#include <array>
#include <cmath>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/kernels/quantized/quantization.h"
#include "plugins/cpu/math/convert.h"
#include "plugins/cpu/math/short_float.h"

namespace ephost_cpu {
namespace {

constexpr uint64_t kShortInts =
    kTypeSet<EPH_ELEMENT_INT8, EPH_ELEMENT_UINT8, EPH_ELEMENT_INT16, EPH_ELEMENT_UINT16>;
constexpr uint64_t kQuantized = kShortInts | kFloat8 | kPacked;

constexpr float kZero = 0;

// The type that an attribute names, which must be in the set; EPH_ELEMENT_UNDEFINED for 0.
int32_t type_attribute(const NodeContext& context, const char* name, uint64_t types) {
  const int64_t type = context.node().get_int(name, 0);
  if (type < 0 || type > 63 || (type != 0 && (types >> type & 1) == 0)) {
    fail_unsupported(std::string("attribute ") + name + "=" + std::to_string(type) +
                     " is not a supported element type");
  }
  return static_cast<int32_t>(type);
}

// Rounds to numbers that the type represents.
void round_through(int32_t type, float* values, int64_t count) {
  if (type == EPH_ELEMENT_FLOAT) return;
  std::array<uint16_t, kQuantizationBlock> halves;
  convert(values, EPH_ELEMENT_FLOAT, halves.data(), type, count);
  convert(halves.data(), type, values, EPH_ELEMENT_FLOAT, count);
}

CPU_SIMD void divide_by_scales(const float* x, const float* scales, int64_t step, float* y,
                               int64_t count) {
  if (step == 0) {
    const float scale = *scales;
    for (int64_t i = 0; i < count; ++i) y[i] = x[i] / scale;
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = x[i] / scales[i];
  }
}

CPU_SIMD void scale_up(const float* x, const float* zero_points, int64_t zero_step,
                       const float* scales, int64_t step, float* y, int64_t count) {
  if (step == 0) {
    const float scale = *scales;
    const float zero_point = *zero_points;
    for (int64_t i = 0; i < count; ++i) y[i] = (x[i] - zero_point) * scale;
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = (x[i] - zero_points[i * zero_step]) * scales[i];
  }
}

// Quantizes with one scale for all elements.
template <class T>
CPU_SIMD void dequantize(const T* x, float zero_point, float scale, float* y, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = (static_cast<float>(x[i]) - zero_point) * scale;
}

// What both directions share: attributes, the layout, and scales and zero points in float.
class LinearKernel : public Kernel {
 public:
  explicit LinearKernel(const NodeContext& context)
      : Kernel(context),
        axis_(context.node().get_int("axis", 1)),
        block_size_(context.node().get_int("block_size", 0)) {}

 protected:
  struct Parameters {
    ScaleLayout layout;
    const float* scales;
    const float* zero_points;
    bool has_zero_points;

    [[nodiscard]] const float* zero_point(const ScaleLayout::Row& row, int64_t offset) const {
      return has_zero_points ? zero_points + row.scale + offset * row.step : &kZero;
    }
    [[nodiscard]] int64_t zero_step(const ScaleLayout::Row& row) const {
      return has_zero_points ? row.step : 0;
    }
  };

  [[nodiscard]] Parameters read_parameters(eph::Run& run, const Dims& shape) const {
    const Dims scales = dims_of(*run.input(1));
    const eph_value* zero_points = run.input(2);
    if (zero_points != nullptr && element_count(dims_of(*zero_points)) != element_count(scales)) {
      fail("zero points of shape " + to_string(dims_of(*zero_points)) +
           " do not match scales of shape " + to_string(scales));
    }
    return {ScaleLayout(shape, scales, axis_, block_size_), floats_of(run, *run.input(1)),
            zero_points != nullptr ? floats_of(run, *zero_points) : nullptr,
            zero_points != nullptr};
  }

  // Calls body(first element, count, offset in the row) for blocks of the row.
  template <class Body>
  static void for_each_block(const ScaleLayout::Row& row, const Body& body) {
    for (int64_t at = 0; at < row.count; at += kQuantizationBlock) {
      body(row.first + at, std::min(kQuantizationBlock, row.count - at), at);
    }
  }

  // Elements of x in float, converted into the buffer if necessary.
  static const float* block_of(const eph_value& x, int64_t first, int64_t count,
                               QuantizationBuffer& buffer) {
    if (x.element_type == EPH_ELEMENT_FLOAT) return data<const float>(x) + first;
    convert(data<const char>(x) + first * element_size(x.element_type), x.element_type,
            buffer.data(), EPH_ELEMENT_FLOAT, count);
    return buffer.data();
  }

 private:
  int64_t axis_, block_size_;
};

class QuantizeLinear final : public LinearKernel {
 public:
  explicit QuantizeLinear(const NodeContext& context)
      : LinearKernel(context),
        output_type_(type_attribute(context, "output_dtype", kQuantized)),
        precision_(type_attribute(context, "precision", kUpToFloat)),
        saturates_(context.node().get_int("saturate", 1) != 0) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const eph_value* zero_points = run.input(2);
    const int32_t type = zero_points != nullptr                  ? zero_points->element_type
                         : output_type_ != EPH_ELEMENT_UNDEFINED ? output_type_
                                                                 : int32_t{EPH_ELEMENT_UINT8};
    const Parameters parameters = read_parameters(run, shape);
    const eph_value& y = allocate_output(run, 0, type, shape);
    const int64_t count = element_count(shape);
    const bool packs = is_packed(type);
    void* codes = packs ? run.scratch(static_cast<uint64_t>(count) + 1) : y.data;
    const int32_t precision = precision_of(run);
    if (is_short_float(type)) {
      parameters.layout.for_each_row([&](const ScaleLayout::Row& row) {
        quantize_row(
            x, parameters, precision, row,
            [&](float* values, int64_t first, int64_t length, const float* zeros, int64_t step) {
              for (int64_t i = 0; i < length; ++i) values[i] += zeros[i * step];
              encode_short_floats(type, values, static_cast<uint8_t*>(codes) + first, length,
                                  {saturates_});
            });
      });
    } else {
      const QuantizedRange range = quantized_range(type);
      const int32_t storage = packs ? unpacked_type(type) : type;
      dispatch<int8_t, uint8_t, int16_t, uint16_t>(storage, [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* to = static_cast<T*>(codes);
        const bool is_plain = x.element_type == EPH_ELEMENT_FLOAT && precision == EPH_ELEMENT_FLOAT;
        parameters.layout.for_each_row([&](const ScaleLayout::Row& row) {
          if (is_plain && row.step == 0) {
            return ephost_cpu::quantize(
                data<const float>(x) + row.first, parameters.scales[row.scale],
                *parameters.zero_point(row, 0), range, to + row.first, row.count);
          }
          quantize_row(
              x, parameters, precision, row,
              [&](float* values, int64_t first, int64_t length, const float* zeros, int64_t step) {
                round_to_quantized(values, zeros, step, range, to + first, length);
              });
        });
      });
    }
    if (packs) pack_elements(type, static_cast<uint8_t*>(codes), data<uint8_t>(y), count);
  }

 private:
  // The type that quotients are rounded to: that of the scales, or float where these are powers of
  // two, since few quotients are.
  [[nodiscard]] int32_t precision_of(const eph::Run& run) const {
    if (precision_ != EPH_ELEMENT_UNDEFINED) return precision_;
    const int32_t scale = run.input(1)->element_type;
    return (kPowers & eph::type_bit(scale)) != 0 ? int32_t{EPH_ELEMENT_FLOAT} : scale;
  }

  // Calls store(quotients, first element, count, zero points, their step) for blocks of the row.
  template <class Store>
  static void quantize_row(const eph_value& x, const Parameters& parameters, int32_t precision,
                           const ScaleLayout::Row& row, const Store& store) {
    for_each_block(row, [&](int64_t first, int64_t count, int64_t offset) {
      QuantizationBuffer buffer;
      const float* from = block_of(x, first, count, buffer);
      const float* scales = parameters.scales + row.scale + offset * row.step;
      divide_by_scales(from, scales, row.step, buffer.data(), count);
      round_through(precision, buffer.data(), count);
      store(buffer.data(), first, count, parameters.zero_point(row, offset),
            parameters.zero_step(row));
    });
  }

  int32_t output_type_;
  int32_t precision_;
  bool saturates_;
};

class DequantizeLinear final : public LinearKernel {
 public:
  explicit DequantizeLinear(const NodeContext& context)
      : LinearKernel(context), output_type_(type_attribute(context, "output_dtype", kUpToFloat)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    eph_value x = *run.input(0);
    const Dims shape = dims_of(x);
    const int32_t type =
        output_type_ != EPH_ELEMENT_UNDEFINED ? output_type_ : run.input(1)->element_type;
    if ((kUpToFloat & eph::type_bit(type)) == 0) {
      fail("scales of " + type_name(type) +
           " need attribute output_dtype: no output has their type");
    }
    const Parameters parameters = read_parameters(run, shape);
    const eph_value& y = allocate_output(run, 0, type, shape);
    if (is_packed(x.element_type)) {  // rows may begin within a byte
      x.data = const_cast<float*>(floats_of(run, x));
      x.element_type = EPH_ELEMENT_FLOAT;
    }
    const int64_t size = element_size(type);
    parameters.layout.for_each_row([&](const ScaleLayout::Row& row) {
      if (type == EPH_ELEMENT_FLOAT && row.step == 0 && x.element_type == EPH_ELEMENT_INT8) {
        return scale_row<int8_t>(x, parameters, row, y);
      }
      if (type == EPH_ELEMENT_FLOAT && row.step == 0 && x.element_type == EPH_ELEMENT_UINT8) {
        return scale_row<uint8_t>(x, parameters, row, y);
      }
      for_each_block(row, [&](int64_t first, int64_t count, int64_t offset) {
        QuantizationBuffer buffer;
        const float* from = block_of(x, first, count, buffer);
        float* to = type == EPH_ELEMENT_FLOAT ? data<float>(y) + first : buffer.data();
        scale_up(from, parameters.zero_point(row, offset), parameters.zero_step(row),
                 parameters.scales + row.scale + offset * row.step, row.step, to, count);
        if (type != EPH_ELEMENT_FLOAT) {
          convert(to, EPH_ELEMENT_FLOAT, data<char>(y) + first * size, type, count);
        }
      });
    });
  }

 private:
  template <class T>
  static void scale_row(const eph_value& x, const Parameters& parameters,
                        const ScaleLayout::Row& row, const eph_value& y) {
    dequantize(data<const T>(x) + row.first, *parameters.zero_point(row, 0),
               parameters.scales[row.scale], data<float>(y) + row.first, row.count);
  }

  int32_t output_type_;
};

// Quantizes to uint8 over the range of the elements and zero.
class DynamicQuantizeLinear final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const auto* elements = data<const float>(x);
    const int64_t count = element_count(eph::shape_of(x));
    const DynamicParameters chosen = choose_parameters(elements, count);
    if (run.output(1) != nullptr) {
      *data<float>(allocate_output(run, 1, EPH_ELEMENT_FLOAT, {})) = chosen.scale;
    }
    if (run.output(2) != nullptr) {
      *data<uint8_t>(allocate_output(run, 2, EPH_ELEMENT_UINT8, {})) =
          static_cast<uint8_t>(chosen.zero_point);
    }
    if (run.output(0) == nullptr) return;
    auto* y = data<uint8_t>(allocate_output(run, 0, EPH_ELEMENT_UINT8, dims_of(x)));
    parallel_for(count, 1, [=](int64_t begin, int64_t end) {
      quantize(elements + begin, chosen.scale, chosen.zero_point, QuantizedRange{0, 255}, y + begin,
               end - begin);
    });
  }
};

constexpr Inputs kOfX = {.required = 2, .same_type = 0b101};
constexpr uint64_t kScales = kUpToFloat | kPowers;
constexpr auto& kFromReal = kInputTypes<kUpToFloat | kInt32, kScales, kQuantized>;
constexpr auto& kToReal = kInputTypes<kQuantized | kInt32, kScales, kQuantized | kInt32>;

constexpr KernelEntry kQuantizeKernels[] = {
    {"QuantizeLinear", 10, kNewest, kTwoInputs, kFromReal, &make<QuantizeLinear>},
    {"DequantizeLinear", 10, kNewest, kOfX, kToReal, &make<DequantizeLinear>},
    {"DynamicQuantizeLinear",
     11,
     kNewest,
     {},
     kInputTypes<kOnlyFloat>,
     &make<DynamicQuantizeLinear>},
};

}  // namespace

Table quantize_kernels() { return kQuantizeKernels; }

}  // namespace ephost_cpu
