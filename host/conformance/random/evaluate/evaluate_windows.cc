// Operators that slide a window over spatial dimensions: Conv and the poolings.
#include <algorithm>

#include "host/conformance/random/evaluate/evaluate.h"

namespace ephost::conformance {
namespace {

struct Window {
  Dims kernel, strides, dilations, begin, end;  // the last two: padding
  Dims output;
};

int64_t reach(const Window& window, std::size_t i) {
  return (window.kernel[i] - 1) * window.dilations[i] + 1;
}

void pad_to_same(Window& window, const Dims& data, bool more_at_end) {
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t stride = window.strides[i], count = (data[i + 2] + stride - 1) / stride;
    const int64_t total =
        std::max<int64_t>(0, (count - 1) * stride + reach(window, i) - data[i + 2]);
    window.begin[i] = more_at_end ? total / 2 : total - total / 2;
    window.end[i] = total - window.begin[i];
  }
}

Window read_window(const Invocation& node, const Dims& data, const Dims& kernel) {
  require(data.size() >= 3 && kernel.size() == data.size() - 2, "a window of another rank");
  const std::size_t rank = kernel.size();
  Window window{kernel,
                node.integers("strides", Dims(rank, 1)),
                node.integers("dilations", Dims(rank, 1)),
                Dims(rank, 0),
                Dims(rank, 0),
                {}};
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode == "NOTSET") {
    const Dims pads = node.integers("pads", Dims(2 * rank, 0));
    require(pads.size() == 2 * rank, "pads of another rank");
    const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
    window.begin.assign(pads.begin(), middle);
    window.end.assign(middle, pads.end());
  } else if (mode != "VALID") {
    pad_to_same(window, data, mode == "SAME_UPPER");
  }
  const bool rounds_up = node.integer("ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const int64_t free = data[i + 2] + window.begin[i] + window.end[i] - reach(window, i);
    require(free >= 0, "a window that is larger than the padded data");
    const int64_t stride = window.strides[i];
    int64_t positions = (free + (rounds_up ? stride - 1 : 0)) / stride + 1;
    // Rounding up adds no position that begins behind the data.
    if (rounds_up && (positions - 1) * stride - window.begin[i] >= data[i + 2]) --positions;
    window.output.push_back(positions);
  }
  return window;
}

// Calls visit(tap, position) for each position of the kernel at `at` that lies on the data; both
// are row-major indices within kernel and plane.
template <class Visit>
void for_each_tap(const Window& window, const Dims& spatial, const Dims& at, const Visit& visit) {
  const Dims strides = strides_of(spatial);
  Dims tap(window.kernel.size(), 0);
  std::size_t number = 0;
  do {
    bool is_inside = true;
    int64_t position = 0;
    for (std::size_t i = 0; i < tap.size(); ++i) {
      const int64_t index =
          at[i] * window.strides[i] - window.begin[i] + tap[i] * window.dilations[i];
      is_inside = is_inside && index >= 0 && index < spatial[i];
      position += index * strides[i];
    }
    if (is_inside) visit(number, static_cast<std::size_t>(position));
    ++number;
  } while (next_index(tap, window.kernel));
}

// ---- Conv ---------------------------------------------------------------------------------------

// Winograd's algorithm adds neighbours beyond the window and subtracts them again, so its error
// depends on the largest element of a channel.
double largest_of_plane(const BoundedTensor& x, std::size_t plane, std::size_t size) {
  double largest = 0;
  for (std::size_t i = plane * size; i < (plane + 1) * size; ++i) {
    largest = std::fmax(largest, std::fabs(x.numbers[i].value));
  }
  return largest;
}

Outputs conv(const Invocation& node) {
  const BoundedTensor &x = node.input(0), &w = node.input(1);
  require(w.dims.size() == x.dims.size() && w.dims.size() >= 3, "weights of another rank");
  const Window window = read_window(node, x.dims, {w.dims.begin() + 2, w.dims.end()});
  const int64_t groups = node.integer("group", 1), channels = w.dims[0], depth = w.dims[1];
  require(channels % groups == 0 && depth * groups == x.dims[1], "groups that do not fit");
  const Dims spatial(x.dims.begin() + 2, x.dims.end());
  const auto plane = static_cast<std::size_t>(element_count(spatial));
  const auto taps = static_cast<std::size_t>(element_count(window.kernel));
  BoundedTensor y;
  y.dims = {x.dims[0], channels};
  y.dims.insert(y.dims.end(), window.output.begin(), window.output.end());
  for (int64_t image = 0; image < x.dims[0]; ++image) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int64_t first = image * x.dims[1] + channel / (channels / groups) * depth;
      double magnitude = 0;
      for (int64_t c = 0; c < depth; ++c) {
        double weights = 0;
        for (std::size_t t = 0; t < taps; ++t) {
          weights +=
              std::fabs(w.numbers[static_cast<std::size_t>(channel * depth + c) * taps + t].value);
        }
        magnitude += weights * largest_of_plane(x, static_cast<std::size_t>(first + c), plane);
      }
      Dims at(spatial.size(), 0);
      do {
        Sum sum;
        for (int64_t c = 0; c < depth; ++c) {
          const Bounded* from = x.numbers.data() + static_cast<std::size_t>(first + c) * plane;
          const Bounded* factors =
              w.numbers.data() + static_cast<std::size_t>(channel * depth + c) * taps;
          for_each_tap(window, spatial, at, [&](std::size_t tap, std::size_t position) {
            sum.add_product(from[position], factors[tap]);
          });
        }
        if (node.has_input(2)) sum.add(node.input(2).numbers.at(static_cast<std::size_t>(channel)));
        const Bounded total = sum.total(magnitude, 64);
        y.numbers.push_back(std::isfinite(total.value) ? total : unspecified());
      } while (next_index(at, window.output));
    }
  }
  return {std::move(y)};
}

// ---- Poolings -----------------------------------------------------------------------------------

// f(numbers under the window, window, index of the output) for every window.
template <class F>
Outputs pool(const BoundedTensor& x, const Window& window, const F& f) {
  const Dims spatial(x.dims.begin() + 2, x.dims.end());
  const auto plane = static_cast<std::size_t>(element_count(spatial));
  BoundedTensor y;
  y.dims = {x.dims[0], x.dims[1]};
  y.dims.insert(y.dims.end(), window.output.begin(), window.output.end());
  for (std::size_t first = 0; first < x.numbers.size(); first += plane) {
    Dims at(spatial.size(), 0);
    do {
      std::vector<Bounded> found;
      for_each_tap(window, spatial, at, [&](std::size_t, std::size_t position) {
        found.push_back(x.numbers[first + position]);
      });
      // Libraries do not agree on the result of such a window.
      require(!found.empty(), "a window in the padding");
      y.numbers.push_back(f(found, at));
    } while (next_index(at, window.output));
  }
  return {std::move(y)};
}

Bounded maximum_of(const std::vector<Bounded>& found) {
  Bounded largest = found[0];
  for (const Bounded x : found) largest = maximum(largest, x);
  // If all elements are minus infinity, oneDNN's poolings give the lowest number, with which they
  // start.
  return std::isinf(largest.value) && largest.value < 0 ? unspecified() : largest;
}

Bounded window_mean(const std::vector<Bounded>& found, int64_t count) {
  Sum sum;
  for (const Bounded x : found) sum.add(x);
  return sum.total() / Bounded{static_cast<double>(count), 0};
}

Window pool_window(const Invocation& node) {
  return read_window(node, node.input(0).dims, node.integers("kernel_shape", Dims{}));
}

Outputs max_pool(const Invocation& node) {
  return pool(node.input(0), pool_window(node),
              [](const std::vector<Bounded>& found, const Dims&) { return maximum_of(found); });
}

Outputs average_pool(const Invocation& node) {
  const Dims& data = node.input(0).dims;
  const Window window = pool_window(node);
  const bool counts_padding = node.integer("count_include_pad", 0) != 0;
  return pool(node.input(0), window, [&](const std::vector<Bounded>& found, const Dims& at) {
    if (!counts_padding) return window_mean(found, std::ssize(found));
    int64_t count = 1;
    for (std::size_t i = 0; i < at.size(); ++i) {
      // What ceil_mode adds beyond the padding does not count.
      const int64_t start = at[i] * window.strides[i] - window.begin[i];
      const int64_t left = data[i + 2] + window.end[i] - start;
      const int64_t places = (left + window.dilations[i] - 1) / window.dilations[i];
      count *= std::min(window.kernel[i], places);
    }
    return window_mean(found, count);
  });
}

Window whole(const Dims& data) {
  require(data.size() >= 3, "data without spatial dimensions");
  const Dims ones(data.size() - 2, 1), none(data.size() - 2, 0);
  return {Dims(data.begin() + 2, data.end()), ones, ones, none, none, ones};
}

Outputs global_average_pool(const Invocation& node) {
  return pool(node.input(0), whole(node.input(0).dims),
              [](const std::vector<Bounded>& found, const Dims&) {
                return window_mean(found, std::ssize(found));
              });
}

Outputs global_max_pool(const Invocation& node) {
  return pool(node.input(0), whole(node.input(0).dims),
              [](const std::vector<Bounded>& found, const Dims&) { return maximum_of(found); });
}

}  // namespace

const Evaluations& window_evaluations() {
  static const Evaluations kEvaluations = {
      {"AveragePool", &average_pool},
      {"Conv", &conv},
      {"GlobalAveragePool", &global_average_pool},
      {"GlobalMaxPool", &global_max_pool},
      {"MaxPool", &max_pool},
  };
  return kEvaluations;
}

}  // namespace ephost::conformance
