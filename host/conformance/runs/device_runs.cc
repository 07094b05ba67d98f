// Runs of a provider whose values lie on a device: in memory of the application, and captured.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/conformance/devices/opened_devices.h"
#include "host/conformance/runs/run_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/samples.h"

namespace ephost::conformance {
namespace {

using std::chrono::milliseconds;

std::vector<Sample> samples_of(const Bench& bench, Report& report) {
  return need_samples(bench,
                      {.count = bench.by_level<size_t>(16, 100),
                       .time = bench.by_level(milliseconds(500), milliseconds(8'000))},
                      report);
}

const Value* find_input(const Inputs& inputs, const std::string& name) {
  const auto found = std::ranges::find(inputs, name, &NamedValue::name);
  return found == inputs.end() ? nullptr : &found->value;
}

// Binds each input and output that a step would copy to the device or from it in memory there.
// Nothing if there is none.
Result<std::optional<IoBinding>> bind_on_device(Session& session, const Inputs& inputs) {
  EPHOST_ASSIGN_OR_RETURN(IoBinding binding, session.create_binding());
  bool is_any = false;
  for (size_t i = 0; i < session.inputs().size(); ++i) {
    const std::string& name = session.inputs()[i].name;
    const MemoryInfo& memory = session.memory_info_for_inputs()[i];
    const Value* const given = find_input(inputs, name);
    if (given == nullptr) continue;
    is_any = is_any || !memory.is_cpu();
    Value value = *given;
    if (!memory.is_cpu()) {
      EPHOST_ASSIGN_OR_RETURN(value, given->copy_to(memory));
    }
    EPHOST_RETURN_IF_ERROR(binding.bind_input(name, value));
  }
  for (size_t i = 0; i < session.outputs().size(); ++i) {
    const MemoryInfo& memory = session.memory_info_for_outputs()[i];
    is_any = is_any || !memory.is_cpu();
    if (memory.is_cpu()) continue;
    EPHOST_RETURN_IF_ERROR(binding.bind_output(session.outputs()[i].name, memory));
  }
  if (!is_any) return std::optional<IoBinding>();
  return std::optional<IoBinding>(std::move(binding));
}

Result<Values> run_on_device(Session& session, IoBinding& binding) {
  EPHOST_RETURN_IF_ERROR(session.run(binding));
  Values outputs;
  for (const Value& output : binding.outputs()) {
    EPHOST_ASSIGN_OR_RETURN(outputs.emplace_back(), output.copy_to(MemoryInfo::cpu()));
  }
  return outputs;
}

}  // namespace

void check_values_on_devices(const Subject& subject, Report& report) {
  if (!need_memories(subject, report, false)) return;
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  Dice dice(formatted("values on devices {}", subject.seed));
  uint64_t models = 0;
  for (const Sample& sample : samples_of(*bench, report)) {
    Result<Session> session = bench->load(sample.model, bench->options());
    if (!session.ok()) continue;
    bool is_compared = false;
    for (int round = 0; round < 3; ++round) {
      const Inputs inputs = shuffled(sample.inputs.front(), dice);
      const Result<Values> expected = session->run(inputs);
      if (!expected.ok()) break;
      Result<std::optional<IoBinding>> binding = bind_on_device(*session, inputs);
      if (binding.ok() && !*binding) break;
      const Result<Values> outputs =
          binding.ok() ? run_on_device(*session, **binding) : binding.status();
      is_compared = true;
      const auto wrong =
          outputs.ok() ? find_difference(*outputs, *expected) : outputs.status().message();
      if (!wrong) continue;
      report.fail(formatted("{} with inputs and outputs on the device: {}", sample.name, *wrong),
                  "take the addresses of a run's values from the run, and copy within a memory");
      break;
    }
    models += is_compared ? 1 : 0;
    if (report.findings().size() >= kMostFindings) break;
  }
  report.note("models", static_cast<double>(models));
}

void check_captured_runs(const Subject& subject, Report& report) {
  const std::optional<Memories> memories = need_memories(subject, report, false);
  if (!memories) return;
  const auto captures = [](const bridge::DeviceMemory& one) { return one.device->has_captures(); };
  if (std::ranges::none_of(memories->all, captures)) {
    return report.leave_out("the plugin has no device that captures");
  }
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  SessionOptions plain = bench->options();
  plain.add_config_entry("session.capture", "off");
  Dice dice(formatted("captured {}", subject.seed));
  uint64_t models = 0;
  for (const Sample& sample : samples_of(*bench, report)) {
    Result<Session> reference = bench->load(sample.model, plain);
    Result<Session> session = bench->load(sample.model, bench->options());
    if (!reference.ok() || !session.ok()) continue;
    ++models;
    // What the runs before have captured has to see the inputs of this one.
    for (int round = 0; round < 6; ++round) {
      const Inputs inputs = shuffled(sample.inputs.front(), dice);
      const Result<Values> expected = reference->run(inputs);
      if (!expected.ok()) break;
      const Result<Values> outputs = session->run(inputs);
      const auto wrong =
          outputs.ok() ? find_difference(*outputs, *expected) : outputs.status().message();
      if (!wrong) continue;
      report.fail(
          formatted("{}, run {} of a session that captures: {}", sample.name, round + 1, *wrong),
          "state EPH_COMPUTATION_CAPTURABLE only where compute enqueues the same work for "
          "the same addresses, whatever lies there");
      break;
    }
    if (report.findings().size() >= kMostFindings) break;
  }
  report.note("models", static_cast<double>(models));
}

}  // namespace ephost::conformance
