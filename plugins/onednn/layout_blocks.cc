#include "plugins/onednn/layout_blocks.h"

namespace ephost_onednn {

using Dims = dnnl::memory::dims;

#if DNNL_VERSION_MAJOR >= 3
dnnl::memory::data_type layout_type(const dnnl::memory::desc& layout) {
  return layout.get_data_type();
}

LayoutBlocks layout_blocks(const dnnl::memory::desc& layout) {
  LayoutBlocks blocks;
  blocks.dims = layout.get_dims();
  blocks.padded_dims = layout.get_padded_dims();
  blocks.is_blocked = layout.get_format_kind() == dnnl::memory::format_kind::blocked;
  if (!blocks.is_blocked) return blocks;
  blocks.strides = layout.get_strides();
  blocks.sizes = layout.get_inner_blks();
  const Dims of_dims = layout.get_inner_idxs();
  blocks.of_dims.assign(of_dims.begin(), of_dims.end());
  blocks.offset = layout.get_submemory_offset();
  return blocks;
}
#else
dnnl::memory::data_type layout_type(const dnnl::memory::desc& layout) { return layout.data_type(); }

LayoutBlocks layout_blocks(const dnnl::memory::desc& layout) {
  const dnnl_memory_desc_t& raw = layout.data;
  LayoutBlocks blocks;
  blocks.dims.assign(raw.dims, raw.dims + raw.ndims);
  blocks.padded_dims.assign(raw.padded_dims, raw.padded_dims + raw.ndims);
  blocks.is_blocked = raw.format_kind == dnnl_blocked;
  if (!blocks.is_blocked) return blocks;
  const dnnl_blocking_desc_t& blocking = raw.format_desc.blocking;
  blocks.strides.assign(blocking.strides, blocking.strides + raw.ndims);
  blocks.sizes.assign(blocking.inner_blks, blocking.inner_blks + blocking.inner_nblks);
  blocks.of_dims.assign(blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks);
  blocks.offset = raw.offset0;
  constexpr uint64_t kKnown = dnnl_memory_extra_flag_compensation_conv_s8s8 |
                              dnnl_memory_extra_flag_scale_adjust |
                              dnnl_memory_extra_flag_compensation_conv_asymmetric_src;
  const uint64_t flags = raw.extra.flags;
  blocks.sums = {(flags & dnnl_memory_extra_flag_compensation_conv_s8s8) != 0,
                 (flags & dnnl_memory_extra_flag_compensation_conv_asymmetric_src) != 0,
                 raw.extra.compensation_mask,
                 raw.extra.asymm_compensation_mask,
                 (flags & ~kKnown) != 0,
                 (flags & dnnl_memory_extra_flag_scale_adjust) != 0 && raw.extra.scale_adjust != 1};
  return blocks;
}
#endif

}  // namespace ephost_onednn
