// What the memory of inputs and outputs may be like: of changing shapes, empty, barely aligned.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "host/base/format.h"
#include "host/conformance/runs/run_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/samples.h"

namespace ephost::conformance {
namespace {

using std::chrono::milliseconds;

constexpr const char* kExtentAdvice = "leave nodes alone whose extents the provider cannot take";
constexpr const char* kShapeAdvice =
    "read the extents of each run, and keep nothing of the run before";

std::vector<Sample> open_samples(const Bench& bench, const SampleRequest& request) {
  std::vector<Sample> samples = find_samples(bench, request);
  std::erase_if(samples, [](const Sample& sample) { return !sample.has_open_extents; });
  return samples;
}

// Runs the sample on one of its sets and finds what is wrong.
void judge_run(const Sample& sample, const std::string& how, size_t set, Session& session,
               Session& reference, Report& report) {
  if (!reference.run(sample.inputs[set]).ok()) return;
  const Result<Values> outputs = session.run(sample.inputs[set]);
  if (!outputs.ok()) {
    report.fail(formatted("{} fails {}: {}", sample.name, how, outputs.status().message()),
                kExtentAdvice);
    return;
  }
  if (const auto wrong = find_wrong(sample, set, *outputs, &reference)) {
    report.fail(formatted("{} gives a wrong result {}: {}", sample.name, how, *wrong),
                kShapeAdvice);
  }
}

// Runs both on inputs of which the sample does not know what to expect, and finds where they
// differ.
void compare_runs(const Sample& sample, const std::string& how, const Inputs& inputs,
                  Session& session, Session& reference, Report& report) {
  const Result<Values> outputs = session.run(inputs);
  const Result<Values> expected = reference.run(inputs);
  if (!expected.ok()) return;
  if (!outputs.ok()) {
    report.fail(formatted("{} fails {}: {}", sample.name, how, outputs.status().message()),
                kExtentAdvice);
    return;
  }
  if (const auto difference = find_difference(*outputs, *expected)) {
    report.fail(formatted("{} gives a wrong result {}: {}", sample.name, how, *difference),
                kShapeAdvice);
  }
}

// The model for the extents of these inputs alone.
std::string with_extents_of(const std::string& model, const Inputs& inputs) {
  onnx::ModelProto fixed;
  fixed.ParseFromString(model);
  for (onnx::ValueInfoProto& input : *fixed.mutable_graph()->mutable_input()) {
    const auto given = std::ranges::find(inputs, input.name(), &NamedValue::name);
    if (given == inputs.end()) continue;
    onnx::TensorShapeProto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (size_t i = 0; i < given->value.shape().size(); ++i) {
      shape.mutable_dim(static_cast<int>(i))->set_dim_value(given->value.shape()[i]);
    }
  }
  return fixed.SerializeAsString();
}

// Memory of so many bytes at an address that is a multiple of `alignment`, but of no more.
class BarelyAligned {
 public:
  BarelyAligned(size_t size, size_t alignment)
      : memory_(size + kMargin * 2 + alignment, std::byte{0xEE}) {
    void* at = memory_.data() + kMargin;
    size_t room = memory_.size() - kMargin;
    std::align(kMargin, size + alignment, at, room);
    data_ = static_cast<std::byte*>(at) + alignment;
    size_ = size;
  }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }
  // Whether something around the bytes was written.
  [[nodiscard]] bool is_damaged() const {
    const auto is_changed = [](std::byte byte) { return byte != std::byte{0xEE}; };
    const std::byte* const begin = memory_.data();
    const std::byte* const end = begin + memory_.size();
    const std::byte* const data = data_;
    return std::any_of(begin, data, is_changed) || std::any_of(data + size_, end, is_changed);
  }

 private:
  static constexpr size_t kMargin = 64;
  std::vector<std::byte> memory_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

size_t element_size(const Value& value) {
  const uint64_t count = value.element_count();
  return count == 0 ? 1 : std::max<size_t>(1, value.bytes().size() / count);
}

bool is_plain(const Value& value) {
  return value.kind() == ValueKind::kTensor && value.element_type() != ElementType::kString &&
         !value.bytes().empty();
}

void put_special_numbers(Inputs& inputs, Dice& dice) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (NamedValue& input : inputs) {
    if (input.value.element_type() != ElementType::kFloat) continue;
    Value copy = Value::allocate(ElementType::kFloat, input.value.shape()).value();
    std::ranges::copy(input.value.bytes(), copy.mutable_bytes().begin());
    for (float& number : copy.mutable_elements<float>()) {
      if (!dice.one_in(3)) continue;
      number =
          dice.pick({kInfinity, -kInfinity, std::nanf(""), 0.0F, -0.0F, 1e-42F, 3e38F, -3e38F});
    }
    input.value = std::move(copy);
  }
}

}  // namespace

void check_changing_shapes(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const SampleRequest request = {.count = bench->by_level<size_t>(30, 100),
                                 .time = bench->by_level(milliseconds(400), milliseconds(10'000)),
                                 .wants_backend_tests = false};
  uint64_t runs = 0;
  const std::vector<Sample> samples = open_samples(*bench, request);
  if (samples.empty()) {
    report.leave_out("the provider takes no node of the models with open extents that were tried");
  }
  for (const Sample& sample : samples) {
    Result<Session> session = bench->load(sample.model, bench->options());
    Result<Session> reference = bench->load(sample.model, Bench::reference());
    if (!session.ok() || !reference.ok()) continue;
    // Every set after every other one.
    for (size_t i = 0; i < sample.inputs.size(); ++i) {
      for (size_t j = 0; j < sample.inputs.size(); ++j) {
        for (const size_t set : {i, j}) {
          judge_run(sample, formatted("on inputs {} after inputs {}", set, set == i ? j : i), set,
                    *session, *reference, report);
          ++runs;
        }
        if (!report.findings().empty()) break;
      }
    }
  }
  report.note("runs", static_cast<double>(runs));
}

void check_fixed_extents(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const SampleRequest request = {.count = bench->by_level<size_t>(30, 100),
                                 .time = bench->by_level(milliseconds(400), milliseconds(10'000)),
                                 .wants_backend_tests = false};
  uint64_t runs = 0;
  for (const Sample& sample : open_samples(*bench, request)) {
    Result<Session> open = bench->load(sample.model, bench->options());
    if (!open.ok()) continue;
    for (size_t set = 0; set < sample.inputs.size(); ++set) {
      const std::string model = with_extents_of(sample.model, sample.inputs[set]);
      Result<Session> fixed = bench->load(model, bench->options());
      if (!fixed.ok()) {
        report.fail(formatted("{} has no session with the extents of its inputs {}: {}",
                              sample.name, set, fixed.status().message()),
                    kExtentAdvice);
        continue;
      }
      judge_run(sample, formatted("with the extents of its inputs {} fixed", set), set, *fixed,
                *open, report);
      ++runs;
    }
  }
  if (runs == 0) report.leave_out("the provider takes no node of models with open extents");
  report.note("runs", static_cast<double>(runs));
}

void check_empty_and_large_tensors(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const int64_t large = bench->by_level<int64_t>(2048, 50'000);
  uint64_t models = 0;
  // Fixed extents.
  for (const WideKind kind : kWideKinds) {
    for (const int64_t rows : {int64_t{0}, large}) {
      const Sample sample = sample_of(kind, {.rows = rows, .columns = 64});
      Result<Session> session = bench->load(sample.model, bench->options());
      Result<Session> reference = bench->load(sample.model, Bench::reference());
      if (!session.ok() || !reference.ok() || bench->nodes_of(*session) == 0) continue;
      ++models;
      compare_runs(sample, formatted("with {} fixed rows", rows), sample.inputs.front(), *session,
                   *reference, report);
    }
  }
  const SampleRequest request = {
      .count = 10, .time = milliseconds(3000), .wants_random = false, .wants_backend_tests = false};
  Dice dice(formatted("rows {}", subject.seed));
  for (const Sample& sample : open_samples(*bench, request)) {
    Result<Session> session = bench->load(sample.model, bench->options());
    Result<Session> reference = bench->load(sample.model, Bench::reference());
    if (!session.ok() || !reference.ok()) continue;
    ++models;
    for (const int64_t rows : {int64_t{5}, int64_t{0}, int64_t{5}, large, int64_t{0}, int64_t{1}}) {
      compare_runs(sample, formatted("with {} rows", rows),
                   with_rows(sample.inputs.front(), rows, dice), *session, *reference, report);
    }
  }
  if (models == 0) return report.leave_out("the provider takes no node of the models");
  report.note("models", static_cast<double>(models));
  report.note("largest extent", static_cast<double>(large));
}

void check_special_numbers(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const SampleRequest request = {.count = bench->by_level<size_t>(16, 100),
                                 .time = bench->by_level(milliseconds(300), milliseconds(8'000)),
                                 .wants_backend_tests = false};
  Dice dice(formatted("special {}", subject.seed));
  for (const Sample& sample : need_samples(*bench, request, report)) {
    Result<Session> session = bench->load(sample.model, bench->options());
    Result<Session> reference = bench->load(sample.model, Bench::reference());
    if (!session.ok() || !reference.ok()) continue;
    const Result<Values> before = session->run(sample.inputs.front());
    Inputs special = sample.inputs.front();
    put_special_numbers(special, dice);
    const Result<Values> outputs = session->run(special);
    if (!outputs.ok() && reference->run(special).ok()) {
      report.fail(formatted("{} fails on numbers that are not finite: {}", sample.name,
                            outputs.status().message()),
                  "compute as IEEE 754 says, without a failure");
    }
    const Result<Values> after = session->run(sample.inputs.front());
    if (!before.ok() || !after.ok()) continue;
    if (const auto difference = find_difference(*after, *before)) {
      report.fail(formatted("{}: a run after one with numbers that are not finite differs from the "
                            "run before: {}",
                            sample.name, *difference),
                  "clear or overwrite what a run leaves in the memory of a state");
    }
  }
}

void check_least_alignment(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const SampleRequest request = {.count = bench->by_level<size_t>(16, 100),
                                 .time = bench->by_level(milliseconds(300), milliseconds(8'000))};
  for (const Sample& sample : need_samples(*bench, request, report)) {
    Result<Session> session = bench->load(sample.model, bench->options());
    if (!session.ok()) continue;
    const Result<Values> expected = session->run(sample.inputs.front());
    if (!expected.ok()) continue;
    std::vector<std::unique_ptr<BarelyAligned>> kept;
    Inputs inputs = sample.inputs.front();
    for (NamedValue& input : inputs) {
      if (!is_plain(input.value)) continue;
      const Value given = input.value;
      kept.push_back(std::make_unique<BarelyAligned>(given.bytes().size(), element_size(given)));
      std::ranges::copy(given.bytes(), kept.back()->bytes().begin());
      input.value =
          Value::borrow(given.element_type(), given.shape(), kept.back()->bytes()).value();
    }
    const Result<Values> outputs = session->run(inputs);
    if (!outputs.ok()) {
      report.fail(formatted("{} fails on inputs that are aligned to their elements: {}",
                            sample.name, outputs.status().message()),
                  "ask for alignment in describe (host_alignment), or read inputs where they are");
    } else if (const auto difference = find_difference(*outputs, *expected)) {
      report.fail(
          formatted("{} gives another result on inputs that are aligned to their elements: {}",
                    sample.name, *difference),
          "do not round the addresses of inputs");
    }
  }
}

void check_bound_outputs(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const SampleRequest request = {.count = bench->by_level<size_t>(16, 100),
                                 .time = bench->by_level(milliseconds(300), milliseconds(8'000))};
  for (const Sample& sample : need_samples(*bench, request, report)) {
    Result<Session> session = bench->load(sample.model, bench->options());
    if (!session.ok()) continue;
    const Result<Values> expected = session->run(sample.inputs.front());
    Result<IoBinding> binding = session->create_binding();
    if (!expected.ok() || !binding.ok()) continue;
    std::vector<std::unique_ptr<BarelyAligned>> kept;
    const std::vector<std::string> names = binding->output_names();
    bool is_bound = true;
    for (const NamedValue& input : sample.inputs.front()) {
      is_bound = is_bound && binding->bind_input(input.name, input.value).ok();
    }
    for (size_t i = 0; i < names.size(); ++i) {
      const Value& like = (*expected)[i];
      if (!is_plain(like)) continue;
      kept.push_back(std::make_unique<BarelyAligned>(like.bytes().size(), element_size(like)));
      auto memory = Value::borrow(like.element_type(), like.shape(), kept.back()->bytes());
      is_bound = is_bound && memory.ok() && binding->bind_output(names[i], *memory).ok();
    }
    if (!is_bound) continue;
    const Status status = session->run(*binding);
    if (!status.ok()) {
      report.fail(formatted("{} fails with outputs in memory of the caller: {}", sample.name,
                            status.message()),
                  "write outputs where they are prepared");
      continue;
    }
    if (const auto difference = find_difference(binding->outputs(), *expected)) {
      report.fail(formatted("{} gives another result in memory of the caller: {}", sample.name,
                            *difference),
                  "write every element of the outputs where they are prepared");
    }
    if (std::ranges::any_of(kept, [](const auto& memory) { return memory->is_damaged(); })) {
      report.fail(formatted("{} writes beside an output in memory of the caller", sample.name),
                  "write no more than the bytes of the output");
    }
  }
}

}  // namespace ephost::conformance
