// Operators that change dimensions or positions, select parts, or reduce.
#include <algorithm>
#include <numeric>

#include "host/conformance/random/generate/random_graph.h"

namespace ephost::conformance {
namespace {

bool add_transpose(RandomGraph& graph) {
  const auto x = graph.pick(1, 6);
  if (!x) return false;
  Dims perm(graph.dims(*x).size());
  std::iota(perm.begin(), perm.end(), 0);
  for (std::size_t i = perm.size(); i > 1 && !graph.dice().one_in(12); --i) {
    std::swap(perm[i - 1],
              perm[static_cast<std::size_t>(graph.dice().roll(0, static_cast<int64_t>(i) - 1))]);
  }
  Draft draft("Transpose", {*x});
  if (!graph.dice().one_in(4)) draft.integers("perm", perm);
  return graph.add(draft).has_value();
}

// Dimensions after some were joined or one was split, written as numbers, as 0, or as -1.
bool add_reshape(RandomGraph& graph) {
  const auto x = graph.pick(0, 6);
  Dice& dice = graph.dice();
  const Dims from = graph.dims(*x);
  Dims to;
  bool has_rest = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool is_open = graph.is_open(*x, i);
    if (is_open && to.size() == i && dice.one_in(2)) {
      to.push_back(0);
    } else if (is_open || (!has_rest && dice.one_in(6))) {
      if (has_rest) return false;
      to.push_back(-1);
      has_rest = true;
    } else if (!to.empty() && to.back() > 0 && dice.one_in(3)) {
      to.back() *= from[i];
    } else if (from[i] % 2 == 0 && dice.one_in(4)) {
      to.insert(to.end(), {2, from[i] / 2});
    } else {
      to.push_back(from[i]);
    }
  }
  if (to.size() < 5 && dice.one_in(5)) to.push_back(1);
  if (to.size() > 6) return false;
  return graph.add(Draft("Reshape", {*x, graph.ints(to)})).has_value();
}

bool add_flatten(RandomGraph& graph) {
  const auto x = graph.pick(1, 6);
  if (!x) return false;
  const auto rank = std::ssize(graph.dims(*x));
  const int64_t axis = graph.dice().roll(graph.opset() >= 11 ? -rank : 0, rank);
  return graph.add(Draft("Flatten", {*x}).integer("axis", axis)).has_value();
}

bool add_squeeze(RandomGraph& graph) {
  const auto x = graph.pick(1, 6);
  if (!x) return false;
  Dims axes;
  const Dims& dims = graph.dims(*x);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1 && !graph.is_open(*x, i)) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return false;
  if (graph.dice().one_in(2)) {
    const int64_t chosen = graph.dice().pick(axes);
    axes.assign(1, chosen);
  }
  if (graph.opset() >= 11 && graph.dice().one_in(3)) axes[0] -= std::ssize(dims);
  Draft draft("Squeeze", {*x});
  graph.give_ints(draft, "axes", axes, 13);
  return graph.add(draft).has_value();
}

bool add_unsqueeze(RandomGraph& graph) {
  const auto x = graph.pick(0, 4);
  if (!x) return false;
  Dims axes = {graph.dice().roll(0, std::ssize(graph.dims(*x)))};
  if (graph.dice().one_in(3)) axes.push_back(axes[0] + 1);
  Draft draft("Unsqueeze", {*x});
  graph.give_ints(draft, "axes", axes, 13);
  return graph.add(draft).has_value();
}

bool add_concat(RandomGraph& graph) {
  const auto x = graph.pick(1, 6);
  if (!x) return false;
  Dice& dice = graph.dice();
  const auto rank = std::ssize(graph.dims(*x));
  const int64_t axis = dice.roll(0, rank - 1);
  Draft draft("Concat", {*x});
  for (int64_t count = dice.roll(0, 3); count > 0; --count) {
    const auto other = graph.pick_like(*x);
    Dims dims = graph.dims(*x);
    dims[static_cast<std::size_t>(axis)] = dice.roll(1, 3);
    draft.read(other && !dice.one_in(4) ? *other
               : dice.one_in(3)         ? *x
                                        : graph.weights(dims, {-2, 2}));
  }
  draft.integer("axis", graph.opset() >= 11 && dice.one_in(3) ? axis - rank : axis);
  return graph.add(draft).has_value();
}

bool add_split(RandomGraph& graph) {
  const auto x = graph.pick(1, 6);
  if (!x) return false;
  const int64_t axis = graph.dice().roll(0, std::ssize(graph.dims(*x)) - 1);
  const int64_t extent = graph.dims(*x)[static_cast<std::size_t>(axis)];
  if (extent < 2 || graph.is_open(*x, static_cast<std::size_t>(axis))) return false;
  const int64_t cut = graph.dice().roll(1, extent - 1);
  Draft draft("Split", {*x});
  draft.integer("axis", axis);
  graph.give_ints(draft, "split", {cut, extent - cut}, 13);
  return graph.add(draft, 2).has_value();
}

bool add_slice(RandomGraph& graph) {
  const auto x = graph.pick(1, 6);
  if (!x) return false;
  Dice& dice = graph.dice();
  const int64_t axis = dice.roll(0, std::ssize(graph.dims(*x)) - 1);
  const int64_t extent = graph.dims(*x)[static_cast<std::size_t>(axis)];
  const int64_t begin = dice.roll(0, std::max<int64_t>(0, extent - 1));
  const int64_t end = dice.one_in(3) ? (dice.one_in(2) ? 1 << 20 : -1) : dice.roll(0, extent);
  if (graph.opset() < 10) {
    return graph
        .add(Draft("Slice", {*x})
                 .integers("starts", {begin})
                 .integers("ends", {end})
                 .integers("axes", {axis}))
        .has_value();
  }
  Draft draft("Slice", {*x, graph.ints({begin}), graph.ints({end}), graph.ints({axis})});
  if (dice.one_in(3)) draft.read(graph.ints({dice.roll(1, 2)}));
  return graph.add(draft).has_value();
}

bool add_pad(RandomGraph& graph) {
  const auto x = graph.pick(1, 5);
  if (!x) return false;
  Dims pads;
  for (std::size_t i = 0; i < 2 * graph.dims(*x).size(); ++i) {
    pads.push_back(graph.dice().one_in(2) ? 0 : graph.dice().roll(0, 2));
  }
  Draft draft("Pad", {*x});
  graph.give_ints(draft, "pads", pads, 11);
  if (graph.opset() >= 11 && graph.dice().one_in(2)) draft.read(graph.constant({}, {-1, 1}));
  return graph.add(draft).has_value();
}

bool add_expand(RandomGraph& graph) {
  const auto x = graph.pick(0, 4);
  if (!x || graph.opset() < 8) return false;
  Dims dims = graph.dims(*x);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (graph.is_open(*x, i)) dims[i] = 1;
    if (!graph.is_open(*x, i) && dims[i] == 1) dims[i] = graph.dice().roll(1, 3);
  }
  if (graph.dice().one_in(3)) dims.insert(dims.begin(), 2);
  return graph.add(Draft("Expand", {*x, graph.ints(dims)})).has_value();
}

bool add_reduction(RandomGraph& graph) {
  const auto x = graph.pick(1, 6);
  if (!x) return false;
  static const std::vector<const char*> kReductions = {"ReduceMean",     "ReduceMean", "ReduceSum",
                                                       "ReduceMax",      "ReduceMin",  "ReduceProd",
                                                       "ReduceSumSquare"};
  Dice& dice = graph.dice();
  const std::string reduction = dice.pick(kReductions);
  const auto rank = std::ssize(graph.dims(*x));
  Dims axes;
  for (int64_t i = 0; i < rank; ++i) {
    if (dice.one_in(2)) axes.push_back(graph.opset() >= 11 && dice.one_in(4) ? i - rank : i);
  }
  if (rank > 2 && dice.one_in(4)) {
    axes.resize(static_cast<std::size_t>(rank) - 2);
    std::iota(axes.begin(), axes.end(), 2);
  }
  const int version = reduction == "ReduceSum" ? 13 : 18;
  Draft draft(reduction.c_str(), {*x});
  if (!axes.empty()) graph.give_ints(draft, "axes", axes, version);
  if (dice.one_in(2)) draft.integer("keepdims", dice.roll(0, 1));
  if (graph.opset() >= version && dice.one_in(5)) {
    draft.integer("noop_with_empty_axes", dice.roll(0, 1));
  }
  return graph.add(draft).has_value();
}

}  // namespace

const Choices& layout_choices() {
  static const Choices kChoices = {{8, &add_transpose}, {7, &add_reshape},   {2, &add_flatten},
                                   {2, &add_squeeze},   {2, &add_unsqueeze}, {4, &add_concat},
                                   {2, &add_split},     {2, &add_slice},     {1, &add_pad},
                                   {1, &add_expand},    {4, &add_reduction}};
  return kChoices;
}

}  // namespace ephost::conformance
