#include "plugins/cpu/kernels/matrix/panel_product.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/kernels/matrix/product.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define CPU_AVX2 __attribute__((target("avx2,fma")))

namespace ephost_cpu {
namespace {

constexpr int kTileRows = 6;                  // with two vectors each, they fill the registers
constexpr int64_t kCachedNumbers = 64 << 10;  // of A, which stay in the cache beside a panel

// A part of A, and where its results go.
struct PanelTile {
  const float* a;
  int64_t row_stride, k_stride;
  const float* panel;
  const float* bias;  // null without one
  float* y;
  int64_t columns;  // of the panel that are in Y
};

struct PanelSums {
  __m256 low, high;
};

CPU_INLINE CPU_AVX2 PanelSums load_columns(const float* from, int64_t columns) {
  if (columns == kPanelColumns) return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
  alignas(32) std::array<float, kPanelColumns> whole = {};
  std::copy_n(from, columns, whole.begin());
  return {_mm256_load_ps(whole.data()), _mm256_load_ps(whole.data() + 8)};
}

CPU_INLINE CPU_AVX2 void store_columns(const PanelSums& sums, float* to, int64_t columns) {
  if (columns == kPanelColumns) {
    _mm256_storeu_ps(to, sums.low);
    _mm256_storeu_ps(to + 8, sums.high);
    return;
  }
  alignas(32) std::array<float, kPanelColumns> whole;
  _mm256_store_ps(whole.data(), sums.low);
  _mm256_store_ps(whole.data() + 8, sums.high);
  std::copy_n(whole.begin(), columns, to);
}

CPU_INLINE CPU_AVX2 PanelSums add(const PanelSums& a, const PanelSums& b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}

// All loops over rows are unrolled, so that the sums stay in registers.
template <int kRows>
CPU_AVX2 void multiply_tile(const ProductShape& shape, const PanelTile& tile) {
  std::array<PanelSums, kRows> sums;
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) sums[r] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  const float* b = tile.panel;
  const float* a = tile.a;
  for (int64_t i = 0; i < shape.k; ++i, b += kPanelColumns, a += tile.k_stride) {
    const __m256 low = _mm256_loadu_ps(b);
    const __m256 high = _mm256_loadu_ps(b + 8);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const __m256 factor = _mm256_broadcast_ss(a + r * tile.row_stride);
      sums[r] = {_mm256_fmadd_ps(factor, low, sums[r].low),
                 _mm256_fmadd_ps(factor, high, sums[r].high)};
    }
  }
  const __m256 alpha = _mm256_set1_ps(shape.alpha);
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    float* y = tile.y + r * shape.n;
    PanelSums row = {_mm256_mul_ps(sums[r].low, alpha), _mm256_mul_ps(sums[r].high, alpha)};
    if (tile.bias != nullptr) row = add(row, load_columns(tile.bias, tile.columns));
    if (shape.accumulates) row = add(row, load_columns(y, tile.columns));
    store_columns(row, y, tile.columns);
  }
}

void multiply_rows(const ProductShape& shape, PanelTile tile, int64_t rows) {
  static constexpr std::array kLast = {&multiply_tile<1>, &multiply_tile<2>, &multiply_tile<3>,
                                       &multiply_tile<4>, &multiply_tile<5>};
  for (; rows >= kTileRows; rows -= kTileRows) {
    multiply_tile<kTileRows>(shape, tile);
    tile.a += kTileRows * tile.row_stride;
    tile.y += kTileRows * shape.n;
  }
  if (rows > 0) kLast[static_cast<std::size_t>(rows - 1)](shape, tile);
}

}  // namespace

void multiply_panels(const ProductShape& shape, const float* a, const float* panels,
                     const float* bias, float* y) {
  const int64_t m = shape.m;
  const int64_t k = shape.k;
  const int64_t n = shape.n;
  const int64_t panel_count = (n + kPanelColumns - 1) / kPanelColumns;
  const int64_t chunk =
      std::clamp<int64_t>(kCachedNumbers / k / kTileRows, 1, 16) * kTileRows;  // rows of A
  const int64_t chunks = (m + chunk - 1) / chunk;
  const double cost = 0.5 * static_cast<double>(std::min(m, chunk) * k);
  const auto multiply_one = [&](int64_t task) {
    const int64_t panel = task % panel_count;
    const int64_t row = task / panel_count % chunks * chunk;
    const int64_t matrix = task / panel_count / chunks;
    const int64_t column = panel * kPanelColumns;
    const PanelTile tile = {a + matrix * m * k + row * (shape.transpose_a ? 1 : k),
                            shape.transpose_a ? 1 : k,
                            shape.transpose_a ? m : 1,
                            panels + (matrix * panel_count + panel) * k * kPanelColumns,
                            bias != nullptr ? bias + column : nullptr,
                            y + (matrix * m + row) * n + column,
                            std::min(kPanelColumns, n - column)};
    multiply_rows(shape, tile, std::min(chunk, m - row));
  };
  parallel_for(shape.batch * chunks * panel_count, cost, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) multiply_one(task);
  });
}

}  // namespace ephost_cpu

#else

namespace ephost_cpu {

void multiply_panels(const ProductShape&, const float*, const float*, const float*, float*) {}

}  // namespace ephost_cpu

#endif
