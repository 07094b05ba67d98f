#include "plugins/onednn/dividing_convolutions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ephost_onednn {

#if DNNL_VERSION_MAJOR >= 3

namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

// Inputs and outputs of a group.
constexpr std::array<std::pair<int64_t, int64_t>, 5> kDividing = {
    {{1024, 2048}, {1024, 512}, {256, 1024}, {512, 1024}, {512, 2048}}};

bool has_avx512() {
  using Isa = dnnl::cpu_isa;
  switch (dnnl::get_effective_cpu_isa()) {
    case Isa::sse41:
    case Isa::avx:
    case Isa::avx2:
    case Isa::avx2_vnni:
    case Isa::avx2_vnni_2:
      return false;
    default:
      return true;
  }
}

bool is_float(const Desc& desc) {
  using Type = dnnl::memory::data_type;
  return desc.get_data_type() == Type::f32 || desc.get_data_type() == Type::bf16;
}

// Whether another implementation comes first.
bool has_other(const Desc& data) {
  return !is_float(data) && dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx2;
}

bool is_any(const Desc& desc) { return desc.get_format_kind() == dnnl::memory::format_kind::any; }

bool is_channels_last(const Desc& desc) {
  constexpr std::array<Tag, 3> kTags = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  const int spatial = desc.get_ndims() - 2;
  return spatial >= 1 && spatial <= 3 &&
         desc == Desc(desc.get_dims(), desc.get_data_type(), kTags[spatial - 1]);
}

}  // namespace

bool divides_by_zero(const Desc& data, const Desc& weights) {
  const dnnl::memory::dims shape = weights.get_dims();
  const std::size_t outputs = weights.get_ndims() > data.get_ndims() ? 1 : 0;
  const bool is_of_one_element = std::all_of(shape.begin() + outputs + 2, shape.end(),
                                             [](int64_t extent) { return extent == 1; });
  const std::pair<int64_t, int64_t> channels = {shape[outputs + 1], shape[outputs]};
  return is_of_one_element && (is_any(data) || is_channels_last(data)) && !has_other(data) &&
         std::find(kDividing.begin(), kDividing.end(), channels) != kDividing.end();
}

Desc in_channel_blocks(const Desc& data) {
  constexpr std::array<Tag, 3> kEight = {Tag::nCw8c, Tag::nChw8c, Tag::nCdhw8c};
  constexpr std::array<Tag, 3> kSixteen = {Tag::nCw16c, Tag::nChw16c, Tag::nCdhw16c};
  const int spatial = data.get_ndims() - 2;
  if (!is_any(data) && !is_channels_last(data)) return data;
  if (!is_float(data) || !is_any(data) || spatial < 1 || spatial > 3) {
    throw dnnl::error(dnnl_unimplemented, "oneDNN would divide by zero");
  }
  const Tag tag = (has_avx512() ? kSixteen : kEight)[spatial - 1];
  return {data.get_dims(), data.get_data_type(), tag};
}

#else

bool divides_by_zero(const dnnl::memory::desc&, const dnnl::memory::desc&) { return false; }

dnnl::memory::desc in_channel_blocks(const dnnl::memory::desc& data) { return data; }

#endif

}  // namespace ephost_onednn
