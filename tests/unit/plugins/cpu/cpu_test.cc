#include "tests/unit/plugins/cpu/cpu_test.h"

#include <algorithm>

#include "tests/support/status_matchers.h"

namespace ephost::test {

PluginSession& cpu_session() {
  static PluginSession session(CPU_PLUGIN);
  return session;
}

std::unique_ptr<SingleNodeGraph> make_node(const std::string& op_type, int32_t since_version,
                                           const std::vector<Tensor>& inputs,
                                           const Attributes& attributes, std::size_t outputs) {
  auto graph = std::make_unique<SingleNodeGraph>(op_type, since_version);
  for (const Tensor& input : inputs) graph->input(input);
  for (std::size_t i = 0; i < outputs; ++i) graph->output();
  for (const auto& [name, value] : attributes) graph->attribute(name, value);
  return graph;
}

Outcome run_node(const std::string& op_type, int32_t since_version,
                 const std::vector<Tensor>& inputs, const Attributes& attributes,
                 std::size_t outputs) {
  return cpu_session().run(*make_node(op_type, since_version, inputs, attributes, outputs));
}

Tensor run_one(const std::string& op_type, int32_t since_version, const std::vector<Tensor>& inputs,
               const Attributes& attributes) {
  Outcome outcome = run_node(op_type, since_version, inputs, attributes);
  EXPECT_THAT(outcome, IsOk());
  return outcome.ok() ? outcome.outputs[0] : Tensor();
}

int64_t count_of(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

Tensor random_floats(const Shape& shape, uint32_t seed, float low, float high) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> draw(low, high);
  std::vector<float> values(static_cast<std::size_t>(count_of(shape)));
  std::generate(values.begin(), values.end(), [&] { return draw(engine); });
  return floats(shape, values);
}

std::vector<double> as_doubles(const Tensor& from) {
  const std::vector<float> values = values_of<float>(from);
  return {values.begin(), values.end()};
}

Tensor from_doubles(const Shape& shape, const std::vector<double>& values) {
  return floats(shape, {values.begin(), values.end()});
}

Tensor to_double_tensor(const Tensor& from) { return tensor<double>(from.shape, as_doubles(from)); }

}  // namespace ephost::test
