// Operators that only move elements, and reductions.
#include <algorithm>
#include <numeric>
#include <utility>

#include "host/conformance/random/evaluate/evaluate.h"

namespace ephost::conformance {
namespace {

Outputs with_dims(const BoundedTensor& x, Dims dims) {
  require(element_count(dims) == element_count(x.dims), "another number of elements");
  return {{std::move(dims), x.numbers, {}}};
}

// ---- Other dimensions ---------------------------------------------------------------------------

Outputs reshape(const Invocation& node) {
  const Dims& from = node.input(0).dims;
  Dims to = node.input(1).integers;
  int64_t known = 1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && node.integer("allowzero", 0) == 0) {
      require(i < from.size(), "no extent to copy");
      to[i] = from[i];
    }
    if (to[i] >= 0) known *= to[i];
  }
  for (int64_t& extent : to) {
    if (extent >= 0) continue;
    require(known > 0 && element_count(from) % known == 0, "an extent that does not divide");
    extent = element_count(from) / known;
  }
  return with_dims(node.input(0), std::move(to));
}

Outputs flatten(const Invocation& node) {
  const Dims& dims = node.input(0).dims;
  const int64_t axis = node.integer("axis", 1);
  const auto rank = static_cast<int64_t>(dims.size());
  require(axis >= (node.opset() >= 11 ? -rank : 0) && axis <= rank, "an axis out of range");
  const auto middle = dims.begin() + (axis < 0 ? axis + rank : axis);
  return with_dims(node.input(0),
                   {element_count({dims.begin(), middle}), element_count({middle, dims.end()})});
}

Dims sorted_axes(Dims axes, std::size_t rank) {
  for (int64_t& axis : axes) axis = static_cast<int64_t>(normalized_axis(axis, rank));
  std::sort(axes.begin(), axes.end());
  require(std::adjacent_find(axes.begin(), axes.end()) == axes.end(), "an axis twice");
  return axes;
}

Outputs squeeze(const Invocation& node) {
  const BoundedTensor& x = node.input(0);
  Dims axes = sorted_axes(node.integers("axes", std::size_t{1}), x.dims.size());
  const bool is_given = !axes.empty();
  Dims dims;
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    const bool goes = is_given ? std::binary_search(axes.begin(), axes.end(), i) : x.dims[i] == 1;
    require(!goes || x.dims[i] == 1, "a dimension that is not 1");
    if (!goes) dims.push_back(x.dims[i]);
  }
  return with_dims(x, std::move(dims));
}

Outputs unsqueeze(const Invocation& node) {
  const BoundedTensor& x = node.input(0);
  const Dims given = node.integers("axes", std::size_t{1});
  Dims dims = x.dims;
  for (const int64_t axis : sorted_axes(given, x.dims.size() + given.size())) {
    dims.insert(dims.begin() + axis, 1);
  }
  return with_dims(x, std::move(dims));
}

// ---- Other positions
// -------------------------------------------------------------------------------

// The index of the input for each element of the output; `f` changes an index in place.
template <class F>
BoundedTensor moved(const BoundedTensor& x, Dims dims, const F& f) {
  BoundedTensor y = zeros(std::move(dims));
  if (y.numbers.empty()) return y;
  const Dims strides = strides_of(x.dims);
  Dims index(y.dims.size(), 0);
  std::size_t at = 0;
  do {
    const Dims source = f(index);
    y.numbers[at++] = x.numbers[static_cast<std::size_t>(
        std::inner_product(source.begin(), source.end(), strides.begin(), int64_t{0}))];
  } while (next_index(index, y.dims));
  return y;
}

Outputs transpose(const Invocation& node) {
  const BoundedTensor& x = node.input(0);
  Dims reversed(x.dims.size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const Dims perm = node.integers("perm", reversed);
  require(perm.size() == x.dims.size(), "a permutation of another rank");
  Dims dims;
  for (const int64_t axis : perm) dims.push_back(x.dims[static_cast<std::size_t>(axis)]);
  return {moved(x, dims, [&](const Dims& index) {
    Dims source(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) {
      source[static_cast<std::size_t>(perm[i])] = index[i];
    }
    return source;
  })};
}

Outputs expand(const Invocation& node) {
  const BoundedTensor& x = node.input(0);
  BoundedTensor y = zeros(broadcast(x.dims, node.input(1).integers));
  const auto positions = broadcast_positions(x.dims, y.dims);
  for (std::size_t i = 0; i < positions.size(); ++i) y.numbers[i] = x.numbers[positions[i]];
  return {std::move(y)};
}

// The elements from `begin` on along an axis, `count` of them, `step` apart.
BoundedTensor sliced(const BoundedTensor& x, std::size_t axis, int64_t begin, int64_t count,
                     int64_t step) {
  Dims dims = x.dims;
  dims[axis] = count;
  return moved(x, dims, [&](Dims index) {
    index[axis] = begin + index[axis] * step;
    return index;
  });
}

Outputs slice(const Invocation& node) {
  const Dims starts = node.integers("starts", std::size_t{1});
  const Dims ends = node.integers("ends", std::size_t{2});
  Dims axes = node.integers("axes", std::size_t{3});
  const Dims steps = node.has_input(4) ? node.input(4).integers : Dims(starts.size(), 1);
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  BoundedTensor y = node.input(0);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = normalized_axis(axes[i], y.dims.size());
    const int64_t extent = y.dims[axis], step = steps[i];
    const bool is_up = step > 0;
    const auto clamped = [&](int64_t at) {
      if (at < 0) at += extent;
      return is_up ? std::clamp<int64_t>(at, 0, extent) : std::clamp<int64_t>(at, -1, extent - 1);
    };
    const int64_t begin = clamped(starts[i]), end = clamped(ends[i]);
    const int64_t way = is_up ? end - begin : begin - end;
    const int64_t stride = is_up ? step : -step;
    y = sliced(y, axis, begin, std::max<int64_t>(0, (way + stride - 1) / stride), step);
  }
  return {std::move(y)};
}

Outputs split(const Invocation& node) {
  const BoundedTensor& x = node.input(0);
  const std::size_t axis = normalized_axis(node.integer("axis", 0), x.dims.size());
  Dims parts = node.integers("split", std::size_t{1});
  const int64_t count = node.node().output_size();
  if (parts.empty()) {
    require(x.dims[axis] % count == 0, "parts that are not equal");
    parts.assign(static_cast<std::size_t>(count), x.dims[axis] / count);
  }
  require(std::accumulate(parts.begin(), parts.end(), int64_t{0}) == x.dims[axis],
          "parts that do not fill the axis");
  Outputs outputs;
  int64_t begin = 0;
  for (const int64_t part : parts) {
    outputs.push_back(sliced(x, axis, begin, part, 1));
    begin += part;
  }
  return outputs;
}

Outputs pad(const Invocation& node) {
  const BoundedTensor& x = node.input(0);
  const Dims pads = node.integers("pads", std::size_t{1});
  const std::size_t rank = x.dims.size();
  require(pads.size() == 2 * rank && node.text("mode", "constant") == "constant", "other pads");
  const Bounded filling =
      node.has_input(2) ? node.input(2).numbers.at(0) : Bounded{node.real("value", 0), 0};
  Dims dims = x.dims;
  for (std::size_t i = 0; i < rank; ++i) dims[i] += pads[i] + pads[rank + i];
  require(element_count(dims) > 0, "nothing left");
  BoundedTensor y = zeros(dims);
  const Dims strides = strides_of(x.dims);
  Dims index(rank, 0);
  std::size_t at = 0;
  do {
    bool is_inside = true;
    int64_t source = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      const int64_t from = index[i] - pads[i];
      is_inside = is_inside && from >= 0 && from < x.dims[i];
      source += from * strides[i];
    }
    y.numbers[at++] = is_inside ? x.numbers[static_cast<std::size_t>(source)] : filling;
  } while (next_index(index, dims));
  return {std::move(y)};
}

Outputs concat(const Invocation& node) {
  BoundedTensor y = node.input(0);
  const std::size_t axis = normalized_axis(node.integer("axis", 0), y.dims.size());
  y.dims[axis] = 0;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    Dims expected = y.dims;
    require(node.input(i).dims.size() == y.dims.size(), "another rank");
    expected[axis] = node.input(i).dims[axis];
    require(node.input(i).dims == expected, "inputs that differ outside of the axis");
    y.dims[axis] += expected[axis];
  }
  const int64_t outer =
      element_count({y.dims.begin(), y.dims.begin() + static_cast<std::ptrdiff_t>(axis)});
  y.numbers.clear();
  for (int64_t row = 0; row < outer; ++row) {  // none where an outer extent is 0
    for (std::size_t i = 0; i < node.input_count(); ++i) {
      const BoundedTensor& x = node.input(i);
      const auto length = std::ssize(x.numbers) / outer;
      y.numbers.insert(y.numbers.end(), x.numbers.begin() + row * length,
                       x.numbers.begin() + (row + 1) * length);
    }
  }
  return {std::move(y)};
}

// ---- Reductions ---------------------------------------------------------------------------------

Dims reduced_axes(const Invocation& node, std::size_t rank) {
  Dims axes = sorted_axes(node.integers("axes", std::size_t{1}), rank);
  if (axes.empty() && node.integer("noop_with_empty_axes", 0) == 0) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

// f of all elements that are reduced to one.
template <class F>
Outputs reduce(const Invocation& node, const F& f) {
  const BoundedTensor& x = node.input(0);
  const Dims axes = reduced_axes(node, x.dims.size());
  BoundedTensor y;
  y.dims = x.dims;
  for (const int64_t axis : axes) y.dims[static_cast<std::size_t>(axis)] = 1;
  std::vector<std::vector<Bounded>> groups(static_cast<std::size_t>(element_count(y.dims)));
  const auto positions = broadcast_positions(y.dims, x.dims);
  for (std::size_t i = 0; i < positions.size(); ++i) groups[positions[i]].push_back(x.numbers[i]);
  for (const auto& group : groups) {
    require(!group.empty(), "a reduction of nothing");
    y.numbers.push_back(f(group));
  }
  if (node.integer("keepdims", 1) == 0) {
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      y.dims.erase(y.dims.begin() + *axis);
    }
  }
  return {std::move(y)};
}

Bounded sum_of(const std::vector<Bounded>& group) {
  Sum sum;
  for (const Bounded x : group) sum.add(x);
  return sum.total();
}

Bounded mean_of(const std::vector<Bounded>& group) {
  return sum_of(group) / Bounded{static_cast<double>(group.size()), 0};
}

Bounded sum_of_squares(const std::vector<Bounded>& group) {
  Sum sum;
  for (const Bounded x : group) sum.add_product(x, x);
  return sum.total();
}

template <Bounded (*f)(Bounded, Bounded)>
Bounded folded(const std::vector<Bounded>& group) {
  const Bounded result = std::accumulate(group.begin() + 1, group.end(), group[0], f);
  // As with poolings: the initial value of a library becomes visible if no element is finite.
  return std::isinf(result.value) ? unspecified() : result;
}

template <Bounded (*f)(const std::vector<Bounded>&)>
Outputs reduction(const Invocation& node) {
  return reduce(node, f);
}

}  // namespace

const Evaluations& layout_evaluations() {
  static const Evaluations kEvaluations = {
      {"Concat", &concat}, {"Expand", &expand}, {"Flatten", &flatten}, {"Pad", &pad},
      {"ReduceMax", &reduction<folded<maximum>>}, {"ReduceMean", &reduction<mean_of>},
      {"ReduceMin", &reduction<folded<minimum>>},
      {
          "ReduceProd",
          &reduction < folded < operator*>> },
          {"ReduceSum", &reduction<sum_of>},
          {"ReduceSumSquare", &reduction<sum_of_squares>},
          {"Reshape", &reshape},
          {"Slice", &slice},
          {"Split", &split},
          {"Squeeze", &squeeze},
          {"Transpose", &transpose},
          {"Unsqueeze", &unsqueeze},
      };
  return kEvaluations;
}

}  // namespace ephost::conformance
