#include "host/session/creation/cpu_reference.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/graph/types.h"
#include "host/optimize/constant_folding.h"
#include "host/runtime/values/value.h"
#include "host/session/creation/executable.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/environment/session_log.h"

namespace ephost::session {
namespace {

Status refuse_random(const PreparedModel& prepared) {
  for (const PreparedGraph* const one : prepared.graphs()) {
    const graph::Graph& graph = prepared.graph_of(*one);
    for (const graph::Node& node : graph.nodes) {
      if (!optimize::is_random(graph, node)) continue;
      return Status(StatusCode::kNotImplemented,
                    formatted("the results of {} are random", node.op_type));
    }
  }
  return Status::ok_status();
}

// Over the memory of `given`, which is only read.
Result<runtime::Value> borrow(const eph_value& given) {
  const bool is_plain = given.kind == EPH_KIND_TENSOR && given.memory == 0 &&
                        given.element_type != EPH_ELEMENT_STRING;
  if (!is_plain) {
    return Status(StatusCode::kNotImplemented, "an input is not a tensor of numbers");
  }
  return runtime::Value::borrow(
      static_cast<ElementType>(given.element_type),
      std::vector<int64_t>(given.shape, given.shape + given.rank),
      {static_cast<std::byte*>(given.data), static_cast<size_t>(given.byte_size)});
}

layers::Reference::Output output_of(std::string name, runtime::Value made) {
  const auto value = std::make_shared<const runtime::Value>(std::move(made));
  const ElementType type = value->element_type();
  return {std::move(name),
          make_view(*value, graph::element_type_name(type), graph::element_bits(type)), value};
}

class CpuReference : public layers::Reference {
 public:
  static Result<std::shared_ptr<Reference>> create(EnvironmentState& environment,
                                                   const GivenOptions& options,
                                                   std::span<const std::byte> onnx) {
    auto made = std::make_shared<CpuReference>(environment, options, onnx);
    const LogScope scope(made->log_);
    PipelineHooks hooks;
    hooks.runs = true;
    hooks.after_compile = &refuse_random;
    EPHOST_ASSIGN_OR_RETURN(const SessionSettings settings, SessionSettings::read(options));
    EPHOST_ASSIGN_OR_RETURN(made->model_,
                            Executable::create(environment, {{}, made->onnx_}, settings, hooks));
    return std::shared_ptr<Reference>(std::move(made));
  }

  CpuReference(EnvironmentState& environment, const GivenOptions& options,
               std::span<const std::byte> onnx)
      : environment_(environment.shared_from_this()),
        log_(session_log(environment, options)),
        onnx_(onnx.begin(), onnx.end()) {}
  CpuReference(const CpuReference&) = delete;
  CpuReference& operator=(const CpuReference&) = delete;
  ~CpuReference() override {
    const LogScope scope(log_);
    model_.reset();
  }

  [[nodiscard]] Result<std::vector<Output>> run(std::span<const eph_value* const> inputs) override {
    return without_exceptions("running the CPU provider", [&] { return run_model(inputs); });
  }

 private:
  [[nodiscard]] Result<std::vector<Output>> run_model(std::span<const eph_value* const> inputs) {
    const LogScope scope(log_);
    const graph::Graph& graph = model_->prepared.model.graph;
    if (inputs.size() != graph.inputs.size()) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("there are {} inputs for {}", inputs.size(), graph.inputs.size()));
    }
    std::vector<runtime::Value> values(inputs.size());
    std::vector<const runtime::Value*> given(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr) continue;
      EPHOST_ASSIGN_OR_RETURN(values[i], borrow(*inputs[i]));
      given[i] = &values[i];
    }
    std::vector<runtime::Value> results(graph.outputs.size());
    EPHOST_RETURN_IF_ERROR(model_->run(given, results, {}));
    std::vector<Output> outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      outputs.push_back(output_of(graph.values[graph.outputs[i]].name,
                                  std::exchange(results[i], runtime::Value())));
    }
    return outputs;
  }

  const std::shared_ptr<EnvironmentState> environment_;
  const Log log_;
  const std::vector<std::byte> onnx_;  // which the model borrows
  std::unique_ptr<Executable> model_;
};

}  // namespace

layers::MakeReference cpu_references(EnvironmentState& environment, const SessionConfig& config) {
  GivenOptions options;
  options.set_entry("session.layers", "");
  options.set_entry("session.intra_op_num_threads", std::to_string(config.intra_op_threads));
  options.log_level = LoggingLevel::kFatal;
  // The environment may have the provider that the layer is over, and so the layer.
  return [state = environment.weak_from_this(),
          options](std::span<const std::byte> onnx) -> Result<std::shared_ptr<layers::Reference>> {
    const std::shared_ptr<EnvironmentState> kept = state.lock();
    if (kept == nullptr) return Status(StatusCode::kFail, "its environment has ended");
    return without_exceptions("creating the CPU provider's computation",
                              [&] { return CpuReference::create(*kept, options, onnx); });
  };
}

}  // namespace ephost::session
