// dividing_convolutions.h: convolutions that cannot be made in every layout. oneDNN 3.7.2, as
// Debian 13 builds it, divides by zero and so ends the process where it estimates the blocks of a
// 1x1 convolution of some numbers of channels, whatever the extents, types and strides: with data
// in any layout or channels last, on AVX2 and later. (Integers are safe on AVX2 without VNNI.)
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace ephost_onednn {

// Whether making the convolution would end the process, unless its data is in blocks of channels.
// `weights` have one more dimension than `data` where there are groups.
[[nodiscard]] bool divides_by_zero(const dnnl::memory::desc& data,
                                   const dnnl::memory::desc& weights);

// Data or output of such a convolution in the blocks that the other implementations want, if it may
// have any layout; unchanged if it is neither in any layout nor channels last. Throws dnnl::error
// (unimplemented) for what only the dividing implementation does at speed, which are integers, and
// data that has to be channels last.
[[nodiscard]] dnnl::memory::desc in_channel_blocks(const dnnl::memory::desc& data);

}  // namespace ephost_onednn
