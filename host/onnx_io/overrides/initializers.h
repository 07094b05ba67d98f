// Checks of initializers by the importer: that they agree with the declaration of
// a graph input of their name, and whether the caller gives others instead. Internal to the
// importer, except for GivenInitializers; forward-declares the generated classes instead of
// including them.
#pragma once

#include <ephost/status.h>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "host/graph/graph.h"

namespace onnx {
class GraphProto;
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace ephost::onnx_io {

struct GivenInitializer {
  graph::Tensor tensor;
  bool replaces_external = false;  // the model's data must be outside of the model
};

// By the name of the initializer, in the main graph.
using GivenInitializers = std::map<std::string, GivenInitializer, std::less<>>;

// Finds the initializers of the main graph that the caller gives. The model's data for them is not
// read.
class InitializerReplacement {
 public:
  // `given` must outlive this object.
  explicit InitializerReplacement(const GivenInitializers& given) : given_(given) {}

  // The tensor that is given for an initializer of the model; null if none is. INVALID_ARGUMENT if
  // it has another type or shape, or if the model's data is not where it must be.
  [[nodiscard]] Result<const graph::Tensor*> find(const onnx::TensorProto& initializer);
  [[nodiscard]] Result<const graph::Tensor*> find(const onnx::SparseTensorProto& initializer);

  // To be called when all initializers of `graph` were looked for: adds a sentence to
  // `without_effect` for each one that was given and that the model does not have.
  // INVALID_ARGUMENT where the model must have it.
  [[nodiscard]] Status finish(const onnx::GraphProto& graph,
                              std::vector<std::string>& without_effect) const;

  // Those that were found.
  [[nodiscard]] std::map<std::string, graph::Tensor> take_used() && { return std::move(used_); }

 private:
  Result<const graph::Tensor*> find(const std::string& name, graph::ElementType type,
                                    graph::Shape shape, bool is_external);

  const GivenInitializers& given_;
  std::map<std::string, graph::Tensor> used_;
};

// INVALID_GRAPH if the declared type of a value does not admit the initializer that it has, in an
// open graph input (`is_default`) or anywhere else, where only the element type counts.
[[nodiscard]] Status check_declared(const graph::Value& value, const graph::Tensor& tensor,
                                    bool is_default, std::span<const std::string> symbols);

}  // namespace ephost::onnx_io
