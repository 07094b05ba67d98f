// A context for onnx's inference functions that answers their questions about a node from plain
// lists. Internal to shape inference; included by the sources of this folder only, as it exposes
// classes of onnx.
#pragma once

#include <google/protobuf/arena.h>
#include <onnx/defs/shape_inference.h>
#include <onnx/onnx_pb.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/base/format.h"

namespace ephost::onnx_io {

// The maximum length of a list of numbers that is propagated as the content of a shape; longer ones
// are unknown, so that concatenation in a sequence of nodes cannot grow without bound.
inline constexpr int kMaxShapeData = 4096;

// Per input: null if it is omitted (types), or unknown (data).
struct NodeFacts {
  std::vector<const onnx::TypeProto*> types;
  std::vector<const onnx::TensorProto*> constants;
  std::vector<const onnx::TensorShapeProto*> shape_data;
};

// Returns the element. onnx trusts a node to have as many inputs and outputs as its body or its
// other inputs imply.
template <class List>
auto& checked_at(List& list, size_t index) {
  if (index < list.size()) return list[index];
  throw onnx::InferenceError(
      formatted("it has no input or output #{}, which its other ones imply", index));
}

using MakeGraphInferencer =
    std::function<std::unique_ptr<onnx::GraphInferencer>(const std::string& attribute)>;

class TypeContext final : public onnx::InferenceContext {
 public:
  // The output types lie in `arena`.
  TypeContext(const onnx::NodeProto& node, const NodeFacts& facts, google::protobuf::Arena& arena,
              MakeGraphInferencer inferencer)
      : node_(node), facts_(facts), inferencer_(std::move(inferencer)) {
    for (int i = 0; i < node.output_size(); ++i) {
      outputs_.push_back(google::protobuf::Arena::CreateMessage<onnx::TypeProto>(&arena));
    }
  }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override;
  size_t getNumInputs() const override { return facts_.types.size(); }
  const onnx::TypeProto* getInputType(size_t index) const override {
    return checked_at(facts_.types, index);
  }
  const onnx::TensorProto* getInputData(size_t index) const override {
    return checked_at(facts_.constants, index);
  }
  const onnx::SparseTensorProto* getInputSparseData(size_t) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(size_t index) const override {
    return checked_at(facts_.constants, index) ? nullptr : checked_at(facts_.shape_data, index);
  }
  size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(size_t index) override { return checked_at(outputs_, index); }
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override;

  const std::vector<onnx::TypeProto*>& outputs() const { return outputs_; }

 private:
  const onnx::NodeProto& node_;
  const NodeFacts& facts_;
  MakeGraphInferencer inferencer_;
  std::vector<onnx::TypeProto*> outputs_;
  std::map<std::string, std::unique_ptr<onnx::GraphInferencer>> graph_inferencers_;
};

class ShapeDataContext final : public onnx::DataPropagationContext {
 public:
  ShapeDataContext(const onnx::NodeProto& node, const NodeFacts& facts,
                   const std::vector<onnx::TypeProto>& output_types)
      : node_(node), facts_(facts), output_types_(output_types), found_(output_types.size()) {}

  const onnx::AttributeProto* getAttribute(const std::string& name) const override;
  size_t getNumInputs() const override { return facts_.types.size(); }
  const onnx::TypeProto* getInputType(size_t index) const override {
    return checked_at(facts_.types, index);
  }
  size_t getNumOutputs() const override { return output_types_.size(); }
  const onnx::TypeProto* getOutputType(size_t index) const override {
    return &checked_at(output_types_, index);
  }
  const onnx::TensorShapeProto* getInputData(size_t index) override;
  void addOutputData(size_t index, onnx::TensorShapeProto&& data) override;

  // Per output; null if nothing is known.
  std::vector<std::unique_ptr<onnx::TensorShapeProto>>& found() { return found_; }

 private:
  const onnx::NodeProto& node_;
  const NodeFacts& facts_;
  const std::vector<onnx::TypeProto>& output_types_;
  std::vector<std::unique_ptr<onnx::TensorShapeProto>> found_;
  std::map<size_t, onnx::TensorShapeProto> from_constants_;  // by input
};

}  // namespace ephost::onnx_io
