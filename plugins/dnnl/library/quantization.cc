#include "plugins/dnnl/library/quantization.h"

#include <utility>

namespace ephost_dnnl {

bool has_exact_integer_products() {
  using Isa = dnnl::cpu_isa;
  switch (dnnl::get_effective_cpu_isa()) {
    case Isa::avx2_vnni:
    case Isa::avx512_core_vnni:
    case Isa::avx512_core_bf16:
    case Isa::avx512_core_amx:
#if DNNL_VERSION_MAJOR >= 3
    case Isa::avx2_vnni_2:
    case Isa::avx512_core_fp16:
    case Isa::avx512_core_amx_fp16:
#endif
      return true;
    default:
      return false;
  }
}

#if DNNL_VERSION_MAJOR >= 3

namespace {

template <class Number>
ParameterArgument parameter(int argument, const std::vector<Number>& values,
                            dnnl::memory::data_type type) {
  return {
      argument,
      dnnl::memory::desc({static_cast<int64_t>(values.size())}, type, dnnl::memory::format_tag::a),
      std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number))};
}

ParameterArgument scales_of(int argument, const std::vector<float>& scales) {
  return parameter(DNNL_ARG_ATTR_SCALES | argument, scales, dnnl::memory::data_type::f32);
}

}  // namespace

bool bias_is_scaled() { return true; }

void QuantizationAttributes::scale_sum(const std::vector<float>& scales, int, int weights_mask) {
  attributes_.set_scales_mask(DNNL_ARG_WEIGHTS, scales.size() == 1 ? 0 : weights_mask);
  arguments_.push_back(scales_of(DNNL_ARG_WEIGHTS, scales));
}

void QuantizationAttributes::scale_operand(int argument, float scale) {
  if (scale == 1) return;
  attributes_.set_scales_mask(argument, 0);
  arguments_.push_back(scales_of(argument, {scale}));
}

void QuantizationAttributes::scale_reorder(float scale) { scale_operand(DNNL_ARG_FROM, scale); }

void QuantizationAttributes::set_zero_point(int argument, int64_t zero_point) {
  if (zero_point == 0) return;
  attributes_.set_zero_points_mask(argument, 0);
  arguments_.push_back(parameter(DNNL_ARG_ATTR_ZERO_POINTS | argument,
                                 std::vector<int32_t>{static_cast<int32_t>(zero_point)},
                                 dnnl::memory::data_type::s32));
}

#else

bool bias_is_scaled() { return false; }

void QuantizationAttributes::scale_sum(const std::vector<float>& scales, int output_channel, int) {
  attributes_.set_output_scales(scales.size() == 1 ? 0 : 1 << output_channel, scales);
}

void QuantizationAttributes::scale_operand(int argument, float scale) {
  if (scale != 1) attributes_.set_scales(argument, 0, {scale});
}

void QuantizationAttributes::scale_reorder(float scale) {
  if (scale != 1) attributes_.set_output_scales(0, {scale});
}

void QuantizationAttributes::set_zero_point(int argument, int64_t zero_point) {
  if (zero_point == 0) return;
  attributes_.set_zero_points(argument, 0, {static_cast<int32_t>(zero_point)});
}

#endif

}  // namespace ephost_dnnl
