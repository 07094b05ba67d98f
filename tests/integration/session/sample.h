// The installed plugins and the tiny models, for tests of sessions.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/support/host_api.h"
#include "tests/support/status_matchers.h"

namespace ephost::test {

inline Environment environment() {
  EnvironmentOptions options;
  options.plugin_directories = {EPHOST_PLUGINS};
  options.search_default_directories = false;
  auto created = Environment::create(options);
  EXPECT_THAT(created, IsOk());
  return std::move(created).value();
}

inline std::filesystem::path model_path(std::string_view name) {
  return std::filesystem::path(EPHOST_TINY_MODELS) / name / "model.onnx";
}

inline SessionOptions with_dnnl() {
  SessionOptions options;
  options.append_execution_provider("dnnl");
  return options;
}

inline std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// Seeded values for all inputs; open extents become `open_extent`.
inline std::vector<NamedValue> random_inputs(const Session& session, int64_t open_extent = 2) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<NamedValue> inputs;
  for (const ValueDescription& wanted : session.inputs()) {
    std::vector<int64_t> shape = wanted.shape;
    for (int64_t& extent : shape) extent = extent < 0 ? open_extent : extent;
    Value value = *Value::allocate(wanted.element_type, shape);
    for (float& element : value.mutable_elements<float>()) element = distribution(engine);
    inputs.push_back({wanted.name, std::move(value)});
  }
  return inputs;
}

inline Result<std::vector<Value>> run_model(const std::filesystem::path& model,
                                            const SessionOptions& options) {
  EPHOST_ASSIGN_OR_RETURN(Session session, Session::create(environment(), model, options));
  return session.run(random_inputs(session));
}

// The tolerance between providers: rtol 1e-3, atol 1e-4.
inline void expect_close(const std::vector<Value>& actual, const std::vector<Value>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const std::span<const float> a = actual[i].elements<float>();
    const std::span<const float> b = expected[i].elements<float>();
    ASSERT_THAT(actual[i].shape(), ::testing::ElementsAreArray(expected[i].shape()));
    for (size_t k = 0; k < a.size(); ++k) {
      ASSERT_NEAR(a[k], b[k], 1e-4F + 1e-3F * std::abs(b[k]))
          << "output " << i << ", element " << k;
    }
  }
}

}  // namespace ephost::test
