// Models with inputs for the checks: random graphs, wide models, and ONNX's backend tests.
#pragma once

#include <ephost/status.h>
#include <ephost/value.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/base/values/backend_test.h"
#include "host/conformance/random/numbers/dice.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/wide_models.h"

namespace ephost::conformance {

using Inputs = std::vector<NamedValue>;
using Values = std::vector<Value>;

struct Sample {
  std::string name;            // for findings: "the random graph 17"
  std::string model;           // bytes of an ONNX model
  std::vector<Inputs> inputs;  // sets, which may differ in their shapes
  // What is wrong with the outputs of a run on that set; nothing if all is well. Empty where only a
  // second provider can tell.
  std::function<std::optional<std::string>(size_t set, const Values& outputs)> find_wrong = {};
  bool has_open_extents = false;
};

// The same seed makes the same sample; it knows what its outputs have to be.
[[nodiscard]] Sample random_sample(uint64_t seed);
// The same graph, all values of which are outputs.
[[nodiscard]] Sample random_sample_with_inner_values(uint64_t seed);
// A wide model on random inputs; with open extents it has sets of several sizes.
[[nodiscard]] Sample wide_sample(WideKind kind, bool is_open);
// One of fixed extents, all values of which are outputs; it knows what the CPU provider gives.
[[nodiscard]] Sample wide_sample_with_inner_values(const Bench& bench, WideKind kind);
// One of any shape.
[[nodiscard]] Sample sample_of(WideKind kind, const WideShape& shape);
// Inputs like those of a wide model, with another number of rows.
[[nodiscard]] Inputs with_rows(const Inputs& inputs, int64_t rows, Dice& dice);
// Inputs for the session's model like the given ones: the same numbers in another order.
[[nodiscard]] Inputs shuffled(const Inputs& inputs, Dice& dice);

// The backend tests of the kit and those in the folder NAME.tests beside the manifest, in a random
// order that the seed decides. None where the kit was built without data.
[[nodiscard]] std::vector<BackendTest> backend_tests(const Subject& subject);
// A backend test with its data, read as the session's model declares it.
[[nodiscard]] Result<Sample> backend_sample(const BackendTest& test, const std::string& model,
                                            const Session& session);
// NOT_IMPLEMENTED for a model with random operators.
[[nodiscard]] Result<std::string> read_model(const BackendTest& test);

// A model by itself, whatever the provider makes of it.
struct NamedModel {
  std::string name;   // for findings, as that of a sample
  std::string bytes;  // of an ONNX model
};
// The wide models, `count` random graphs and as many backend tests; the seed decides which.
[[nodiscard]] std::vector<NamedModel> various_models(const Subject& subject, size_t count);

// Checks that try many models end after as many.
inline constexpr size_t kMostFindings = 5;

// A time that is left.
class Budget {
 public:
  explicit Budget(std::chrono::milliseconds time) : end_(Clock::now() + time) {}
  [[nodiscard]] bool is_spent() const { return Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

struct SampleRequest {
  size_t count = 4;  // at most
  // For the search. It takes longer where it has found few, and twice as long, up to seconds, where
  // none.
  std::chrono::milliseconds time{500};
  bool wants_wide = true;  // wide models first
  bool wants_random = true;
  bool wants_backend_tests = true;
};

// Samples of which the provider takes at least a node, and whose session can be created.
[[nodiscard]] std::vector<Sample> find_samples(const Bench& bench, const SampleRequest& request);
// The same; leaves the check out if there are none.
[[nodiscard]] std::vector<Sample> need_samples(const Bench& bench, const SampleRequest& request,
                                               Report& report);

}  // namespace ephost::conformance
