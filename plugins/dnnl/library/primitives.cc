#include "plugins/dnnl/library/primitives.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "plugins/onednn/dividing_convolutions.h"

namespace ephost_dnnl {
namespace {

using Layout = dnnl::memory::desc;

constexpr auto kForward = dnnl::prop_kind::forward_inference;

// What crashes in oneDNN 2.6.3 when it has post-ops and the machine has later instructions: pooling
// when it is made, and depthwise convolution when it runs.
constexpr std::string_view kCrashesWithPostOps = "sse41";

bool is_made_for_later_machines(const dnnl::primitive_attr& attributes) {
  return attributes.get_post_ops().len() > 0 &&
         dnnl::get_effective_cpu_isa() != dnnl::cpu_isa::sse41;
}

bool is_allowed(std::string_view implementation, const PrimitiveSettings& settings) {
  const auto has = [&](std::string_view part) {
    return implementation.find(part) != implementation.npos;
  };
  if (!settings.avoided.empty() && has(settings.avoided)) return false;
  return !has(kCrashesWithPostOps) || !is_made_for_later_machines(settings.attributes);
}

dnnl::primitive_desc_base chosen(dnnl::primitive_desc description,
                                 const PrimitiveSettings& settings) {
  std::set<std::string> counted;
  for (;;) {
    const std::string name = description.impl_info_str();
    if (is_allowed(name, settings)) counted.insert(name);
    if (counted.size() > settings.implementation) return description;
    if (!description.next_impl()) {
      throw dnnl::error(dnnl_unimplemented, "no further implementation");
    }
  }
}

#if DNNL_VERSION_MAJOR >= 3

// Whether what one source has in each row of a concatenation is less than a word. oneDNN 3.7.2
// aligns rows of bytes and half-words to words; in such a row it takes more bytes off than there
// are, and writes until it meets memory that is not mapped. 2.6.3 copies them as they are.
bool is_tiny(const Layout& source, int axis) {
  constexpr dnnl::memory::dim kWord = 4;
  const auto place = static_cast<std::size_t>(axis);
  const auto size =
      static_cast<dnnl::memory::dim>(dnnl::memory::data_type_size(source.get_data_type()));
  const auto row = source.get_strides()[place] * source.get_dims()[place] * size;
  return source.get_inner_nblks() == 0 && row > 0 && row < kWord;
}

// A row-major layout but for the axis, which comes first, so that a source is one block in it and
// is reordered there. Throws dnnl::error (unimplemented) where that is not to be chosen: for one
// dimension, which has no other layout, and for an output whose layout is given.
Layout with_outermost(const Layout& output, int axis) {
  const dnnl::memory::dims dims = output.get_dims();
  const auto place = static_cast<std::size_t>(axis);
  const bool is_free = output.get_format_kind() == dnnl::memory::format_kind::any;
  if (dims.size() < 2 || !is_free) {
    throw dnnl::error(dnnl_unimplemented, "rows of less than a word");
  }
  dnnl::memory::dims strides(dims.size());
  dnnl::memory::dim next = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (i == place) continue;
    strides[i] = next;
    next *= dims[i];
  }
  strides[place] = next;
  return {dims, output.get_data_type(), strides};
}

using PoolingPrimitive = dnnl::pooling_forward;
using SoftmaxPrimitive = dnnl::softmax_forward;

// Version 3 makes a primitive descriptor in one step.
template <class Primitive, class... Arguments>
dnnl::primitive_desc_base describe_primitive(const PrimitiveSettings& settings,
                                             const Arguments&... arguments) {
  return chosen(
      typename Primitive::primitive_desc(settings.engine, arguments..., settings.attributes),
      settings);
}

// Version 3 wants the layout of the output too where version 2 takes that of the data for it.
std::tuple<Layout, Layout> data_and_output(const Layout& data) { return {data, data}; }

// Version 3 leaves it to the caller that HardSwish is x * clip(x / 6 + 1 / 2, 0, 1).
constexpr float kHardSwishSlope = 1.0F / 6, kHardSwishOffset = 0.5F;

// Sets the field if the library answers for this kind of layout; otherwise the field keeps its
// value.
template <class Field>
void ask(const Layout& layout, dnnl_query_t what, Field& field) {
  Field found = {};
  if (dnnl_memory_desc_query(layout.get(), what, &found) == dnnl_success) field = found;
}

void ask(const Layout& layout, dnnl_query_t what, int count, dnnl_dims_t& field) {
  const dnnl_dims_t* found = nullptr;
  if (dnnl_memory_desc_query(layout.get(), what, &found) != dnnl_success || found == nullptr) {
    return;
  }
  std::copy_n(*found, count, field);
}

#else

using PoolingPrimitive = dnnl::pooling_v2_forward;
using SoftmaxPrimitive = dnnl::softmax_v2_forward;

// Version 2 describes the operation first. It reads the description again for each implementation.
template <class Primitive, class... Arguments>
dnnl::primitive_desc_base describe_primitive(const PrimitiveSettings& settings,
                                             const Arguments&... arguments) {
  const typename Primitive::desc operation(arguments...);
  return chosen(typename Primitive::primitive_desc(operation, settings.attributes, settings.engine),
                settings);
}

std::tuple<Layout> data_and_output(const Layout& data) { return {data}; }

constexpr float kHardSwishSlope = 0, kHardSwishOffset = 0;  // has no parameters

std::string winograd_fields(const dnnl_wino_desc_t& wino) {
  std::string bytes;
  for (const int64_t field :
       {int64_t{wino.wino_format}, int64_t{wino.r}, int64_t{wino.alpha}, int64_t{wino.ic},
        int64_t{wino.oc}, int64_t{wino.ic_block}, int64_t{wino.oc_block}, int64_t{wino.ic2_block},
        int64_t{wino.oc2_block}, static_cast<int64_t>(wino.size)}) {
    append_field(bytes, field);
  }
  return bytes;
}

#endif

void require_first(const PrimitiveSettings& settings) {
  if (settings.implementation > 0) {
    throw dnnl::error(dnnl_unimplemented, "no further implementation");
  }
}

struct EltwiseParameters {
  float alpha;
  float beta;
};

EltwiseParameters parameters_of(dnnl::algorithm function, float alpha, float beta) {
  if (function != dnnl::algorithm::eltwise_hardswish) return {alpha, beta};
  return {kHardSwishSlope, kHardSwishOffset};
}

// What oneDNN 3.7 computes wrongly with AVX-512: an output that is one column wide, from groups of
// one input channel and with a stride along the width.
constexpr std::string_view kWrongForOneColumn = "brg_conv_fwd";

bool is_one_column_of_one_channel(const Layout& data, const Layout& weights, const Layout& output,
                                  const dnnl::memory::dims& strides) {
  const LayoutFields x = layout_fields(data), w = layout_fields(weights), y = layout_fields(output);
  const int channels = w.ndims > x.ndims ? 2 : 1;
  return w.dims[channels] == 1 && y.dims[y.ndims - 1] == 1 && strides.back() > 1;
}

// What writes beyond its memory in oneDNN 3.7, with several threads: products of a batch that read
// the same B.
constexpr std::string_view kWrongForRepeatedB = "brg_matmul";

bool repeats_b([[maybe_unused]] const Layout& b, [[maybe_unused]] const Layout& output) {
#if DNNL_VERSION_MAJOR >= 3
  const LayoutFields of_b = layout_fields(b), of_output = layout_fields(output);
  for (int d = 0; d + 2 < of_output.ndims; ++d) {
    if (of_b.dims[d] == 1 && of_output.dims[d] != 1) return true;
  }
#endif
  return false;
}

// A primitive whose output has the layout of its data: `before` and `after` are its arguments on
// both sides of the data.
template <class Primitive, class Before, class After>
dnnl::primitive_desc_base describe_in_layout(const PrimitiveSettings& settings,
                                             const Before& before, const Layout& data,
                                             const After& after) {
  return std::apply(
      [&](const auto&... arguments) {
        return describe_primitive<Primitive>(settings, arguments...);
      },
      std::tuple_cat(before, data_and_output(data), after));
}

}  // namespace

#if DNNL_VERSION_MAJOR >= 3

// The library's own form of a layout, with 0 for what its comparison ignores: padding, and fields
// that mean nothing in this layout. They need not be initialised, and so differ by process.
std::vector<uint8_t> own_form(const Layout& layout) {
  std::vector<uint8_t> form = Layout(layout).get_blob();
  uint32_t word = 0;  // no field is smaller
  for (size_t at = 0; at + sizeof(word) <= form.size(); at += sizeof(word)) {
    std::memcpy(&word, &form[at], sizeof(word));
    if (word == 0) continue;
    const uint32_t other = ~word;
    std::memcpy(&form[at], &other, sizeof(word));
    if (Layout(form) == layout) word = 0;
    std::memcpy(&form[at], &word, sizeof(word));
  }
  return form;
}

LayoutFields layout_fields(const Layout& layout) {
  LayoutFields fields;
  dnnl_data_type_t data_type = dnnl_data_type_undef;
  dnnl_format_kind_t format_kind = dnnl_format_kind_undef;
  ask(layout, dnnl_query_ndims_s32, fields.ndims);
  ask(layout, dnnl_query_data_type, data_type);
  ask(layout, dnnl_query_format_kind, format_kind);
  ask(layout, dnnl_query_submemory_offset_s64, fields.offset);
  ask(layout, dnnl_query_dims, fields.ndims, fields.dims);
  ask(layout, dnnl_query_padded_dims, fields.ndims, fields.padded_dims);
  ask(layout, dnnl_query_padded_offsets, fields.ndims, fields.padded_offsets);
  fields.data_type = data_type;
  fields.format_kind = format_kind;
  fields.is_blocked = format_kind == dnnl_blocked;
  if (fields.is_blocked) {
    ask(layout, dnnl_query_strides, fields.ndims, fields.strides);
    ask(layout, dnnl_query_inner_nblks_s32, fields.inner_block_count);
    ask(layout, dnnl_query_inner_blks, fields.inner_block_count, fields.inner_block_sizes);
    ask(layout, dnnl_query_inner_idxs, fields.inner_block_count, fields.inner_block_dims);
  }
  // Version 3 doesn't tell whether there is extra data. Only layouts of integers have any, for the
  // compensation of zero points; their own form includes it.
  if (!fields.is_blocked || data_type == dnnl_s8 || data_type == dnnl_u8) {
    const std::vector<uint8_t> form = own_form(layout);
    fields.rest.assign(form.begin(), form.end());
  }
  return fields;
}

#else

LayoutFields layout_fields(const Layout& layout) {
  const dnnl_memory_desc_t& raw = layout.data;
  LayoutFields fields;
  fields.ndims = raw.ndims;
  fields.data_type = raw.data_type;
  fields.offset = raw.offset0;
  std::copy_n(raw.dims, raw.ndims, fields.dims);
  std::copy_n(raw.padded_dims, raw.ndims, fields.padded_dims);
  std::copy_n(raw.padded_offsets, raw.ndims, fields.padded_offsets);
  fields.format_kind = raw.format_kind;
  fields.is_blocked = raw.format_kind == dnnl_blocked;
  if (fields.is_blocked) {
    const dnnl_blocking_desc_t& blocking = raw.format_desc.blocking;
    std::copy_n(blocking.strides, raw.ndims, fields.strides);
    fields.inner_block_count = blocking.inner_nblks;
    std::copy_n(blocking.inner_blks, blocking.inner_nblks, fields.inner_block_sizes);
    std::copy_n(blocking.inner_idxs, blocking.inner_nblks, fields.inner_block_dims);
  } else if (raw.format_kind == dnnl_format_kind_wino) {
    fields.rest = winograd_fields(raw.format_desc.wino_desc);
  }
  fields.has_extra = raw.extra.flags != 0;
  append_field(fields.rest, static_cast<int64_t>(raw.extra.flags));
  append_field(fields.rest, int64_t{raw.extra.compensation_mask});
  append_field(fields.rest, int64_t{raw.extra.asymm_compensation_mask});
  return fields;
}

#endif

void append_field(std::string& bytes, int64_t value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string instruction_set() {
  using Isa = dnnl::cpu_isa;
  const Isa isa = dnnl::get_effective_cpu_isa();
  switch (isa) {
    case Isa::sse41:
      return "sse41";
    case Isa::avx:
      return "avx";
    case Isa::avx2:
      return "avx2";
    case Isa::avx2_vnni:
      return "avx2_vnni";
    case Isa::avx512_core:
      return "avx512_core";
    case Isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case Isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case Isa::avx512_core_amx:
      return "avx512_core_amx";
#if DNNL_VERSION_MAJOR >= 3
    case Isa::avx2_vnni_2:
      return "avx2_vnni_2";
    case Isa::avx512_core_fp16:
      return "avx512_core_fp16";
    case Isa::avx512_core_amx_fp16:
      return "avx512_core_amx_fp16";
#else
    case Isa::avx512_mic:
      return "avx512_mic";
    case Isa::avx512_mic_4ops:
      return "avx512_mic_4ops";
#endif
    default:
      return "isa" + std::to_string(static_cast<int>(isa));
  }
}

void append_eltwise(dnnl::post_ops& post_ops, dnnl::algorithm function, float alpha, float beta) {
  const EltwiseParameters parameters = parameters_of(function, alpha, beta);
#if DNNL_VERSION_MAJOR >= 3
  post_ops.append_eltwise(function, parameters.alpha, parameters.beta);
#else
  post_ops.append_eltwise(1.0F, function, parameters.alpha, parameters.beta);
#endif
}

dnnl::primitive_desc_base describe_convolution(const PrimitiveSettings& settings,
                                               const ConvolutionLayouts& layouts,
                                               const Windows& windows) {
  // Winograd convolutions of version 2 were measured too: they need other layouts than the
  // convolutions around them, and the reorders cost what they gain. Version 3 has none.
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  auto [data, weights, output, bias] = layouts;
  const auto& [strides, dilations, begin, end] = windows;
  if (ephost_onednn::divides_by_zero(data, weights)) {
    data = ephost_onednn::in_channel_blocks(data);
    output = ephost_onednn::in_channel_blocks(output);
  }
  PrimitiveSettings allowed = settings;
  if (is_one_column_of_one_channel(data, weights, output, strides)) {
    allowed.avoided = kWrongForOneColumn;
  }
  if (bias == nullptr) {
    return describe_primitive<dnnl::convolution_forward>(allowed, kForward, kDirect, data, weights,
                                                         output, strides, dilations, begin, end);
  }
  return describe_primitive<dnnl::convolution_forward>(
      allowed, kForward, kDirect, data, weights, *bias, output, strides, dilations, begin, end);
}

dnnl::primitive_desc_base describe_matmul(const PrimitiveSettings& settings, const Layout& a,
                                          const Layout& b, const Layout* bias,
                                          const Layout& output) {
  PrimitiveSettings allowed = settings;
  if (repeats_b(b, output)) allowed.avoided = kWrongForRepeatedB;
  if (bias == nullptr) return describe_primitive<dnnl::matmul>(allowed, a, b, output);
  return describe_primitive<dnnl::matmul>(allowed, a, b, *bias, output);
}

dnnl::primitive_desc_base describe_pooling(const PrimitiveSettings& settings, dnnl::algorithm kind,
                                           const Layout& data, const Layout& output,
                                           const dnnl::memory::dims& kernel,
                                           const Windows& windows) {
  return describe_primitive<PoolingPrimitive>(settings, kForward, kind, data, output,
                                              windows.strides, kernel, windows.dilations,
                                              windows.pads_begin, windows.pads_end);
}

dnnl::primitive_desc_base describe_batch_normalization(const PrimitiveSettings& settings,
                                                       const Layout& data, float epsilon,
                                                       dnnl::normalization_flags flags) {
  return describe_in_layout<dnnl::batch_normalization_forward>(settings, std::tuple(kForward), data,
                                                               std::tuple(epsilon, flags));
}

dnnl::primitive_desc_base describe_layer_normalization(const PrimitiveSettings& settings,
                                                       const Layout& data, float epsilon,
                                                       dnnl::normalization_flags flags) {
  return describe_in_layout<dnnl::layer_normalization_forward>(settings, std::tuple(kForward), data,
                                                               std::tuple(epsilon, flags));
}

dnnl::primitive_desc_base describe_lrn(const PrimitiveSettings& settings, const Layout& data,
                                       int64_t size, float alpha, float beta, float bias) {
  return describe_in_layout<dnnl::lrn_forward>(
      settings, std::tuple(kForward, dnnl::algorithm::lrn_across_channels), data,
      std::tuple(size, alpha, beta, bias));
}

dnnl::primitive_desc_base describe_softmax(const PrimitiveSettings& settings, dnnl::algorithm kind,
                                           const Layout& data, int axis) {
  return describe_primitive<SoftmaxPrimitive>(settings, kForward, kind, data, data, axis);
}

dnnl::primitive_desc_base describe_eltwise(const PrimitiveSettings& settings,
                                           dnnl::algorithm function, const Layout& data,
                                           float alpha, float beta) {
  const EltwiseParameters parameters = parameters_of(function, alpha, beta);
  return describe_in_layout<dnnl::eltwise_forward>(settings, std::tuple(kForward, function), data,
                                                   std::tuple(parameters.alpha, parameters.beta));
}

dnnl::primitive_desc_base describe_binary(const PrimitiveSettings& settings,
                                          dnnl::algorithm function, const Layout& a,
                                          const Layout& b, const Layout& output) {
  return describe_primitive<dnnl::binary>(settings, function, a, b, output);
}

dnnl::primitive_desc_base describe_reduction(const PrimitiveSettings& settings,
                                             dnnl::algorithm kind, const Layout& data,
                                             const Layout& output) {
  return describe_primitive<dnnl::reduction>(settings, kind, data, output, 0.0F, 0.0F);
}

dnnl::primitive_desc_base describe_reorder(const PrimitiveSettings& settings, const Layout& from,
                                           const Layout& to) {
  require_first(settings);
  return dnnl::reorder::primitive_desc(settings.engine, from, settings.engine, to,
                                       settings.attributes);
}

dnnl::primitive_desc_base describe_concat(const PrimitiveSettings& settings,
                                          const std::vector<Layout>& sources, int axis,
                                          const Layout& output) {
  require_first(settings);
#if DNNL_VERSION_MAJOR >= 3
  const bool has_tiny =
      std::ranges::any_of(sources, [&](const Layout& source) { return is_tiny(source, axis); });
  const Layout to = has_tiny ? with_outermost(output, axis) : output;
  return dnnl::concat::primitive_desc(settings.engine, to, axis, sources, settings.attributes);
#else
  return dnnl::concat::primitive_desc(output, axis, sources, settings.engine, settings.attributes);
#endif
}

}  // namespace ephost_dnnl
