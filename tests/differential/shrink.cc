#include "tests/differential/shrink.h"

#include <algorithm>
#include <set>

namespace ephost::test {

using namespace conformance;

namespace {

void replace_reads(onnx::GraphProto& graph, const std::string& from, const std::string& to) {
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    for (std::string& input : *node.mutable_input()) {
      if (input == from) input = to;
    }
  }
}

bool is_output(const onnx::GraphProto& graph, const std::string& name) {
  return std::any_of(graph.output().begin(), graph.output().end(),
                     [&](const onnx::ValueInfoProto& output) { return output.name() == name; });
}

void declare_input(onnx::GraphProto& graph, const std::string& name, const Dims& dims,
                   bool has_extents) {
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name(name);
  onnx::TypeProto::Tensor& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t extent : dims) {
    onnx::TensorShapeProto::Dimension& dim = *type.mutable_shape()->add_dim();
    if (has_extents) dim.set_dim_value(extent);
  }
  type.mutable_shape();
}

// The case with inputs in place of the outputs of a node.
Case with_input_for(const Case& from, int number) {
  Case made = from;
  onnx::GraphProto& graph = *made.model.mutable_graph();
  const onnx::NodeProto node = from.model.graph().node(number);
  graph.mutable_node()->DeleteSubrange(number, 1);
  for (const std::string& output : node.output()) {
    if (is_output(graph, output)) throw NotEvaluable("an output of the model");
    for (BoundedValues& inputs : made.inputs) {
      BoundedTensor tensor = evaluate_model(from.model, inputs).at(output);
      for (Bounded& x : tensor.numbers) x = {static_cast<float>(x.value), 0};
      inputs[output] = std::move(tensor);
    }
    declare_input(graph, output, made.inputs[0][output].dims, made.inputs.size() == 1);
  }
  return made;
}

// The case with a node bypassed: its readers read one of its inputs.
Case without_node(const Case& from, int number, int input) {
  Case made = from;
  onnx::GraphProto& graph = *made.model.mutable_graph();
  const onnx::NodeProto& node = from.model.graph().node(number);
  if (is_output(graph, node.output(0))) throw NotEvaluable("an output of the model");
  replace_reads(graph, node.output(0), node.input(input));
  graph.mutable_node()->DeleteSubrange(number, 1);
  return made;
}

Case without_output(const Case& from, int number) {
  Case made = from;
  made.model.mutable_graph()->mutable_output()->DeleteSubrange(number, 1);
  return made;
}

// The case with the node's result as an output, so that the nodes after it may go.
Case with_output(const Case& from, int number) {
  Case made = from;
  onnx::GraphProto& graph = *made.model.mutable_graph();
  const std::string& name = graph.node(number).output(0);
  if (is_output(graph, name)) throw NotEvaluable("an output already");
  graph.clear_output();
  onnx::ValueInfoProto& output = *graph.add_output();
  output.set_name(name);
  output.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  return made;
}

Case with_one_set(const Case& from, std::size_t number) {
  Case made = from;
  made.inputs = {from.inputs[number]};
  return made;
}

// Replaces open extents by fixed ones.
Case with_static_inputs(const Case& from) {
  Case made = from;
  bool changes = false;
  for (onnx::ValueInfoProto& input : *made.model.mutable_graph()->mutable_input()) {
    const auto found = made.inputs[0].find(input.name());
    if (found == made.inputs[0].end()) continue;
    onnx::TensorShapeProto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < shape.dim_size(); ++i) {
      changes = changes || !shape.dim(i).has_dim_value();
      shape.mutable_dim(i)->set_dim_value(found->second.dims[static_cast<std::size_t>(i)]);
    }
  }
  if (!changes || from.inputs.size() > 1) throw NotEvaluable("nothing to change");
  return made;
}

class Shrinker {
 public:
  Shrinker(Case failing, const std::function<bool(const Case&)>& fails)
      : best_(std::move(failing)), fails_(fails) {}

  Case run() {
    while (shrink_inputs() || shrink_outputs() || shrink_nodes()) {
    }
    return std::move(best_);
  }

 private:
  // Keeps the smaller case if it can be made and evaluated, and still fails.
  template <class Make>
  bool try_case(const Make& make) {
    try {
      Case smaller = without_dead_parts(make());
      for (const BoundedValues& inputs : smaller.inputs) {
        static_cast<void>(evaluate_model(smaller.model, inputs));
      }
      if (!fails_(smaller)) return false;
      best_ = std::move(smaller);
      return true;
    } catch (const NotEvaluable&) {
      return false;
    }
  }

  bool shrink_inputs() {
    for (std::size_t i = 0; best_.inputs.size() > 1 && i < best_.inputs.size(); ++i) {
      if (try_case([&] { return with_one_set(best_, i); })) return true;
    }
    return try_case([&] { return with_static_inputs(best_); });
  }

  bool shrink_outputs() {
    const onnx::GraphProto& graph = best_.model.graph();
    for (int i = 0; graph.output_size() > 1 && i < graph.output_size(); ++i) {
      if (try_case([&] { return without_output(best_, i); })) return true;
    }
    for (int i = 0; i + 1 < graph.node_size(); ++i) {
      if (try_case([&] { return with_output(best_, i); })) return true;
    }
    return false;
  }

  bool shrink_nodes() {
    for (int i = best_.model.graph().node_size(); i-- > 0;) {
      if (try_case([&] { return with_input_for(best_, i); })) return true;
      const int inputs = best_.model.graph().node(i).input_size();
      for (int input = 0; input < inputs; ++input) {
        if (try_case([&] { return without_node(best_, i, input); })) return true;
      }
    }
    return false;
  }

  Case best_;
  const std::function<bool(const Case&)>& fails_;
};

}  // namespace

Case shrink(Case failing, const std::function<bool(const Case&)>& fails) {
  return Shrinker(std::move(failing), fails).run();
}

Case without_dead_parts(Case from) {
  onnx::GraphProto& graph = *from.model.mutable_graph();
  std::set<std::string> live;
  for (const onnx::ValueInfoProto& output : graph.output()) live.insert(output.name());
  for (int i = graph.node_size(); i-- > 0;) {
    const onnx::NodeProto& node = graph.node(i);
    if (std::none_of(node.output().begin(), node.output().end(),
                     [&](const std::string& name) { return live.contains(name); })) {
      graph.mutable_node()->DeleteSubrange(i, 1);
      continue;
    }
    live.insert(node.input().begin(), node.input().end());
  }
  const auto is_dead = [&](const auto& named) { return !live.contains(named.name()); };
  auto& constants = *graph.mutable_initializer();
  constants.erase(std::remove_if(constants.begin(), constants.end(), is_dead), constants.end());
  auto& inputs = *graph.mutable_input();
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), is_dead), inputs.end());
  for (BoundedValues& values : from.inputs) {
    std::erase_if(values, [&](const auto& named) { return !live.contains(named.first); });
  }
  return from;
}

}  // namespace ephost::test
