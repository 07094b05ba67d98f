// Conv and the poolings, with every attribute.
#include <algorithm>

#include "host/conformance/random/generate/random_graph.h"

namespace ephost::conformance {
namespace {

// Kernel extents, and the attributes that go with them.
Dims choose_kernel(RandomGraph& graph, const std::string& x) {
  Dims kernel;
  for (std::size_t i = 2; i < graph.dims(x).size(); ++i) {
    kernel.push_back(graph.dice().one_in(2) ? graph.dice().roll(1, 3) : graph.dice().roll(1, 5));
  }
  if (graph.dice().one_in(3)) kernel.assign(kernel.size(), graph.dice().one_in(3) ? 1 : 3);
  return kernel;
}

void choose_window(RandomGraph& graph, Draft& draft, const Dims& kernel, bool dilates) {
  Dice& dice = graph.dice();
  Dims strides, dilations, pads;
  for (std::size_t i = 0; i < kernel.size(); ++i) strides.push_back(dice.roll(1, 3));
  for (std::size_t i = 0; i < kernel.size(); ++i) dilations.push_back(dice.roll(1, 2));
  if (!dilates || !dice.one_in(4)) dilations.assign(kernel.size(), 1);
  for (std::size_t i = 0; i < 2 * kernel.size(); ++i) {
    const std::size_t axis = i % kernel.size();
    pads.push_back(dice.roll(0, (kernel[axis] - 1) * dilations[axis]));
  }
  if (dice.one_in(2)) draft.integers("strides", strides);
  if (dilations != Dims(kernel.size(), 1) || (dilates && dice.one_in(5))) {
    draft.integers("dilations", dilations);
  }
  static const std::vector<const char*> kModes = {"SAME_UPPER", "SAME_LOWER", "VALID"};
  if (dice.one_in(4)) {
    draft.text("auto_pad", dice.pick(kModes));
  } else if (!dice.one_in(3)) {
    draft.integers("pads", pads);
    if (dice.one_in(6)) draft.text("auto_pad", "NOTSET");
  }
}

bool add_conv(RandomGraph& graph) {
  const auto found = graph.pick(3, 5);
  if (!found) return false;
  Dice& dice = graph.dice();
  const std::string& x = *found;
  const int64_t channels = graph.dims(x)[1];
  if (channels < 1) return false;
  std::vector<int64_t> divisors;
  for (int64_t i = 1; i <= channels; ++i) {
    if (channels % i == 0) divisors.push_back(i);
  }
  const int64_t groups = dice.one_in(3) ? dice.pick(divisors) : 1;
  static const std::vector<int64_t> kChannels = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 32};
  int64_t outputs = groups * (groups > 1 ? dice.roll(1, 2) : dice.pick(kChannels));
  const Dims kernel = choose_kernel(graph, x);
  const int64_t terms = channels / groups * element_count(kernel);
  if (outputs * terms * std::ssize(graph.first(x).numbers) > 2000000) outputs = groups;
  Dims dims = {outputs, channels / groups};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  Draft draft("Conv", {x, graph.weights(dims, Range::weights(terms))});
  if (dice.one_in(2)) draft.read(graph.weights({outputs}, {-1, 1}));
  if (groups > 1) draft.integer("group", groups);
  if (dice.one_in(3)) draft.integers("kernel_shape", kernel);
  choose_window(graph, draft, kernel, true);
  return graph.add(draft).has_value();
}

bool add_pool(RandomGraph& graph) {
  const auto x = graph.pick(3, 5);
  if (!x) return false;
  Dice& dice = graph.dice();
  const bool is_max = dice.one_in(2);
  const Dims kernel = choose_kernel(graph, *x);
  Draft draft(is_max ? "MaxPool" : "AveragePool", {*x});
  draft.integers("kernel_shape", kernel);
  choose_window(graph, draft, kernel, graph.opset() >= (is_max ? 10 : 19));
  if (graph.opset() >= 10 && dice.one_in(4)) draft.integer("ceil_mode", 1);
  if (!is_max && dice.one_in(2)) draft.integer("count_include_pad", dice.roll(0, 1));
  if (is_max && graph.opset() >= 8 && dice.one_in(5)) draft.integer("storage_order", 0);
  return graph.add(draft, 1, is_max && graph.opset() >= 8 && dice.one_in(10) ? 1 : 0).has_value();
}

bool add_global_pool(RandomGraph& graph) {
  const auto x = graph.pick(3, 5);
  if (!x) return false;
  static const std::vector<const char*> kPools = {"GlobalAveragePool", "GlobalMaxPool"};
  return graph.add(Draft(graph.dice().pick(kPools), {*x})).has_value();
}

}  // namespace

const Choices& window_choices() {
  static const Choices kChoices = {{24, &add_conv}, {9, &add_pool}, {2, &add_global_pool}};
  return kChoices;
}

}  // namespace ephost::conformance
