// Columns: for each position of a sliding window over a plane, the elements that the window covers.
// They are laid out as one row of positions for each element of the window. Here they are added
// back into the plane, which is what ConvTranspose and Col2Im do.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cpu/core/odometer.h"
#include "plugins/cpu/kernels/windows/window.h"

namespace ephost_cpu {

// A window over one plane. Pads at the end do not matter: `window.output` is the number of
// positions. Elements outside the plane are dropped.
struct ColumnShape {
  Dims plane;
  Window window;

  [[nodiscard]] int64_t taps() const { return element_count(window.kernel); }
  [[nodiscard]] int64_t positions() const { return element_count(window.output); }
};

// y[i * stride] += factor * x[i].
template <class T>
void add_strided(const T* x, T factor, int64_t stride, T* y, int64_t count) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<T>(y[i] + factor * x[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      y[i * stride] = static_cast<T>(y[i * stride] + factor * x[i]);
    }
  }
}

// Adds factor(t) * row(t) at the positions of element t of the window, for each t; row(t) has a
// number for each position. There is at least one position and the plane isn't empty.
template <class T, class RowOf, class FactorOf>
void add_columns(const ColumnShape& shape, const RowOf& row, const FactorOf& factor, T* y) {
  const Window& window = shape.window;
  const std::size_t last = window.kernel.size() - 1;
  const Dims strides = dense_strides(shape.plane);
  Dims outer = window.output;
  outer.pop_back();
  const int64_t rows = element_count(outer);
  const int64_t width = window.output[last];
  const int64_t stride = window.strides[last];
  Odometer<1> tap(window.kernel, {Dims(window.kernel.size(), 0)});
  Odometer<1> at(outer, {Dims(outer.size(), 0)});
  for (int64_t t = 0; t < shape.taps(); ++t, tap.next()) {
    const int64_t shift = tap.index(last) * window.dilations[last] - window.pads_begin[last];
    // The positions i whose element i * stride + shift lies in the plane.
    const int64_t begin = shift < 0 ? (-shift + stride - 1) / stride : 0;
    const int64_t end = shift >= shape.plane[last]
                            ? 0
                            : std::min(width, (shape.plane[last] - 1 - shift) / stride + 1);
    const T* from = row(t);
    for (int64_t r = 0; r < rows; ++r, at.next()) {
      int64_t offset = shift;
      bool inside = begin < end;
      for (std::size_t d = 0; inside && d < last; ++d) {
        const int64_t index = at.index(d) * window.strides[d] - window.pads_begin[d] +
                              tap.index(d) * window.dilations[d];
        inside = index >= 0 && index < shape.plane[d];
        offset += index * strides[d];
      }
      if (!inside) continue;
      add_strided(from + r * width + begin, factor(t), stride, y + offset + begin * stride,
                  end - begin);
    }
  }
}

}  // namespace ephost_cpu
