#include "host/runtime/control_flow/body_runner.h"

#include <algorithm>
#include <utility>

#include "host/runtime/values/composite.h"

namespace ephost::runtime {

BodyRunner::BodyRunner(HostStep& step, size_t body, const Program& program)
    : step_(step), body_(body) {
  const graph::Graph& graph = program.graph();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const graph::ValueId id = graph.outputs[i];
    const auto index_in = [&](const std::vector<graph::ValueId>& ids) {
      return static_cast<size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
    };
    if (program.allocation().values[id].kind == plan::AllocKind::kAllocateOutput) {
      origins_.push_back({Source::kComputed, index_in(graph.outputs)});
    } else if (const size_t input = index_in(graph.inputs); input < graph.inputs.size()) {
      origins_.push_back({Source::kPassedOn, input});
    } else {
      origins_.push_back({Source::kFromOutside, 0});
    }
  }
  outputs_.resize(origins_.size());
  results_.resize(origins_.size());
  discarded_.resize(origins_.size());
}

Status BodyRunner::run(std::span<const HeldValue> inputs) {
  EPHOST_RETURN_IF_ERROR(step_.run_body(body_, inputs, outputs_));
  for (size_t i = 0; i < origins_.size(); ++i) {
    const Origin& origin = origins_[i];
    if (auto object = step_.take_body_object(body_, i)) {
      results_[i] = hold_value(*std::move(object));
    } else if (origin.source == Source::kPassedOn && origin.index < inputs.size()) {
      results_[i] = inputs[origin.index];
    } else if (origin.source == Source::kComputed) {
      if (origin.index == i) {
        EPHOST_ASSIGN_OR_RETURN(results_[i], collect(i));
      } else {
        results_[i] = results_[origin.index];
      }
    } else {
      results_[i] = hold_borrowed(step_.body_output(body_, i));
    }
  }
  return Status::ok_status();
}

Result<HeldValue> BodyRunner::collect(size_t output) {
  const eph_value& view = step_.body_output(body_, output);
  if (view.element_type == EPH_ELEMENT_STRING) {
    EPHOST_ASSIGN_OR_RETURN(Value text, copy_tensor(view));
    return hold_value(std::move(text));
  }
  HeldValue held = std::move(discarded_[output]);
  if (held == nullptr) held = std::make_shared<Held>();
  set_borrowed(*held, view, {view.shape, view.rank});
  held->value = std::exchange(outputs_[output], Value());
  return held;
}

void BodyRunner::recycle(size_t output, HeldValue held) {
  if (held == nullptr || !is_exclusive(held) || !held->texts.empty()) return;
  const bool is_plain = held->value.kind() != ValueKind::kSequence &&
                        held->value.kind() != ValueKind::kMap &&
                        held->value.element_type() != ElementType::kString;
  if (!is_plain || !ValueAccess::is_sole_owner(held->value)) return;
  outputs_[output] = std::exchange(held->value, Value());
  discarded_[output] = std::move(held);
}

}  // namespace ephost::runtime
