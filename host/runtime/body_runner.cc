#include "host/runtime/body_runner.h"

#include <algorithm>
#include <utility>

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
  views_.clear();
  for (const HeldValue& input : inputs) views_.push_back(&input->view);
  EPHOST_RETURN_IF_ERROR(step_.run_body(body_, views_, outputs_));
  for (size_t i = 0; i < origins_.size(); ++i) {
    const Origin& origin = origins_[i];
    if (origin.source == Source::kPassedOn && origin.index < inputs.size()) {
      results_[i] = inputs[origin.index];
    } else if (origin.source == Source::kComputed) {
      results_[i] = origin.index == i ? collect(i) : results_[origin.index];
    } else {
      results_[i] = hold_borrowed(step_.body_output(body_, i));
    }
  }
  return Status::ok_status();
}

HeldValue BodyRunner::collect(size_t output) {
  const eph_value& view = step_.body_output(body_, output);
  if (view.element_type == EPH_STRING_ELEMENT) return hold_strings(view);
  HeldValue held = std::move(discarded_[output]);
  if (held == nullptr) held = std::make_shared<Held>();
  set_borrowed(*held, view, {view.shape, view.rank});
  held->value = std::exchange(outputs_[output], Value());
  return held;
}

void BodyRunner::recycle(size_t output, HeldValue held) {
  if (held == nullptr || !is_exclusive(held) || !held->texts.empty()) return;
  outputs_[output] = std::exchange(held->value, Value());
  discarded_[output] = std::move(held);
}

}  // namespace ephost::runtime
