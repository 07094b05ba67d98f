// Contexts that leave constants to the host: what a provider makes of others in their place.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/conformance/claims/asked.h"
#include "host/conformance/contexts/compiled.h"
#include "host/conformance/contexts/context_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/samples.h"
#include "host/context/ep_context_node.h"
#include "host/context/named_constants.h"

namespace ephost::conformance {
namespace {

using std::chrono::milliseconds;

using Texts = google::protobuf::RepeatedPtrField<std::string>;

// The constants that each node names; null for nodes that name none.
Texts* texts_of(onnx::NodeProto& node) {
  for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.name() == context::kNamedConstantsAttribute) return attribute.mutable_strings();
  }
  return nullptr;
}

// Replaces the bytes of a constant and its checksum in all nodes that name it.
void set_constant(onnx::GraphProto& graph, onnx::TensorProto& tensor, std::vector<float> numbers) {
  tensor.clear_float_data();
  tensor.set_raw_data(numbers.data(), numbers.size() * sizeof(float));
  const context::ContentChecksum checksum = {content_checksum(std::as_bytes(std::span(numbers))),
                                             numbers.size() * sizeof(float)};
  std::string extents;
  for (const int64_t extent : tensor.dims()) {
    extents += formatted("{}{}", extents.empty() ? "" : ",", extent);
  }
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    Texts* const texts = texts_of(node);
    for (int i = 0; texts != nullptr && i < texts->size(); ++i) {
      auto constant = context::parse_named_constant(texts->Get(i));
      if (!constant || constant->name != tensor.name()) continue;
      constant->checksum = checksum;
      constant->type = formatted("float[{}]", extents);
      *texts->Mutable(i) = context::to_string(*constant);
    }
  }
}

// Calls `change` for each float constant that some node names.
template <class Change>
void for_each_constant(onnx::GraphProto& graph, const Change& change) {
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    bool is_named = false;
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      const Texts* const texts = texts_of(node);
      is_named = is_named || (texts != nullptr && std::ranges::any_of(*texts, [&](const auto& one) {
                                const auto constant = context::parse_named_constant(one);
                                return constant && constant->name == tensor.name();
                              }));
    }
    if (is_named && tensor.data_type() == onnx::TensorProto::FLOAT) change(tensor);
  }
}

struct Damage {
  const char* how;
  std::function<void(onnx::GraphProto&)> commit;
};

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all = {
      {"with other numbers in its constants",
       [](onnx::GraphProto& graph) {
         for_each_constant(graph, [&](onnx::TensorProto& tensor) {
           int64_t count = 1;
           for (const int64_t extent : tensor.dims()) count *= extent;
           set_constant(graph, tensor, std::vector<float>(static_cast<size_t>(count), 0.25F));
         });
       }},
      {"with constants of one element",
       [](onnx::GraphProto& graph) {
         for_each_constant(graph, [&](onnx::TensorProto& tensor) {
           tensor.clear_dims();
           tensor.add_dims(1);
           set_constant(graph, tensor, {0.5F});
         });
       }},
      {"with constants without elements",
       [](onnx::GraphProto& graph) {
         for_each_constant(graph, [&](onnx::TensorProto& tensor) {
           tensor.clear_dims();
           tensor.add_dims(0);
           set_constant(graph, tensor, {});
         });
       }},
      {"without its last constant",
       [](onnx::GraphProto& graph) {
         for (onnx::NodeProto& node : *graph.mutable_node()) {
           Texts* const texts = texts_of(node);
           if (texts != nullptr && !texts->empty()) texts->RemoveLast();
         }
       }},
      {"without constants",
       [](onnx::GraphProto& graph) {
         for (onnx::NodeProto& node : *graph.mutable_node()) {
           if (Texts* const texts = texts_of(node)) texts->Clear();
         }
       }},
      {"with its constants in another order", [](onnx::GraphProto& graph) {
         for (onnx::NodeProto& node : *graph.mutable_node()) {
           Texts* const texts = texts_of(node);
           if (texts != nullptr) std::reverse(texts->begin(), texts->end());
         }
       }}};
  return all;
}

bool has_constants_outside(const std::string& context_model) {
  onnx::ModelProto model;
  if (!model.ParseFromString(context_model)) return false;
  return std::ranges::any_of(*model.mutable_graph()->mutable_node(), [](onnx::NodeProto& node) {
    const Texts* const texts = texts_of(node);
    return texts != nullptr && !texts->empty();
  });
}

std::vector<CompiledSample> need_weightless(const Bench& bench, Report& report) {
  const SampleRequest request = {.count = bench.by_level<size_t>(12, 40),
                                 .time = bench.by_level(milliseconds(300), milliseconds(4'000))};
  std::vector<CompiledSample> samples = need_compiled(bench, request, report);
  std::erase_if(samples, [](const CompiledSample& one) {
    return !has_constants_outside(one.compiled.model);
  });
  if (samples.empty()) report.leave_out("the provider leaves no constants outside of its contexts");
  return samples;
}

// What a session of the model gives; nothing where it is refused.
std::optional<Values> run_once(const Bench& bench, const std::string& model, const Inputs& inputs) {
  Result<Session> session = bench.load(model, bench.options());
  if (!session.ok()) return std::nullopt;
  Result<Values> outputs = session->run(inputs);
  return outputs.ok() ? std::optional(std::move(*outputs)) : std::nullopt;
}

}  // namespace

void check_outside_constants(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  std::vector<CompiledSample> samples = need_weightless(*bench, report);
  if (!samples.empty()) restore_elsewhere(*bench, samples, report);
}

void check_damaged_constants(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  uint64_t tried = 0;
  uint64_t refused = 0;
  for (const auto& [sample, compiled] : need_weightless(*bench, report)) {
    for (const Damage& damage : damages()) {
      onnx::ModelProto model;
      if (!model.ParseFromString(compiled.model)) continue;
      damage.commit(*model.mutable_graph());
      const std::string bytes = model.SerializeAsString();
      const auto first = run_once(*bench, bytes, sample.inputs.front());
      ++tried;
      refused += first ? 0 : 1;
      if (!first) continue;
      // What lies behind a constant that is too small differs from load to load.
      const Disturbance disturbance(subject.seed + tried);
      const auto second = run_once(*bench, bytes, sample.inputs.front());
      if (second && !find_difference(*second, *first)) continue;
      report.fail(
          formatted("{}: its context {} gives other results each time", sample.name, damage.how),
          "check number, type and shape of the constants that come with a context");
      break;
    }
  }
  report.note("contexts tried", static_cast<double>(tried));
  report.note("contexts refused", static_cast<double>(refused));
}

}  // namespace ephost::conformance
