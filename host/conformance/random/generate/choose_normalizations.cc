// Normalizations and softmax.
#include "host/conformance/random/generate/random_graph.h"

namespace ephost::conformance {
namespace {

bool add_batch_normalization(RandomGraph& graph) {
  const auto x = graph.pick(2, 5);
  if (!x) return false;
  const Dims channels = {graph.dims(*x)[1]};
  Draft draft(
      "BatchNormalization",
      {*x, graph.weights(channels, Range::away_from_zero()), graph.weights(channels, {-1, 1}),
       graph.weights(channels, {-1, 1}), graph.weights(channels, Range::positive())});
  if (graph.dice().one_in(3)) draft.real("epsilon", graph.dice().real(1e-5, 0.5));
  if (graph.dice().one_in(5)) draft.real("momentum", 0.8);
  if (graph.opset() < 9 && graph.dice().one_in(3)) draft.integer("spatial", 1);
  if (graph.opset() >= 14 && graph.dice().one_in(5)) draft.integer("training_mode", 0);
  return graph.add(draft).has_value();
}

bool add_layer_normalization(RandomGraph& graph) {
  const auto x = graph.pick(1, 5);
  if (!x || graph.opset() < 17) return false;
  const Dims& dims = graph.dims(*x);
  const int64_t axis =
      graph.dice().one_in(2) ? std::ssize(dims) - 1 : graph.dice().roll(0, std::ssize(dims) - 1);
  Dims inner(dims.begin() + axis, dims.end());
  if (graph.dice().one_in(10)) inner.assign(inner.size(), 1);
  Draft draft("LayerNormalization", {*x, graph.weights(inner, Range::away_from_zero())});
  if (!graph.dice().one_in(4)) draft.read(graph.weights(inner, {-1, 1}));
  if (!graph.dice().one_in(4)) {
    draft.integer("axis", graph.dice().one_in(2) ? axis : axis - std::ssize(dims));
  }
  if (graph.dice().one_in(3)) draft.real("epsilon", graph.dice().real(1e-5, 0.5));
  return graph.add(draft, 1, graph.dice().one_in(6) ? 2 : 0).has_value();
}

bool add_lrn(RandomGraph& graph) {
  const auto x = graph.pick(3, 5);
  if (!x) return false;
  Draft draft("LRN", {*x});
  draft.integer("size", graph.dice().roll(1, 6));
  if (graph.dice().one_in(2)) draft.real("alpha", graph.dice().real(0.0001, 0.5));
  if (graph.dice().one_in(2)) draft.real("beta", graph.dice().real(0.3, 1.2));
  if (graph.dice().one_in(2)) draft.real("bias", graph.dice().real(0.5, 2));
  return graph.add(draft).has_value();
}

bool add_softmax(RandomGraph& graph) {
  const auto x = graph.pick(1, 6);
  if (!x) return false;
  Draft draft(graph.dice().one_in(3) ? "LogSoftmax" : "Softmax", {*x});
  const auto rank = std::ssize(graph.dims(*x));
  if (!graph.dice().one_in(4)) {
    draft.integer("axis", graph.dice().roll(graph.opset() >= 11 ? -rank : 0, rank - 1));
  }
  return graph.add(draft).has_value();
}

}  // namespace

const Choices& normalization_choices() {
  static const Choices kChoices = {{7, &add_batch_normalization},
                                   {3, &add_layer_normalization},
                                   {2, &add_lrn},
                                   {4, &add_softmax}};
  return kChoices;
}

}  // namespace ephost::conformance
