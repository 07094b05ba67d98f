#include "host/conformance/sessions/samples.h"

#include <ephost/value_file.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/conformance/random/evaluate/bounded_values.h"
#include "host/conformance/random/generate/random_graph.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/wide_models.h"

namespace ephost::conformance {
namespace {

constexpr size_t kLeastSamples = 3;
// After so many random graphs in a row that the provider takes nothing of, there are no more.
constexpr size_t kMostVainGraphs = 200;
// Time for a first sample. Some thousand models are tried by then.
constexpr std::chrono::milliseconds kLongestVainSearch(8000);

Inputs to_inputs(const BoundedValues& values) {
  Inputs inputs;
  for (const auto& [name, tensor] : values) inputs.push_back({name, to_value(tensor)});
  return inputs;
}

Value random_tensor(std::vector<int64_t> shape, Dice& dice) {
  Value value = Value::allocate(ElementType::kFloat, std::move(shape)).value();
  for (float& number : value.mutable_elements<float>()) {
    number = static_cast<float>(dice.real(-2, 2));
  }
  return value;
}

// Operators whose results nobody can expect.
bool is_random(const onnx::NodeProto& node) {
  static constexpr std::array kRandom = {"Bernoulli",        "Dropout",          "Multinomial",
                                         "RandomNormal",     "RandomNormalLike", "RandomUniform",
                                         "RandomUniformLike"};
  return std::ranges::find(kRandom, node.op_type()) != kRandom.end();
}

Sample sample_of_case(Case given, std::string title) {
  const auto made = std::make_shared<const Case>(std::move(given));
  auto expected = std::make_shared<std::vector<BoundedValues>>();
  Sample sample;
  sample.name = std::move(title);
  sample.model = made->model.SerializeAsString();
  for (const BoundedValues& inputs : made->inputs) {
    sample.inputs.push_back(to_inputs(inputs));
    expected->push_back(evaluate_model(made->model, inputs));
  }
  sample.has_open_extents = made->inputs.size() > 1;
  sample.find_wrong = [made, expected](size_t set,
                                       const Values& outputs) -> std::optional<std::string> {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = made->model.graph().output(static_cast<int>(i)).name();
      const auto wrong = find_wrong_element(outputs[i], (*expected)[set].at(name));
      if (wrong) return formatted("output {}: {}", name, *wrong);
    }
    return std::nullopt;
  };
  return sample;
}

// Makes those values of the graph outputs that `is_wanted`.
template <class IsWanted>
void make_outputs(onnx::ModelProto& model, const IsWanted& is_wanted) {
  onnx::GraphProto& graph = *model.mutable_graph();
  std::set<std::string> outputs;
  for (const onnx::ValueInfoProto& output : graph.output()) outputs.insert(output.name());
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& value : node.output()) {
      if (is_wanted(value) && outputs.insert(value).second) graph.add_output()->set_name(value);
    }
  }
}

// The candidates in the order of the search: wide models first, then random graphs and backend
// tests by turns.
class Candidates {
 public:
  Candidates(const Bench& bench, const SampleRequest& request)
      : bench_(bench), request_(request), seed_(bench.subject().seed * 1000003 + 1) {
    if (request.wants_backend_tests) tests_ = backend_tests(bench.subject());
  }

  [[nodiscard]] bool has_more() const { return has_wide() || has_random() || has_test(); }

  // The next one, if the provider takes a node of it.
  std::optional<Sample> next() {
    if (has_wide()) {
      const size_t index = next_wide_++;
      return if_taken(wide_sample(kWideKinds[index / 2], index % 2 == 1));
    }
    if (has_random() && (++turn_ % 2 == 1 || !has_test())) {
      std::optional<Sample> sample = if_taken(random_sample(seed_++));
      vain_graphs_ = sample ? 0 : vain_graphs_ + 1;
      return sample;
    }
    const BackendTest& test = tests_[next_test_++];
    const Result<std::string> model = read_model(test);
    if (!model.ok()) return std::nullopt;
    const Result<Session> session = bench_.load(*model, bench_.options());
    if (!session.ok() || bench_.nodes_of(*session) == 0) return std::nullopt;
    Result<Sample> sample = backend_sample(test, *model, *session);
    return sample.ok() ? std::optional(std::move(*sample)) : std::nullopt;
  }

 private:
  [[nodiscard]] bool has_wide() const {
    return request_.wants_wide && next_wide_ < 2 * kWideKinds.size();
  }
  [[nodiscard]] bool has_random() const {
    return request_.wants_random && vain_graphs_ < kMostVainGraphs;
  }
  [[nodiscard]] bool has_test() const { return next_test_ < tests_.size(); }
  [[nodiscard]] std::optional<Sample> if_taken(Sample sample) const {
    const Result<Session> session = bench_.load(sample.model, bench_.options());
    if (session.ok() && bench_.nodes_of(*session) > 0) return sample;
    return std::nullopt;
  }

  const Bench& bench_;
  const SampleRequest request_;
  uint64_t seed_;
  uint64_t turn_ = 0;
  size_t vain_graphs_ = 0;  // in a row
  size_t next_wide_ = 0;
  std::vector<BackendTest> tests_;
  size_t next_test_ = 0;
};

}  // namespace

Sample random_sample(uint64_t seed) {
  return sample_of_case(make_random_case(seed), formatted("the random graph {}", seed));
}

Sample random_sample_with_inner_values(uint64_t seed) {
  Case made = make_random_case(seed);
  // Some outputs without a consumer are not evaluated, such as the indices of MaxPool.
  const BoundedValues known = evaluate_model(made.model, made.inputs.front());
  make_outputs(made.model, [&](const std::string& value) { return known.contains(value); });
  return sample_of_case(std::move(made),
                        formatted("the random graph {} with all values as outputs", seed));
}

Sample wide_sample_with_inner_values(const Bench& bench, WideKind kind) {
  Sample sample = wide_sample(kind, false);
  onnx::ModelProto model;
  model.ParseFromString(sample.model);
  make_outputs(model, [](const std::string& value) { return !value.empty(); });
  sample.model = model.SerializeAsString();
  sample.name += " with all values as outputs";
  auto expected = std::make_shared<std::vector<Result<Values>>>();
  Result<Session> reference = bench.load(sample.model, Bench::reference());
  for (const Inputs& inputs : sample.inputs) {
    expected->push_back(reference.ok() ? reference->run(inputs) : reference.status());
  }
  sample.find_wrong = [expected](size_t set, const Values& outputs) -> std::optional<std::string> {
    const Result<Values>& wanted = (*expected)[set];
    return wanted.ok() ? find_difference(outputs, *wanted) : std::nullopt;
  };
  return sample;
}

Sample sample_of(WideKind kind, const WideShape& shape) {
  static constexpr std::array kNames = {"unary", "affine", "binary", "product", "convolution"};
  const auto index = static_cast<size_t>(kind);
  const onnx::ModelProto model = wide_model(kind, shape);
  Dice dice(formatted("wide {}", index));
  Sample sample;
  sample.name = formatted("the {} model{}", kNames[index], shape.is_open ? " of open extents" : "");
  sample.model = model.SerializeAsString();
  sample.has_open_extents = shape.is_open;
  Inputs& inputs = sample.inputs.emplace_back();
  for (const onnx::ValueInfoProto& input : model.graph().input()) {
    std::vector<int64_t> dims = {shape.rows};
    const auto& stated = input.type().tensor_type().shape().dim();
    for (int i = 1; i < stated.size(); ++i) dims.push_back(stated[i].dim_value());
    inputs.push_back({input.name(), random_tensor(std::move(dims), dice)});
  }
  return sample;
}

Sample wide_sample(WideKind kind, bool is_open) {
  Dice dice("rows");
  Sample sample = sample_of(kind, {.rows = 32, .columns = 256, .is_open = is_open, .repeats = 2});
  for (const int64_t rows : {1, 7, 64}) {
    if (is_open) sample.inputs.push_back(with_rows(sample.inputs.front(), rows, dice));
  }
  return sample;
}

Inputs with_rows(const Inputs& inputs, int64_t rows, Dice& dice) {
  Inputs made;
  for (const NamedValue& input : inputs) {
    const std::span<const int64_t> given = input.value.shape();
    std::vector<int64_t> shape(given.begin(), given.end());
    shape[0] = rows;
    made.push_back({input.name, random_tensor(std::move(shape), dice)});
  }
  return made;
}

Inputs shuffled(const Inputs& inputs, Dice& dice) {
  Inputs made;
  for (const NamedValue& input : inputs) {
    const Value& given = input.value;
    const uint64_t count = given.kind() == ValueKind::kTensor ? given.element_count() : 0;
    // Integers are often indices and shapes, which have to stay as they are.
    const bool is_number = given.element_type() == ElementType::kFloat ||
                           given.element_type() == ElementType::kDouble ||
                           given.element_type() == ElementType::kFloat16;
    if (count == 0 || !is_number) {
      made.push_back(input);
      continue;
    }
    const size_t size = given.bytes().size() / count;
    std::vector<uint64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    for (uint64_t i = count; i > 1; --i) {
      std::swap(order[i - 1],
                order[static_cast<uint64_t>(dice.roll(0, static_cast<int64_t>(i) - 1))]);
    }
    Value value = Value::allocate(given.element_type(), given.shape()).value();
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(value.mutable_bytes().data() + i * size, given.bytes().data() + order[i] * size,
                  size);
    }
    made.push_back({input.name, std::move(value)});
  }
  return made;
}

std::vector<BackendTest> backend_tests(const Subject& subject) {
  std::vector<BackendTest> found;
  const auto own = subject.manifest.parent_path() / (subject.provider + ".tests");
  for (const std::filesystem::path& root : {own, subject.data}) {
    std::error_code ignored;
    if (root.empty() || !std::filesystem::is_directory(root, ignored)) continue;
    Result<std::vector<BackendTest>> tests = find_backend_tests({&root, 1});
    if (!tests.ok()) continue;
    Dice dice(formatted("tests {}", subject.seed));
    for (size_t i = tests->size(); i > 1; --i) {
      std::swap((*tests)[i - 1],
                (*tests)[static_cast<size_t>(dice.roll(0, static_cast<int64_t>(i) - 1))]);
    }
    std::ranges::move(*tests, std::back_inserter(found));
  }
  return found;
}

Result<std::string> read_model(const BackendTest& test) {
  EPHOST_ASSIGN_OR_RETURN(std::string bytes, read_file(test.model()));
  onnx::ModelProto model;
  if (model.ParseFromString(bytes) && std::ranges::none_of(model.graph().node(), &is_random)) {
    return bytes;
  }
  return Status(StatusCode::kNotImplemented, "its results are random, or it is not a model");
}

std::vector<NamedModel> various_models(const Subject& subject, size_t count) {
  std::vector<NamedModel> models;
  for (const WideKind kind : kWideKinds) {
    for (const bool is_open : {false, true}) {
      Sample sample = wide_sample(kind, is_open);
      models.push_back({std::move(sample.name), std::move(sample.model)});
    }
  }
  const std::vector<BackendTest> tests = backend_tests(subject);
  const uint64_t seed = subject.seed * 1000003 + 1;
  for (size_t i = 0; i < count; ++i) {
    models.push_back({formatted("the random graph {}", seed + i),
                      make_random_case(seed + i).model.SerializeAsString()});
    if (i >= tests.size()) continue;
    Result<std::string> model = read_model(tests[i]);
    if (!model.ok()) continue;
    models.push_back({formatted("the backend test {}", tests[i].name), std::move(*model)});
  }
  return models;
}

Result<Sample> backend_sample(const BackendTest& test, const std::string& model,
                              const Session& session) {
  const auto read_all = [](const std::filesystem::path& set, std::string_view prefix,
                           std::span<const ValueDescription> descriptions) {
    return read_data<NamedValue>(set, prefix, descriptions,
                                 [](const std::filesystem::path& file, const ValueForm& form) {
                                   return read_value_file(file, form);
                                 });
  };
  const auto names_of = [](const std::vector<NamedValue>& values) {
    std::vector<std::string> names;
    for (const NamedValue& value : values) names.push_back(value.name);
    return names;
  };
  Sample sample;
  sample.name = formatted("the backend test {}", test.name);
  sample.model = model;
  // By set: the expected values with the outputs that they belong to.
  auto expected = std::make_shared<std::vector<std::vector<std::pair<size_t, Value>>>>();
  for (const std::filesystem::path& set : data_sets(test.folder)) {
    EPHOST_ASSIGN_OR_RETURN(auto given, read_all(set, "input_", session.inputs()));
    EPHOST_ASSIGN_OR_RETURN(auto wanted, read_all(set, "output_", session.outputs()));
    EPHOST_ASSIGN_OR_RETURN(const auto inputs,
                            match_data(names_of(given), session.inputs(), "input"));
    EPHOST_ASSIGN_OR_RETURN(const auto outputs,
                            match_data(names_of(wanted), session.outputs(), "output"));
    Inputs& named = sample.inputs.emplace_back();
    for (size_t i = 0; i < given.size(); ++i) {
      const ValueDescription& input = session.inputs()[inputs[i]];
      EPHOST_ASSIGN_OR_RETURN(Value value,
                              as_stated(std::move(given[i].value), input.element_type));
      named.push_back({input.name, std::move(value)});
    }
    auto& values = expected->emplace_back();
    for (size_t i = 0; i < wanted.size(); ++i) {
      const ElementType type = session.outputs()[outputs[i]].element_type;
      EPHOST_ASSIGN_OR_RETURN(Value value, as_stated(std::move(wanted[i].value), type));
      values.emplace_back(outputs[i], std::move(value));
    }
  }
  if (sample.inputs.empty())
    return Status(StatusCode::kNotFound, "the backend test has no test_data_set_0");
  sample.find_wrong = [expected](size_t set, const Values& outputs) -> std::optional<std::string> {
    for (const auto& [index, value] : (*expected)[set]) {
      const auto difference = find_difference(view_of(outputs[index]), view_of(value), Tolerance());
      if (difference) return formatted("output {}: {}", index, *difference);
    }
    return std::nullopt;
  };
  return sample;
}

std::vector<Sample> find_samples(const Bench& bench, const SampleRequest& request) {
  const Budget budget(request.time);
  const Budget first(std::min(request.time * 2, kLongestVainSearch));
  const Budget longest(request.time * 10);  // for a few
  Candidates candidates(bench, request);
  std::vector<Sample> found;
  while (found.size() < request.count && candidates.has_more()) {
    std::optional<Sample> sample = candidates.next();
    if (sample) found.push_back(std::move(*sample));
    if (longest.is_spent() || (first.is_spent() && found.empty())) break;
    if (budget.is_spent() && found.size() >= kLeastSamples) break;
  }
  return found;
}

std::vector<Sample> need_samples(const Bench& bench, const SampleRequest& request, Report& report) {
  std::vector<Sample> samples = find_samples(bench, request);
  if (samples.empty()) report.leave_out("the provider takes no node of the models that were tried");
  return samples;
}

}  // namespace ephost::conformance
