#include "plugins/cpu/kernels/quantized/byte_convolution_output.h"

#include <algorithm>
#include <array>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/core/work_area.h"
#include "plugins/cpu/kernels/quantized/byte_convolution.h"
#include "plugins/cpu/kernels/quantized/bytes.h"
#include "plugins/cpu/kernels/quantized/quantization.h"

namespace ephost_cpu {
namespace {

constexpr int64_t kSpareLanes =
    ByteSums::kSpare;                   // that requantize_rows may read and write too much
constexpr int64_t kPixels = 64;         // that are stored at a time
constexpr int64_t kBlockChannels = 64;  // likewise

// sums[m] -= zeros[m] * the window's sum, and closes the gaps between the groups.
CPU_SIMD void subtract_windows(const ByteChannels& channels, const uint32_t* zeros, int32_t* sums) {
  for (int64_t g = 0; g < channels.groups; ++g) {
    const int32_t* from = sums + g * (channels.of_group + 1);
    const auto window = static_cast<uint32_t>(from[channels.of_group]);
    int32_t* to = sums + g * channels.of_group;
    const uint32_t* group_zeros = zeros + g * channels.of_group;
    for (int64_t m = 0; m < channels.of_group; ++m) {
      to[m] = static_cast<int32_t>(static_cast<uint32_t>(from[m]) - group_zeros[m] * window);
    }
  }
}

// By channel.
struct Corrections {
  const uint32_t* addends;
  const uint32_t* zeros;  // of the weights; null without sums of windows
};

// The sum of (x - zero of x)(w - zero of w) is that of xw, less the zero of w times that of x, less
// the zero of x times that of (w - zero of w), which `weight_sums` are if they are known.
Corrections correct(eph::Run& run, const ByteChannels& channels, const QuantizedOperand& x,
                    const QuantizedOperand& weights, const uint32_t* weight_sums,
                    const Requantization* requantization) {
  const int64_t outputs = channels.groups * channels.of_group;
  auto* addends = take_scratch<uint32_t>(run, outputs + kSpareLanes);
  std::fill_n(addends + outputs, kSpareLanes, 0);
  auto* zeros = channels.with_sums ? take_scratch<uint32_t>(run, outputs) : nullptr;
  if (weight_sums != nullptr) {
    std::copy_n(weight_sums, outputs, addends);
  } else {
    const Dims shape = dims_of(*weights.value);
    sum_weights(weights, outputs, element_count(shape, 1, shape.size()), addends);
  }
  const bool has_bias = requantization != nullptr && requantization->bias != nullptr;
  const auto x_zero = static_cast<uint32_t>(x.zero_point(0) + (x.is_signed() ? kSignOffset : 0));
  for (int64_t m = 0; m < outputs; ++m) {
    const uint32_t bias = has_bias ? static_cast<uint32_t>(requantization->bias[m]) : 0;
    addends[m] = bias - x_zero * addends[m];
    if (zeros != nullptr) zeros[m] = static_cast<uint32_t>(zero_of_weights(weights, m));
  }
  return {addends, zeros};
}

struct Pixels : ByteSums {
  Corrections corrections;
};

void subtract_windows(const Pixels& pixels) {
  const int64_t stored = pixels.channels.stored();
  parallel_for(pixels.images * pixels.plane, 0.3 * static_cast<double>(stored),
               [&](int64_t begin, int64_t end) {
                 for (int64_t p = begin; p < end; ++p) {
                   subtract_windows(pixels.channels, pixels.corrections.zeros,
                                    pixels.values + p * stored);
                 }
               });
}

// Calls store(image, first pixel, pixels, first channel, channels) for blocks of the output.
template <class Store>
void for_each_output_block(const Pixels& pixels, const Store& store) {
  const int64_t outputs = pixels.channels.groups * pixels.channels.of_group;
  const int64_t blocks = (pixels.plane - 1) / kPixels + 1;
  const double cost = static_cast<double>(outputs * std::min(pixels.plane, kPixels)) * 0.3;
  parallel_for(pixels.images * blocks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      // Blocks of about the same size, as a few pixels are stored one by one.
      const int64_t first = i % blocks * pixels.plane / blocks;
      const int64_t count = (i % blocks + 1) * pixels.plane / blocks - first;
      for (int64_t m = 0; m < outputs; m += kBlockChannels) {
        store(i / blocks, first, count, m, std::min(kBlockChannels, outputs - m));
      }
    }
  });
}

void store_sums(const Pixels& pixels, int32_t* y) {
  const int64_t outputs = pixels.channels.groups * pixels.channels.of_group;
  const int64_t stored = pixels.channels.stored();
  for_each_output_block(
      pixels, [&](int64_t image, int64_t first, int64_t count, int64_t m, int64_t channels) {
        const int32_t* from = pixels.values + (image * pixels.plane + first) * stored;
        for (int64_t c = m; c < m + channels; ++c) {
          int32_t* to = y + (image * outputs + c) * pixels.plane + first;
          for (int64_t p = 0; p < count; ++p) {
            to[p] = static_cast<int32_t>(static_cast<uint32_t>(from[p * stored + c]) +
                                         pixels.corrections.addends[c]);
          }
        }
      });
}

template <class T>
void store_quantized(const Pixels& pixels, const float* factors, float zero_point, T* y) {
  const int64_t outputs = pixels.channels.groups * pixels.channels.of_group;
  const int64_t stored = pixels.channels.stored();
  for_each_output_block(pixels, [&](int64_t image, int64_t first, int64_t count, int64_t m,
                                    int64_t channels) {
    std::array<T, kPixels * kBlockChannels> block;
    const int32_t* from = pixels.values + (image * pixels.plane + first) * stored + m;
    requantize_rows<T>({from, stored, count, channels, pixels.corrections.addends + m, factors + m},
                       zero_point, block.data(), kBlockChannels);
    transpose_bytes(reinterpret_cast<const uint8_t*>(block.data()), kBlockChannels, count, channels,
                    reinterpret_cast<uint8_t*>(y + (image * outputs + m) * pixels.plane + first),
                    pixels.plane);
  });
}

}  // namespace

int32_t zero_of_weights(const QuantizedOperand& weights, int64_t channel) {
  return weights.zero_point(channel) - (weights.is_signed() ? 0 : kSignOffset);
}

void sum_weights(const QuantizedOperand& weights, int64_t outputs, int64_t length, uint32_t* sums) {
  const auto* bytes = data<const uint8_t>(*weights.value);
  for (int64_t m = 0; m < outputs; ++m) {
    const uint8_t* row = bytes + m * length;
    const uint32_t sum = weights.is_signed()
                             ? sum_bytes(reinterpret_cast<const int8_t*>(row), length)
                             : sum_bytes(row, length);
    sums[m] = sum - static_cast<uint32_t>(length) * static_cast<uint32_t>(weights.zero_point(m));
  }
}

void store_output(eph::Run& run, const ByteSums& sums, const QuantizedOperand& x,
                  const QuantizedOperand& weights, const uint32_t* weight_sums,
                  const Requantization* requantization, int32_t element_type, void* y) {
  const Pixels pixels = {sums,
                         correct(run, sums.channels, x, weights, weight_sums, requantization)};
  if (sums.channels.with_sums) subtract_windows(pixels);
  if (requantization == nullptr) return store_sums(pixels, static_cast<int32_t*>(y));
  const int64_t outputs = sums.channels.groups * sums.channels.of_group;
  auto* factors = take_scratch<float>(run, outputs + kSpareLanes);
  std::fill_n(std::copy_n(requantization->factors, outputs, factors), kSpareLanes, 0.0F);
  dispatch<int8_t, uint8_t>(element_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    store_quantized(pixels, factors, requantization->zero_point, static_cast<T*>(y));
  });
}

}  // namespace ephost_cpu
