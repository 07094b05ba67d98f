// Scan: iterates over tensors slice by slice and carries state values along. Since version 9 it
// scans one sequence along any axes; version 8 scans a batch of sequences of different lengths.
#include <algorithm>
#include <utility>

#include "host/base/format.h"
#include "host/runtime/control_flow/control_flow_operators.h"
#include "host/runtime/control_flow/scan_input.h"
#include "host/runtime/control_flow/stacked_output.h"

namespace ephost::runtime {
namespace {

struct ScanForm {
  size_t states = 0;
  size_t scanned = 0;  // inputs
  size_t stacked = 0;  // outputs
  std::vector<int64_t> input_axes;
  std::vector<int64_t> input_directions;
  std::vector<int64_t> output_axes;
  std::vector<int64_t> output_directions;
};

// One sequence while it is scanned.
struct Sequence {
  std::vector<HeldValue> states;
  std::vector<ScanInput> inputs;
  int64_t length = 0;
  uint64_t first_position = 0;  // of its elements in the outputs
};

class Scan : public HostOperator {
 public:
  Scan(std::vector<std::unique_ptr<Program>> bodies, ScanForm form)
      : HostOperator(std::move(bodies)), form_(std::move(form)) {}

  Status run(HostStep& step) const override;

 protected:
  [[nodiscard]] graph::ValueType declared(const HostStep& step, size_t output) const {
    return declared_element(body(0).graph(), output, step, output);
  }
  Status prepare(const HostStep& step, std::vector<FixedStack>& stacks) const;
  Status go_through(const HostStep& step, BodyRunner& runner, Sequence& sequence,
                    std::vector<FixedStack>& stacks) const;
  Status finish(const HostStep& step, std::vector<FixedStack>& stacks) const;
  [[nodiscard]] static Status check_lengths(const HostStep& step,
                                            std::span<const ScanInput> inputs);

  ScanForm form_;

 private:
  Status iterate(const HostStep& step, BodyRunner& runner, Sequence& sequence,
                 std::vector<FixedStack>& stacks, std::vector<HeldValue>& inputs,
                 int64_t index) const;
};

Status Scan::check_lengths(const HostStep& step, std::span<const ScanInput> inputs) {
  for (size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i].length() == inputs[0].length()) continue;
    return Status(StatusCode::kInvalidArgument,
                  formatted("the scan inputs of {} differ in length: input 0 has {}, input {} has "
                            "{}; make them equal",
                            step.describe(), inputs[0].length(), i, inputs[i].length()));
  }
  return Status::ok_status();
}

Status Scan::prepare(const HostStep& step, std::vector<FixedStack>& stacks) const {
  for (size_t i = 0; i < stacks.size(); ++i) {
    if (!step.is_wanted(form_.states + i)) continue;
    EPHOST_RETURN_IF_ERROR(stacks[i].prepare(declared(step, form_.states + i)));
  }
  return Status::ok_status();
}

Status Scan::go_through(const HostStep& step, BodyRunner& runner, Sequence& sequence,
                        std::vector<FixedStack>& stacks) const {
  std::vector<HeldValue> inputs(form_.states + form_.scanned);
  std::ranges::move(sequence.states, inputs.begin());
  for (int64_t i = 0; i < sequence.length; ++i) {
    Status status = step.check_cancelled();
    if (status.ok()) status = iterate(step, runner, sequence, stacks, inputs, i);
    if (!status.ok()) return in_iteration(std::move(status), i, step);
  }
  std::ranges::move(std::span(inputs).first(form_.states), sequence.states.begin());
  return Status::ok_status();
}

Status Scan::iterate(const HostStep& step, BodyRunner& runner, Sequence& sequence,
                     std::vector<FixedStack>& stacks, std::vector<HeldValue>& inputs,
                     int64_t index) const {
  const auto position_in = [&](size_t output) {
    const bool reversed = form_.output_directions[output] != 0;
    return sequence.first_position +
           static_cast<uint64_t>(reversed ? sequence.length - 1 - index : index);
  };
  for (size_t i = 0; i < form_.scanned; ++i) {
    inputs[form_.states + i].reset();
    EPHOST_ASSIGN_OR_RETURN(inputs[form_.states + i], sequence.inputs[i].slice(index));
  }
  for (size_t i = 0; i < form_.stacked; ++i) {
    EPHOST_ASSIGN_OR_RETURN(Value place, stacks[i].place(position_in(i)));
    runner.set_place(form_.states + i, std::move(place));
  }
  EPHOST_RETURN_IF_ERROR(runner.run(inputs));
  carry_on(runner, 0, std::span(inputs).first(form_.states));
  for (size_t i = 0; i < form_.stacked; ++i) {
    const HeldValue element = runner.take(form_.states + i);
    if (!step.is_wanted(form_.states + i)) continue;
    EPHOST_RETURN_IF_ERROR(stacks[i].store(position_in(i), *element));
  }
  return Status::ok_status();
}

Status Scan::finish(const HostStep& step, std::vector<FixedStack>& stacks) const {
  for (size_t i = 0; i < stacks.size(); ++i) {
    if (!step.is_wanted(form_.states + i)) continue;
    EPHOST_RETURN_IF_ERROR(stacks[i].finish(declared(step, form_.states + i)));
  }
  return Status::ok_status();
}

Status Scan::run(HostStep& step) const {
  Sequence sequence;
  for (size_t i = 0; i < form_.states; ++i) {
    EPHOST_ASSIGN_OR_RETURN(const eph_value* state, required_input(step, i));
    sequence.states.push_back(hold_borrowed(*state));
  }
  for (size_t i = 0; i < form_.scanned; ++i) {
    EPHOST_ASSIGN_OR_RETURN(const eph_value* value, required_input(step, form_.states + i));
    EPHOST_ASSIGN_OR_RETURN(ScanInput input, ScanInput::create(*value, form_.input_axes[i],
                                                               form_.input_directions[i] != 0));
    sequence.inputs.push_back(std::move(input));
  }
  EPHOST_RETURN_IF_ERROR(check_lengths(step, sequence.inputs));
  sequence.length = sequence.inputs.front().length();
  std::vector<FixedStack> stacks;
  for (size_t i = 0; i < form_.stacked; ++i) {
    stacks.emplace_back(step, form_.states + i, std::vector<int64_t>{sequence.length},
                        form_.output_axes[i], false);
  }
  BodyRunner runner(step, 0, body(0));
  EPHOST_RETURN_IF_ERROR(prepare(step, stacks));
  EPHOST_RETURN_IF_ERROR(go_through(step, runner, sequence, stacks));
  for (size_t i = 0; i < form_.states; ++i) {
    EPHOST_RETURN_IF_ERROR(step.give(i, std::move(sequence.states[i])));
  }
  return finish(step, stacks);
}

// Version 8: input 0 has the length of each sequence of the batch, and may be left out. All other
// values have the batch as their first axis; scan inputs and outputs have the sequence as their
// second.
class BatchScan : public Scan {
 public:
  using Scan::Scan;

  Status run(HostStep& step) const override;

 private:
  static constexpr size_t kFirstState = 1;
  struct Batch {
    std::vector<ScanInput> states;  // along the batch
    std::vector<ScanInput> inputs;
    int64_t length = 0;  // of the longest sequence
    std::vector<int64_t> lengths;
  };
  Result<Batch> open(const HostStep& step) const;
  Result<Sequence> cut(Batch& batch, int64_t index) const;
  static Status read_lengths(const HostStep& step, Batch& batch);
};

Result<BatchScan::Batch> BatchScan::open(const HostStep& step) const {
  Batch batch;
  std::vector<ScanInput> all;
  for (size_t i = 0; i < form_.states + form_.scanned; ++i) {
    EPHOST_ASSIGN_OR_RETURN(const eph_value* value, required_input(step, kFirstState + i));
    EPHOST_ASSIGN_OR_RETURN(ScanInput input, ScanInput::create(*value, 0, false));
    if (i >= form_.states) {
      const bool is_first = i == form_.states;
      const int64_t length = value->rank < 2 ? -1 : value->shape[1];
      if (is_first) batch.length = length;
      if (length < 0 || length != batch.length) {
        return Status(StatusCode::kInvalidArgument,
                      formatted("scan input {} of {} has {} elements in each sequence, not {}",
                                i - form_.states, step.describe(), length, batch.length));
      }
    }
    all.push_back(std::move(input));
  }
  EPHOST_RETURN_IF_ERROR(check_lengths(step, all));
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(form_.states);
  batch.states.assign(all.begin(), middle);
  batch.inputs.assign(middle, all.end());
  batch.lengths.assign(static_cast<size_t>(all.front().length()), batch.length);
  EPHOST_RETURN_IF_ERROR(read_lengths(step, batch));
  return batch;
}

Status BatchScan::read_lengths(const HostStep& step, Batch& batch) {
  const eph_value* given = step.input(0);
  if (given == nullptr) return Status::ok_status();
  const bool fits = given->element_type == EPH_ELEMENT_INT64 && given->kind == EPH_KIND_TENSOR &&
                    given->byte_size == batch.lengths.size() * sizeof(int64_t);
  const auto* lengths = static_cast<const int64_t*>(given->data);
  if (fits) batch.lengths.assign(lengths, lengths + batch.lengths.size());
  const auto is_wrong = [&](int64_t length) { return length < 0 || length > batch.length; };
  if (fits && std::ranges::none_of(batch.lengths, is_wrong)) return Status::ok_status();
  return Status(StatusCode::kInvalidArgument,
                formatted("the sequence lengths of {} must be {} int64 from 0 to {}",
                          step.describe(), batch.lengths.size(), batch.length));
}

// Sequence `index` of the batch, cut to its length.
Result<Sequence> BatchScan::cut(Batch& batch, int64_t index) const {
  Sequence sequence;
  sequence.length = batch.lengths[static_cast<size_t>(index)];
  sequence.first_position = static_cast<uint64_t>(index) * static_cast<uint64_t>(batch.length);
  for (ScanInput& state : batch.states) {
    EPHOST_ASSIGN_OR_RETURN(sequence.states.emplace_back(), state.slice(index));
  }
  for (size_t i = 0; i < form_.scanned; ++i) {
    EPHOST_ASSIGN_OR_RETURN(const HeldValue whole, batch.inputs[i].slice(index));
    std::vector<int64_t> shape = whole->shape;
    shape[0] = sequence.length;
    eph_value view = whole->view;
    view.shape = shape.data();
    if (batch.length != 0) {
      view.byte_size = view.byte_size / static_cast<uint64_t>(batch.length) *
                       static_cast<uint64_t>(sequence.length);
    }
    EPHOST_ASSIGN_OR_RETURN(ScanInput input,
                            ScanInput::create(view, 0, form_.input_directions[i] != 0));
    sequence.inputs.push_back(std::move(input));
  }
  return sequence;
}

Status BatchScan::run(HostStep& step) const {
  EPHOST_ASSIGN_OR_RETURN(Batch batch, open(step));
  const auto size = static_cast<int64_t>(batch.lengths.size());
  const bool padded =
      std::ranges::any_of(batch.lengths, [&](int64_t length) { return length != batch.length; });
  std::vector<FixedStack> states;
  for (size_t i = 0; i < form_.states; ++i) {
    states.emplace_back(step, i, std::vector<int64_t>{size}, 0, false);
  }
  std::vector<FixedStack> stacks;
  for (size_t i = 0; i < form_.stacked; ++i) {
    stacks.emplace_back(step, form_.states + i, std::vector<int64_t>{size, batch.length}, 0,
                        padded);
  }
  BodyRunner runner(step, 0, body(0));
  EPHOST_RETURN_IF_ERROR(prepare(step, stacks));
  for (int64_t b = 0; b < size; ++b) {
    EPHOST_ASSIGN_OR_RETURN(Sequence sequence, cut(batch, b));
    if (Status status = go_through(step, runner, sequence, stacks); !status.ok()) {
      return std::move(status).with_context(formatted("going through sequence {}", b));
    }
    for (size_t i = 0; i < form_.states; ++i) {
      if (!step.is_wanted(i)) continue;
      EPHOST_RETURN_IF_ERROR(states[i].store(static_cast<uint64_t>(b), *sequence.states[i]));
    }
  }
  for (size_t i = 0; i < form_.states; ++i) {
    if (step.is_wanted(i)) EPHOST_RETURN_IF_ERROR(states[i].finish(declared(step, i)));
  }
  return finish(step, stacks);
}

Result<ScanForm> read_form(const ControlFlowNode& node, const graph::Graph& body, bool batched) {
  ScanForm form;
  const size_t before = batched ? 1 : 0;  // the sequence lengths
  const int64_t scanned = node.node().integer("num_scan_inputs").value_or(0);
  const size_t given = node.node().inputs.size();
  if (given < before || scanned < 1 || static_cast<uint64_t>(scanned) > given - before) {
    return node.invalid(formatted("has num_scan_inputs {} and {} inputs, which do not go together",
                                  scanned, given));
  }
  form.scanned = static_cast<size_t>(scanned);
  form.states = given - before - form.scanned;
  EPHOST_RETURN_IF_ERROR(node.check_inputs(body, form.states + form.scanned));
  EPHOST_RETURN_IF_ERROR(node.check_outputs(body, form.states, 0));
  form.stacked = body.outputs.size() - form.states;
  const char* directions = batched ? "directions" : "scan_input_directions";
  EPHOST_ASSIGN_OR_RETURN(form.input_directions, node.list(directions, form.scanned, 0));
  form.input_axes.assign(form.scanned, 0);
  form.output_axes.assign(form.stacked, 0);
  form.output_directions.assign(form.stacked, 0);
  if (batched) return form;
  EPHOST_ASSIGN_OR_RETURN(form.input_axes, node.list("scan_input_axes", form.scanned, 0));
  EPHOST_ASSIGN_OR_RETURN(form.output_axes, node.list("scan_output_axes", form.stacked, 0));
  EPHOST_ASSIGN_OR_RETURN(form.output_directions,
                          node.list("scan_output_directions", form.stacked, 0));
  return form;
}

}  // namespace

Result<std::unique_ptr<HostOperator>> make_scan(ControlFlowNode node) {
  std::vector<std::unique_ptr<Program>> bodies(1);
  EPHOST_ASSIGN_OR_RETURN(bodies[0], node.take_body("body"));
  const bool batched = node.node().since_version < 9;
  EPHOST_ASSIGN_OR_RETURN(ScanForm form, read_form(node, bodies[0]->graph(), batched));
  if (batched) {
    return std::unique_ptr<HostOperator>(
        std::make_unique<BatchScan>(std::move(bodies), std::move(form)));
  }
  return std::unique_ptr<HostOperator>(std::make_unique<Scan>(std::move(bodies), std::move(form)));
}

}  // namespace ephost::runtime
