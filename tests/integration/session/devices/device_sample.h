// Sessions with the provider that has its own memories (tests/fixtures/device). An access by the
// host crashes; a kernel that gets a host address fails.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <ostream>
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
  options.plugin_directories = {fixture_directory("device"), fixture_directory("streams"),
                                fixture_directory("more_streams"), fixture_directory("timed"),
                                EPHOST_PLUGINS};
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
  uint64_t early_releases = 0;
  uint64_t captures = 0;
  uint64_t pinned_copies = 0;
  uint64_t abandoned = 0;
};

struct DeviceKind {
  std::string name = "Synchronous";
  std::string provider = "device";
  OptionList options = {};

  friend std::ostream& operator<<(std::ostream& out, const DeviceKind& kind) {
    return out << kind.name;
  }
};

inline std::vector<DeviceKind> stream_kinds() {
  return {{"Streams", "streams", {}},
          {"ManyStreams", "streams", {{"compute_streams", "3"}, {"seed", "7"}}},
          {"Captured", "streams", {{"compute_streams", "2"}, {"capture", "1"}}},
          {"Threads", "streams", {{"compute_streams", "2"}, {"threads", "1"}}}};
}
inline std::vector<DeviceKind> device_kinds() {
  std::vector<DeviceKind> kinds = stream_kinds();
  kinds.insert(kinds.begin(), DeviceKind());
  return kinds;
}
inline std::string name_of(const ::testing::TestParamInfo<DeviceKind>& info) {
  return info.param.name;
}

class DeviceSession : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path write(graph::Graph graph) {
    return write_model(folder_ / "model.onnx", std::move(graph));
  }
  // Without optimization, so that the nodes are those of the test.
  [[nodiscard]] SessionOptions on_device(OptionList options = {}) const {
    options.push_back({"report", (folder_ / "report").native()});
    options.insert(options.end(), kind_.options.begin(), kind_.options.end());
    SessionOptions session;
    session.append_execution_provider(kind_.provider, std::move(options));
    session.set_graph_optimization_level(GraphOptimizationLevel::kDisableAll);
    return session;
  }
  [[nodiscard]] DeviceReport report() const {
    std::ifstream file(folder_ / "report");
    DeviceReport report;
    file >> report.allocated >> report.live >> report.copies_in >> report.copies_out >>
        report.copies_within >> report.early_releases >> report.captures >> report.pinned_copies >>
        report.abandoned;
    EXPECT_TRUE(file) << "the device was not closed";
    EXPECT_EQ(report.early_releases, 0U) << "blocks that were in use";
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

  DeviceKind kind_;
  test::TempDirectory folder_;
  Environment environment_ = device_environment();
};

// The same tests on devices of each kind.
class DeviceSessions : public DeviceSession, public ::testing::WithParamInterface<DeviceKind> {
 protected:
  DeviceSessions() { kind_ = GetParam(); }
  // The name of a memory in those of copies.
  [[nodiscard]] std::string at(const std::string& memory) const {
    return kind_.provider + ":" + memory;
  }
  [[nodiscard]] MemoryInfo memory(const std::string& name = "dram") const {
    return {.name = kind_.provider + "." + name, .device_type = "npu", .device_id = 0};
  }
  [[nodiscard]] Value on_npu(const std::vector<float>& elements,
                             const std::string& name = "dram") const {
    const auto shape = {static_cast<int64_t>(elements.size())};
    auto made = Value::of<float>(shape, elements)->copy_to(memory(name));
    EXPECT_THAT(made, IsOk());
    return std::move(made).value();
  }
  static std::vector<float> read(const Value& value) {
    const auto copy = value.copy_to(MemoryInfo::cpu());
    EXPECT_THAT(copy, IsOk());
    return floats_of(*copy);
  }
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

// `count` times -x, one after the other.
inline graph::Graph negations(int count) {
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{4}));
  std::string last = "x";
  for (int i = 0; i < count; ++i) {
    const std::string next = "v" + std::to_string(i);
    builder.node("Neg", {last}, {next});
    last = next;
  }
  builder.output(last);
  return with_type(builder.build(), last, float_type(graph::Shape{4}));
}

inline const std::vector<float> kX = {1, -5, 2, -1};
inline const std::vector<float> kAlternating = {-2, 0, -15, -12};

}  // namespace ephost::test
