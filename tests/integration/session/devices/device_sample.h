// Sessions with the provider that has its own memories (tests/fixtures/device). An access by the
// host crashes; a kernel that gets a host address fails.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/fixtures/fixtures.h"
#include "tests/integration/session/flow_models.h"
#include "tests/integration/session/sample.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::test {

using Inputs = std::vector<NamedValue>;

inline Environment device_environment() {
  EnvironmentOptions options;
  options.plugin_directories = {fixture_directory("device"), EPHOST_PLUGINS};
  options.search_default_directories = false;
  return *Environment::create(options);
}

// What the device had counted when it was closed.
struct DeviceReport {
  uint64_t allocated = 0;
  uint64_t live = 0;
  uint64_t copies_in = 0;
  uint64_t copies_out = 0;
  uint64_t copies_within = 0;
};

class DeviceSession : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path write(graph::Graph graph) {
    return write_model(folder_ / "model.onnx", std::move(graph));
  }
  // Without optimization, so that the nodes are those of the test.
  [[nodiscard]] SessionOptions on_device(OptionList options = {}) const {
    options.push_back({"report", (folder_ / "report").native()});
    SessionOptions session;
    session.append_execution_provider("device", std::move(options));
    session.set_graph_optimization_level(GraphOptimizationLevel::kDisableAll);
    return session;
  }
  [[nodiscard]] DeviceReport report() const {
    std::ifstream file(folder_ / "report");
    DeviceReport report;
    file >> report.allocated >> report.live >> report.copies_in >> report.copies_out >>
        report.copies_within;
    EXPECT_TRUE(file) << "the device was not closed";
    EXPECT_EQ(report.live, 0U) << "blocks that were not released";
    return report;
  }
  Result<Session> create(const std::filesystem::path& model, const SessionOptions& options) {
    return Session::create(environment_, model, options);
  }
  // Output 0 of a model with one input x.
  std::vector<float> run(Session& session, const std::vector<float>& x) {
    const auto outputs =
        session.run(Inputs{named_floats("x", {static_cast<int64_t>(x.size())}, x)});
    EXPECT_THAT(outputs, IsOk());
    return outputs.ok() ? floats_of(outputs->front()) : std::vector<float>();
  }

  test::TempDirectory folder_;
  Environment environment_ = device_environment();
};

inline graph::Tensor constant(const std::vector<float>& elements) {
  return graph::testing::float_tensor(elements);
}

// y = Neg(Relu(x + w) * w), Relu of which the CPU computes.
inline graph::Graph alternating() {
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{4})).constant("w", constant({1, 2, 3, 4}));
  builder.node("Add", {"x", "w"}, {"a"}).node("Relu", {"a"}, {"b"});
  builder.node("Mul", {"b", "w"}, {"c"}).node("Neg", {"c"}, {"y"}).output("y");
  graph::Graph graph = with_type(builder.build(), "y", float_type(graph::Shape{4}));
  const std::array<const char*, 4> names = {"add", "relu", "mul", "neg"};
  for (size_t i = 0; i < names.size(); ++i) graph.nodes[i].name = names[i];
  return graph;
}
inline const std::vector<float> kX = {1, -5, 2, -1};
inline const std::vector<float> kAlternating = {-2, 0, -15, -12};

}  // namespace ephost::test
