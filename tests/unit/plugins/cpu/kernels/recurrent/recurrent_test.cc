// RNN, GRU and LSTM against the operators' formulas, one sequence and one element at a time.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::recurrent_test {
namespace {

using Function = std::function<double(double)>;
using Row = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double plain_tanh(double x) { return std::tanh(x); }

struct RecurrentCase {
  std::string op_type;
  std::string direction = "forward";
  int64_t layout = 0;
  bool optional = true;  // bias, initial states, peepholes
  bool lengths = false;
  Attributes attributes = {};
  std::vector<Function> functions = {};  // for one direction, if not the defaults
  bool linear_before_reset = false, couples = false;
  double clip = 1e30;
  int32_t version = 14;
};

void PrintTo(const RecurrentCase& test, std::ostream* out) {
  *out << test.op_type << " " << test.direction << " layout " << test.layout;
}

constexpr int64_t kSteps = 5, kBatch = 3, kInput = 4, kHidden = 6;
const std::vector<int32_t> kLengths = {5, 2, 4};

// All in layout 0.
class Reference {
 public:
  Reference(const RecurrentCase& test, const std::vector<Tensor>& inputs, int64_t gates)
      : test_(test), gates_(gates), functions_(test.functions) {
    for (const Tensor& input : inputs) {
      inputs_.push_back(input.type == EPH_ELEMENT_FLOAT ? as_doubles(input) : Row());
    }
    if (!functions_.empty()) return;
    functions_ = {sigmoid, plain_tanh, plain_tanh};
    if (test.op_type == "RNN") functions_ = {plain_tanh};
  }

  void run(std::size_t direction, int64_t directions, bool reverse) {
    for (int64_t b = 0; b < kBatch; ++b) {
      const std::size_t at = (direction * kBatch + static_cast<std::size_t>(b)) * kHidden;
      Row h(kHidden, 0);
      Row c(kHidden, 0);
      if (test_.optional)
        std::copy_n(inputs_[5].begin() + static_cast<long>(at), kHidden, h.begin());
      if (inputs_.size() > 6 && test_.optional) {
        std::copy_n(inputs_[6].begin() + static_cast<long>(at), kHidden, c.begin());
      }
      const int64_t length = test_.lengths ? kLengths[static_cast<std::size_t>(b)] : kSteps;
      for (int64_t s = 0; s < length; ++s) {
        const int64_t t = reverse ? length - 1 - s : s;
        step(direction, t, b, h, c);
        const int64_t row = (t * directions + static_cast<int64_t>(direction)) * kBatch + b;
        std::copy(h.begin(), h.end(), y.begin() + row * kHidden);
      }
      std::copy(h.begin(), h.end(), y_h.begin() + static_cast<long>(at));
      std::copy(c.begin(), c.end(), y_c.begin() + static_cast<long>(at));
    }
  }

  Row y = Row(static_cast<std::size_t>(2 * kSteps * kBatch * kHidden), 0);
  Row y_h = Row(static_cast<std::size_t>(2 * kBatch * kHidden), 0);
  Row y_c = y_h;

 private:
  // Element j of a gate: its sum with the input, and with the state.
  double from_input(std::size_t d, int64_t gate, int64_t j, int64_t t, int64_t b) const {
    const int64_t row = (static_cast<int64_t>(d) * gates_ + gate) * kHidden + j;
    double sum = test_.optional ? bias(d, gate, j) : 0;
    for (int64_t i = 0; i < kInput; ++i) {
      sum += at(1, row * kInput + i) * at(0, (t * kBatch + b) * kInput + i);
    }
    return sum;
  }
  double from_state(std::size_t d, int64_t gate, int64_t j, const Row& h) const {
    const int64_t row = (static_cast<int64_t>(d) * gates_ + gate) * kHidden + j;
    double sum = test_.optional ? bias(d, gates_ + gate, j) : 0;
    for (int64_t i = 0; i < kHidden; ++i) {
      sum += at(2, row * kHidden + i) * h[static_cast<std::size_t>(i)];
    }
    return sum;
  }
  double bias(std::size_t d, int64_t gate, int64_t j) const {
    return at(3, (static_cast<int64_t>(d) * 2 * gates_ + gate) * kHidden + j);
  }
  double peephole(std::size_t d, int64_t which, int64_t j, double c) const {
    if (!test_.optional) return 0;
    return at(7, (static_cast<int64_t>(d) * 3 + which) * kHidden + j) * c;
  }
  double at(std::size_t input, int64_t i) const {
    return inputs_[input][static_cast<std::size_t>(i)];
  }
  double activate(std::size_t which, double x) const {
    return functions_[which](std::clamp(x, -test_.clip, test_.clip));
  }

  void step(std::size_t d, int64_t t, int64_t b, Row& h, Row& c) const {
    const Row old = h;
    const auto sum = [&](int64_t gate, int64_t j) {
      return from_input(d, gate, j, t, b) + from_state(d, gate, j, old);
    };
    Row reset;
    for (int64_t j = 0; test_.op_type == "GRU" && j < kHidden; ++j) {
      reset.push_back(activate(0, sum(1, j)) * old[static_cast<std::size_t>(j)]);
    }
    for (int64_t j = 0; j < kHidden; ++j) {
      const auto k = static_cast<std::size_t>(j);
      if (test_.op_type == "RNN") {
        h[k] = activate(0, sum(0, j));
      } else if (test_.op_type == "GRU") {
        const double z = activate(0, sum(0, j));
        const double r = activate(0, sum(1, j));
        const double candidate =
            from_input(d, 2, j, t, b) +
            (test_.linear_before_reset ? r * from_state(d, 2, j, old) : from_state(d, 2, j, reset));
        h[k] = (1 - z) * activate(1, candidate) + z * old[k];
      } else {
        const double i = activate(0, sum(0, j) + peephole(d, 0, j, c[k]));
        const double f = test_.couples ? 1 - i : activate(0, sum(2, j) + peephole(d, 2, j, c[k]));
        c[k] = f * c[k] + i * activate(1, sum(3, j));
        const double o = activate(0, sum(1, j) + peephole(d, 1, j, c[k]));
        h[k] = o * activate(2, c[k]);
      }
    }
  }

  const RecurrentCase& test_;
  int64_t gates_;
  std::vector<Row> inputs_;
  std::vector<Function> functions_;
};

// Swaps the first dimension with dimension `other`.
Tensor swap_first(const Tensor& from, int64_t other) {
  Shape perm(from.shape.size());
  for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  // The others keep their order: [S, D, B, H] becomes [B, S, D, H].
  perm.erase(perm.begin() + other);
  perm.insert(perm.begin(), other);
  return run_one("Transpose", 13, {from}, {{"perm", perm}});
}

class RecurrentOperators : public ::testing::TestWithParam<RecurrentCase> {
 protected:
  RecurrentOperators() {
    const RecurrentCase& test = GetParam();
    gates = test.op_type == "LSTM" ? 4 : test.op_type == "GRU" ? 3 : 1;
    directions = test.direction == "bidirectional" ? 2 : 1;
    inputs = {random_floats({kSteps, kBatch, kInput}, 1),
              random_floats({directions, gates * kHidden, kInput}, 2),
              random_floats({directions, gates * kHidden, kHidden}, 3),
              random_floats({directions, 2 * gates * kHidden}, 4),
              tensor<int32_t>({kBatch}, kLengths),
              random_floats({directions, kBatch, kHidden}, 5)};
    if (test.op_type != "LSTM") return;
    inputs.push_back(random_floats({directions, kBatch, kHidden}, 6));
    inputs.push_back(random_floats({directions, 3 * kHidden}, 7));
  }

  [[nodiscard]] Outcome run(bool constant_weights, Stated stated, int32_t type) const {
    const RecurrentCase& test = GetParam();
    SingleNodeGraph node(test.op_type, test.version);
    node.state(stated);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Tensor input = inputs[i];
      const bool is_state = i == 0 || i == 5 || i == 6;
      if (test.layout == 1 && is_state) input = swap_first(input, 1);
      if (type == EPH_ELEMENT_DOUBLE && input.type == EPH_ELEMENT_FLOAT) {
        input = to_double_tensor(input);
      }
      if (i >= 3 && (i == 4 ? !test.lengths : !test.optional)) {
        node.skip_input();
      } else if (constant_weights && i > 0) {
        node.constant(input);
      } else {
        node.input(input);
      }
    }
    for (std::size_t i = 0; i < (test.op_type == "LSTM" ? 3U : 2U); ++i) node.output();
    node.attribute("hidden_size", kHidden);
    node.attribute("direction", test.direction);
    if (test.layout != 0) node.attribute("layout", test.layout);
    for (const auto& [name, value] : test.attributes) node.attribute(name, value);
    return cpu_session().run(node);
  }

  int64_t gates = 1, directions = 1;
  std::vector<Tensor> inputs;
};

TEST_P(RecurrentOperators, FollowTheirFormulas) {
  const RecurrentCase& test = GetParam();
  Reference reference(test, inputs, gates);
  reference.run(0, directions, test.direction == "reverse");
  if (directions == 2) reference.run(1, directions, true);
  const auto expected = [&](const Row& values, const Shape& shape) {
    const Row used(values.begin(), values.begin() + count_of(shape));
    Tensor made = from_doubles(shape, used);
    return test.layout == 1 ? swap_first(made, static_cast<int64_t>(shape.size()) - 2) : made;
  };
  const Shape last = {directions, kBatch, kHidden};
  const std::vector<Tensor> outputs = {expected(reference.y, {kSteps, directions, kBatch, kHidden}),
                                       expected(reference.y_h, last),
                                       expected(reference.y_c, last)};
  const auto check = [&](const Outcome& outcome, int32_t type) {
    ASSERT_THAT(outcome, IsOk());
    for (std::size_t i = 0; i < outcome.outputs.size(); ++i) {
      const Tensor wanted = type == EPH_ELEMENT_DOUBLE ? to_double_tensor(outputs[i]) : outputs[i];
      EXPECT_EQ(difference(outcome.outputs[i], wanted, 1e-4, 1e-5), "") << "output " << i;
    }
  };
  check(run(false, Stated::kNothing, EPH_ELEMENT_FLOAT), EPH_ELEMENT_FLOAT);
  check(run(true, Stated::kTypesAndShapes, EPH_ELEMENT_FLOAT), EPH_ELEMENT_FLOAT);
  check(run(false, Stated::kTypesAndShapes, EPH_ELEMENT_DOUBLE), EPH_ELEMENT_DOUBLE);
}

std::vector<RecurrentCase> all_cases() {
  std::vector<RecurrentCase> cases;
  for (const char* op_type : {"RNN", "GRU", "LSTM"}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      for (const int64_t layout : {0, 1}) {
        for (const bool lengths : {false, true}) {
          cases.push_back({op_type, direction, layout, layout == 0 || lengths, lengths});
        }
      }
    }
  }
  cases.push_back({.op_type = "RNN", .optional = false, .version = 7});
  cases.push_back({.op_type = "GRU", .optional = false, .version = 22});
  cases.push_back({.op_type = "LSTM", .optional = false, .version = 22});
  for (const bool lengths : {false, true}) {
    cases.push_back({.op_type = "GRU",
                     .direction = "bidirectional",
                     .lengths = lengths,
                     .attributes = {{"linear_before_reset", int64_t{1}}},
                     .linear_before_reset = true});
  }
  cases.push_back({.op_type = "LSTM",
                   .attributes = {{"input_forget", int64_t{1}}, {"clip", 0.25F}},
                   .couples = true,
                   .clip = 0.25});
  const auto relu = [](double x) { return std::max(x, 0.0); };
  cases.push_back({.op_type = "RNN",
                   .attributes = {{"activations", std::vector<std::string>{"Relu"}}},
                   .functions = {relu}});
  const auto hard_sigmoid = [](double x) { return std::clamp(0.3 * x + 0.4, 0.0, 1.0); };
  const auto affine = [](double x) { return 0.7 * x + 0.1; };
  const auto leaky = [](double x) { return x < 0 ? 0.2 * x : x; };
  cases.push_back({.op_type = "LSTM",
                   .attributes = {{"activations",
                                   std::vector<std::string>{"HardSigmoid", "affine", "LeakyRelu"}},
                                  {"activation_alpha", std::vector<float>{0.3F, 0.7F, 0.2F}},
                                  {"activation_beta", std::vector<float>{0.4F, 0.1F}}},
                   .functions = {hard_sigmoid, affine, leaky}});
  const auto scaled = [](double x) { return 1.5 * std::tanh(0.5 * x); };
  const auto elu = [](double x) { return x < 0 ? 0.5 * (std::exp(x) - 1) : x; };
  cases.push_back({.op_type = "GRU",
                   .attributes = {{"activations", std::vector<std::string>{"ScaledTanh", "Elu"}},
                                  {"activation_alpha", std::vector<float>{1.5F, 0.5F}},
                                  {"activation_beta", std::vector<float>{0.5F}}},
                   .functions = {scaled, elu}});
  const auto softsign = [](double x) { return x / (1 + std::fabs(x)); };
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  cases.push_back(
      {.op_type = "GRU",
       .attributes = {{"activations", std::vector<std::string>{"Softsign", "Softplus"}}},
       .functions = {softsign, softplus}});
  const auto thresholded = [](double x) { return x >= 0.1 ? x : 0; };
  cases.push_back({.op_type = "RNN",
                   .attributes = {{"activations", std::vector<std::string>{"ThresholdedRelu"}},
                                  {"activation_alpha", std::vector<float>{0.1F}}},
                   .functions = {thresholded}});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Modes, RecurrentOperators, ::testing::ValuesIn(all_cases()));

TEST(RecurrentKernels, TakeEmptyInputs) {
  const Tensor w = random_floats({1, 2, 3}, 1);
  const Tensor r = random_floats({1, 2, 2}, 2);
  const Outcome no_steps = run_node("RNN", 14, {floats({0, 1, 3}, {}), w, r}, {}, 2);
  ASSERT_THAT(no_steps, IsOk());
  EXPECT_EQ(difference(no_steps.outputs[1], floats({1, 1, 2}, {0, 0})), "");
  const Outcome no_batch = run_node("RNN", 14, {floats({2, 0, 3}, {}), w, r}, {}, 2);
  ASSERT_THAT(no_batch, IsOk());
  EXPECT_EQ(no_batch.outputs[0].shape, (Shape{2, 1, 0, 2}));
  const Outcome no_input = run_node(
      "RNN", 14, {floats({1, 1, 0}, {}), floats({1, 2, 0}, {}), r, floats({1, 4}, {1, 2, 0, 0})},
      {}, 2);
  ASSERT_THAT(no_input, IsOk());
  EXPECT_EQ(difference(no_input.outputs[1], floats({1, 1, 2}, {0.7615942F, 0.9640276F})), "");
}

}  // namespace
}  // namespace ephost::test::recurrent_test
