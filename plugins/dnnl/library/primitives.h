// primitives.h: the parts of oneDNN's interface that differ between its versions 2 and 3, in one
// form: what a layout consists of, and how primitive descriptors are made. Only primitives.cc knows
// which version it is compiled with. All functions throw dnnl::error if the library refuses.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ephost_dnnl {

// The fields of a memory descriptor of `ndims` dimensions.
struct LayoutFields {
  int ndims = 0;
  int data_type = 0;  // dnnl_data_type_t
  dnnl_dims_t dims = {};
  dnnl_dims_t padded_dims = {};
  dnnl_dims_t padded_offsets = {};
  int64_t offset = 0;  // of element 0

  int format_kind = 0;      // dnnl_format_kind_t, whose numbers differ between versions
  bool is_blocked = false;  // otherwise the fields up to `has_extra` are zero
  dnnl_dims_t strides = {};
  int inner_block_count = 0;
  dnnl_dims_t inner_block_sizes = {};  // from the outermost on
  dnnl_dims_t inner_block_dims = {};   // which dimension each of them divides
  bool has_extra = false;              // data beside the elements

  // What else determines the layout, in a form of the library that can be compared: of formats
  // without blocks, and of extra data.
  std::string rest;
};
[[nodiscard]] LayoutFields layout_fields(const dnnl::memory::desc& layout);

// Appends a field of a layout to a form that can be compared.
void append_field(std::string& bytes, int64_t value);

// "avx512_core": what the library uses on this machine.
[[nodiscard]] std::string instruction_set();

// Appends a function with the parameters that Eltwise has (recipe/operators.h).
void append_eltwise(dnnl::post_ops& post_ops, dnnl::algorithm function, float alpha, float beta);

// What all primitives are made with.
struct PrimitiveSettings {
  const dnnl::engine& engine;
  const dnnl::primitive_attr& attributes;
  // Which of the implementations that the library lists, counted by name, since oneDNN 2.6.3 lists
  // those in its cache more than once.
  std::size_t implementation = 0;
  // Implementations with this in their name do not count; empty: all count.
  std::string_view avoided = {};
};

// Descriptors of primitives for inference. `bias` may be null.
struct ConvolutionLayouts {
  dnnl::memory::desc data, weights, output;
  const dnnl::memory::desc* bias = nullptr;
};
// Positions of the window along each spatial dimension; a dilation of 0 is none.
struct Windows {
  dnnl::memory::dims strides, dilations, pads_begin, pads_end;
};
[[nodiscard]] dnnl::primitive_desc_base describe_convolution(const PrimitiveSettings& settings,
                                                             const ConvolutionLayouts& layouts,
                                                             const Windows& windows);
[[nodiscard]] dnnl::primitive_desc_base describe_matmul(const PrimitiveSettings& settings,
                                                        const dnnl::memory::desc& a,
                                                        const dnnl::memory::desc& b,
                                                        const dnnl::memory::desc* bias,
                                                        const dnnl::memory::desc& output);
[[nodiscard]] dnnl::primitive_desc_base describe_pooling(
    const PrimitiveSettings& settings, dnnl::algorithm kind, const dnnl::memory::desc& data,
    const dnnl::memory::desc& output, const dnnl::memory::dims& kernel, const Windows& windows);
// These write their output in the layout of their data.
[[nodiscard]] dnnl::primitive_desc_base describe_batch_normalization(
    const PrimitiveSettings& settings, const dnnl::memory::desc& data, float epsilon,
    dnnl::normalization_flags flags);
[[nodiscard]] dnnl::primitive_desc_base describe_layer_normalization(
    const PrimitiveSettings& settings, const dnnl::memory::desc& data, float epsilon,
    dnnl::normalization_flags flags);
// Normalises over neighbouring channels.
[[nodiscard]] dnnl::primitive_desc_base describe_lrn(const PrimitiveSettings& settings,
                                                     const dnnl::memory::desc& data, int64_t size,
                                                     float alpha, float beta, float bias);
[[nodiscard]] dnnl::primitive_desc_base describe_softmax(const PrimitiveSettings& settings,
                                                         dnnl::algorithm kind,
                                                         const dnnl::memory::desc& data, int axis);
[[nodiscard]] dnnl::primitive_desc_base describe_eltwise(const PrimitiveSettings& settings,
                                                         dnnl::algorithm function,
                                                         const dnnl::memory::desc& data,
                                                         float alpha, float beta);
[[nodiscard]] dnnl::primitive_desc_base describe_binary(const PrimitiveSettings& settings,
                                                        dnnl::algorithm function,
                                                        const dnnl::memory::desc& a,
                                                        const dnnl::memory::desc& b,
                                                        const dnnl::memory::desc& output);
[[nodiscard]] dnnl::primitive_desc_base describe_reduction(const PrimitiveSettings& settings,
                                                           dnnl::algorithm kind,
                                                           const dnnl::memory::desc& data,
                                                           const dnnl::memory::desc& output);
// Have one implementation only.
[[nodiscard]] dnnl::primitive_desc_base describe_reorder(const PrimitiveSettings& settings,
                                                         const dnnl::memory::desc& from,
                                                         const dnnl::memory::desc& to);
[[nodiscard]] dnnl::primitive_desc_base describe_concat(
    const PrimitiveSettings& settings, const std::vector<dnnl::memory::desc>& sources, int axis,
    const dnnl::memory::desc& output);

}  // namespace ephost_dnnl
