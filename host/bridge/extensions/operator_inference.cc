#include "host/bridge/extensions/operator_inference.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/status_kinds.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/callback.h"
#include "host/bridge/graph_view.h"
#include "host/bridge/slot_call.h"

namespace ephost::bridge {
namespace {

// More than any tensor has; an inference function that reports more is broken.
constexpr int32_t kMaxRank = 64;
constexpr uint64_t kMaxDimensionName = 1024;

// How many outputs an operator may have.
uint64_t output_limit(const eph_operator_def& definition) {
  const bool is_variadic =
      definition.output_count > 0 &&
      (definition.outputs[definition.output_count - 1].flags & EPH_PARAMETER_VARIADIC) != 0;
  return is_variadic ? std::numeric_limits<uint64_t>::max() : definition.output_count;
}

Status wrong(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

Status read_type(int32_t element_type, const int64_t* shape, const eph_string* dim_names,
                 int32_t rank, onnx_io::StatedType& stated) {
  if (element_type < EPH_ELEMENT_UNDEFINED || element_type > EPH_ELEMENT_INT2) {
    return wrong(
        formatted("set_output got the element type {}, which does not exist", element_type));
  }
  stated.element = static_cast<ElementType>(element_type);
  if (rank == -1) return {};
  if (rank < -1 || rank > kMaxRank) {
    return wrong(formatted("set_output got a rank of {}; ranks are at most {}, and -1 if unknown",
                           rank, kMaxRank));
  }
  if (rank > 0 && shape == nullptr) return wrong("set_output got a null shape with a rank");
  const auto count = static_cast<size_t>(rank);
  stated.shape.emplace(shape, shape + count);
  if (std::ranges::any_of(*stated.shape, [](int64_t extent) { return extent < -1; })) {
    return wrong("set_output got a negative extent other than -1");
  }
  for (size_t d = 0; dim_names != nullptr && d < count; ++d) {
    const std::string_view name = view(dim_names[d]);
    if (dim_names[d].size > kMaxDimensionName || !is_valid_utf8(name)) {
      return wrong("set_output got the name of a dimension that is not a short text in UTF-8");
    }
    stated.dim_names.emplace_back(name);
  }
  return {};
}

// One call of an inference function.
class Inference final : public eph_inference {
 public:
  Inference(const graph::Graph& alone, const graph::Model& model, uint64_t output_limit,
            onnx_io::StatedTypes& out)
      : eph_inference{&kApi},
        node_(alone.nodes.front()),
        view_(alone, model),
        output_limit_(output_limit),
        out_(out) {}

 private:
  static Inference& self(eph_inference* handle) { return *static_cast<Inference*>(handle); }
  static const Inference& self(const eph_inference* handle) {
    return *static_cast<const Inference*>(handle);
  }

  static int32_t get_node(const eph_inference* handle, eph_node_info* out,
                          eph_error* error) noexcept {
    const eph_graph& view = self(handle).view_;
    return view.api->get_node(&view, 0, out, error);
  }

  static int32_t get_input(const eph_inference* handle, uint32_t input, eph_value_info* out,
                           eph_error* error) noexcept {
    const Inference& inference = self(handle);
    const auto& inputs = inference.node_.inputs;
    if (input >= inputs.size() || inputs[input] == graph::kNoValue) {
      return report(error, StatusCode::kNotFound, "the node omits this input");
    }
    const eph_graph& view = inference.view_;
    return view.api->get_value(&view, inputs[input], out, error);
  }

  static int32_t set_output(eph_inference* handle, uint32_t output, int32_t element_type,
                            const int64_t* shape, const eph_string* dim_names, int32_t rank,
                            eph_error* error) noexcept {
    return run_callback(error, [&]() -> Status {
      Inference& inference = self(handle);
      if (output >= inference.output_limit_) {
        return wrong(formatted("set_output got output {}, and the operator has {}", output,
                               inference.output_limit_));
      }
      onnx_io::StatedType stated;
      EPHOST_RETURN_IF_ERROR(read_type(element_type, shape, dim_names, rank, stated));
      if (output < inference.out_.size()) inference.out_[output] = std::move(stated);
      return {};
    });
  }

  static constexpr eph_inference_api kApi = {sizeof(eph_inference_api), &get_node, &get_input,
                                             &set_output};

  const graph::Node& node_;
  GraphView view_;
  uint64_t output_limit_;
  onnx_io::StatedTypes& out_;
};

}  // namespace

onnx_io::InferFunction inference_of(std::shared_ptr<const plugin::LoadedPlugin> plugin,
                                    const eph_operator_def& definition,
                                    const eph_operator_def* given) {
  return [plugin = std::move(plugin), infer = definition.infer, limit = output_limit(definition),
          given](const graph::Graph& alone, const graph::Model& model,
                 onnx_io::StatedTypes& out) -> Status {
    const graph::Node& node = alone.nodes.front();
    Inference inference(alone, model, limit, out);
    const CallSite site{plugin->manifest.provider, "infer", node.op_type, node.name};
    const Status status = call_slot(site, "inferring the types of its outputs", infer, given,
                                    static_cast<eph_inference*>(&inference));
    // Whatever the plugin's code is, the model is to blame; a function that threw, or that ran
    // out of memory, is not a judge.
    const bool is_judged =
        !status.ok() && status.code() != StatusCode::kEpFail && !is_circumstance(status);
    return is_judged ? Status(StatusCode::kInvalidGraph, status.message()) : status;
  };
}

}  // namespace ephost::bridge
