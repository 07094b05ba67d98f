#include "host/conformance/claims/variants.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/base/format.h"

namespace ephost::conformance {
namespace {

template <class Messages>
void shuffle(Messages& messages, Dice& dice) {
  for (int i = messages.size() - 1; i > 0; --i) {
    messages.SwapElements(i, static_cast<int>(dice.roll(0, i)));
  }
}

}  // namespace

bool can_be_varied(const onnx::ModelProto& model) {
  const auto has_body = [](const onnx::NodeProto& node) {
    return std::ranges::any_of(node.attribute(), [](const onnx::AttributeProto& attribute) {
      return attribute.has_g() || attribute.graphs_size() > 0;
    });
  };
  return model.functions_size() == 0 && model.graph().sparse_initializer_size() == 0 &&
         std::ranges::none_of(model.graph().node(), has_body);
}

void shuffle_initializers(onnx::ModelProto& model, Dice& dice) {
  shuffle(*model.mutable_graph()->mutable_initializer(), dice);
  shuffle(*model.mutable_graph()->mutable_value_info(), dice);
}

Names rename(onnx::ModelProto& model, Dice& dice) {
  onnx::GraphProto& graph = *model.mutable_graph();
  std::map<std::string, std::string> new_names = {{"", ""}};
  Names old_names;
  const auto renamed = [&](std::string* name) {
    auto found = new_names.find(*name);
    if (found == new_names.end()) {
      const std::string made = formatted("r{}_{}", dice.roll(0, 999'999), new_names.size());
      old_names.emplace(made, *name);
      found = new_names.emplace(*name, made).first;
    }
    *name = found->second;
  };
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    for (std::string& name : *node.mutable_input()) renamed(&name);
    for (std::string& name : *node.mutable_output()) renamed(&name);
    node.set_name(formatted("n{}", dice.roll(0, 999'999'999)));
  }
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) renamed(tensor.mutable_name());
  for (auto* infos : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
    for (onnx::ValueInfoProto& info : *infos) renamed(info.mutable_name());
  }
  graph.clear_quantization_annotation();
  return old_names;
}

}  // namespace ephost::conformance
