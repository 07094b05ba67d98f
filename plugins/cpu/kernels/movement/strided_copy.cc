#include "plugins/cpu/kernels/movement/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/core/types.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

constexpr std::size_t kFrom = 0;
constexpr std::size_t kTo = 1;
constexpr int64_t kCopyTile = 16;

using Strides = std::array<Dims, 2>;

template <class T>
void copy_row(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t count) {
  if (from_stride == 1 && to_stride == 1) {
    std::copy_n(from, count, to);
  } else if (from_stride == 0 && to_stride == 1) {
    std::fill_n(to, count, *from);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
  }
}

using Words4 = uint32_t __attribute__((vector_size(16)));

// to[r][c] = from[c][r] for four rows and columns of four bytes each.
CPU_INLINE void transpose_words(const uint32_t* from, int64_t from_stride, uint32_t* to,
                                int64_t to_stride) {
  Words4 columns[4];
  for (int64_t j = 0; j < 4; ++j) std::memcpy(&columns[j], from + j * from_stride, sizeof(Words4));
  const Words4 a = __builtin_shufflevector(columns[0], columns[1], 0, 4, 1, 5);
  const Words4 b = __builtin_shufflevector(columns[2], columns[3], 0, 4, 1, 5);
  const Words4 c = __builtin_shufflevector(columns[0], columns[1], 2, 6, 3, 7);
  const Words4 d = __builtin_shufflevector(columns[2], columns[3], 2, 6, 3, 7);
  const Words4 rows[4] = {
      __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
      __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
  for (int64_t i = 0; i < 4; ++i) std::memcpy(to + i * to_stride, &rows[i], sizeof(Words4));
}

// to[r][c] = from[c][r] in tiles, so that both sides stay in the cache.
template <class T>
void copy_transposed(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
                     int64_t columns) {
  for (int64_t r = 0; r < rows; r += kCopyTile) {
    const int64_t row_end = std::min(r + kCopyTile, rows);
    for (int64_t c = 0; c < columns; c += kCopyTile) {
      const int64_t column_end = std::min(c + kCopyTile, columns);
      if constexpr (std::is_same_v<T, uint32_t>) {
        if (row_end - r == kCopyTile && column_end - c == kCopyTile) {
          for (int64_t i = r; i < row_end; i += 4) {
            for (int64_t j = c; j < column_end; j += 4) {
              transpose_words(from + j * from_stride + i, from_stride, to + i * to_stride + j,
                              to_stride);
            }
          }
          continue;
        }
      }
      for (int64_t i = r; i < row_end; ++i) {
        for (int64_t j = c; j < column_end; ++j) to[i * to_stride + j] = from[j * from_stride + i];
      }
    }
  }
}

// Removes dimension `d` from the lists.
void drop(Dims& extents, Strides& strides, std::size_t d) {
  extents.erase(d);
  for (Dims& list : strides) list.erase(d);
}

template <class T, class Row>
void for_each_block(const Dims& extents, const Strides& strides, int64_t block, const T* from,
                    T* to, const Row& row) {
  const double cost = 0.3 * static_cast<double>(block);
  parallel_for(element_count(extents), cost, [&](int64_t begin, int64_t end) {
    Odometer<2> odometer(extents, strides);
    odometer.seek(begin);
    for (int64_t i = begin; i < end; ++i, odometer.next()) {
      row(from + odometer.offset(kFrom), to + odometer.offset(kTo));
    }
  });
}

// The dimension other than the last whose elements are neighbours in `from`; the rank if none.
std::size_t find_unit_dimension(const Dims& extents, const Strides& strides) {
  std::size_t d = 0;
  while (d + 1 < extents.size() && strides[kFrom][d] != 1) ++d;
  return d + 1 < extents.size() ? d : extents.size();
}

template <class T>
void copy_elements(Dims extents, Strides strides, const T* from, T* to) {
  const std::size_t last = extents.size() - 1;
  const std::size_t unit = find_unit_dimension(extents, strides);
  const int64_t columns = extents[last];
  const int64_t from_stride = strides[kFrom][last];
  const int64_t to_stride = strides[kTo][last];
  if (unit < last && to_stride == 1 && from_stride > 1) {
    const int64_t rows = extents[unit];
    const int64_t row_stride = strides[kTo][unit];
    drop(extents, strides, last);
    drop(extents, strides, unit);
    for_each_block(extents, strides, rows * columns, from, to, [&](const T* source, T* target) {
      copy_transposed(source, from_stride, target, row_stride, rows, columns);
    });
    return;
  }
  drop(extents, strides, last);
  for_each_block(extents, strides, columns, from, to, [&](const T* source, T* target) {
    copy_row(source, from_stride, target, to_stride, columns);
  });
}

void copy_strings(const Dims& extents, const Strides& strides, const CopyPlan& plan,
                  const eph_string* from, eph::Run& run, uint32_t output) {
  Odometer<2> odometer(extents, strides);
  const int64_t count = element_count(extents);
  for (int64_t i = 0; i < count; ++i, odometer.next()) {
    run.set_string(output, static_cast<uint64_t>(plan.to_offset + odometer.offset(kTo)),
                   eph::view(from[plan.from_offset + odometer.offset(kFrom)]));
  }
}

// Copies packed elements by way of scratch memory with one byte for each element of both tensors.
void copy_packed(const CopyPlan& plan, const Strides& strides, const eph_value& from, eph::Run& run,
                 uint32_t output) {
  const auto unpack = [&](const eph_value& value) {
    const int64_t count = element_count(eph::shape_of(value));
    auto* bytes = static_cast<uint8_t*>(run.scratch(static_cast<uint64_t>(count)));
    unpack_elements(value.element_type, static_cast<const uint8_t*>(value.data), bytes, count);
    return bytes;
  };
  const eph_value& to = *run.output(output);
  const uint8_t* source = unpack(from);
  uint8_t* target = unpack(to);
  copy_elements(plan.extents, strides, source + plan.from_offset, target + plan.to_offset);
  pack_elements(to.element_type, target, static_cast<uint8_t*>(to.data),
                element_count(eph::shape_of(to)));
}

}  // namespace

bool is_contiguous(CopyPlan plan) {
  Strides strides = {plan.from_strides, plan.to_strides};
  merge_dimensions(plan.extents, strides);
  return plan.extents.empty() ||
         (plan.extents.size() == 1 && strides[kFrom][0] == 1 && strides[kTo][0] == 1);
}

void strided_copy(CopyPlan plan, const eph_value& from, eph::Run& run, uint32_t output) {
  if (std::find(plan.extents.begin(), plan.extents.end(), 0) != plan.extents.end()) return;
  Strides strides = {plan.from_strides, plan.to_strides};
  merge_dimensions(plan.extents, strides);
  if (from.element_type == EPH_ELEMENT_STRING) {
    copy_strings(plan.extents, strides, plan, static_cast<const eph_string*>(from.data), run,
                 output);
    return;
  }
  if (plan.extents.empty()) {
    plan.extents.push_back(1);
    for (Dims& list : strides) list.push_back(1);
  }
  if (is_packed(from.element_type)) return copy_packed(plan, strides, from, run, output);
  dispatch_size(element_size(from.element_type), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* source = static_cast<const T*>(from.data) + plan.from_offset;
    T* target = static_cast<T*>(run.output(output)->data) + plan.to_offset;
    if (source == target) return;
    copy_elements(plan.extents, strides, source, target);
  });
}

}  // namespace ephost_cpu
