// A model and a session's options for tests with the scripted provider (tests/fixtures/scripted).
//
//   x --Add(w0)--> a --Relu--> b --Abs--> c --Mul(w1)--> d --Neg--> y
// The scripted provider claims all nodes except Abs: partitions {Add, Relu} and {Mul, Neg}.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/log.h"
#include "host/onnx_io/export/export.h"
#include "host/onnx_io/import/import.h"
#include "tests/fixtures/fixtures.h"
#include "tests/integration/session/sample.h"
#include "tests/support/host_api.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::test {

inline Environment scripted_environment(const std::filesystem::path& plugins) {
  EnvironmentOptions options;
  options.plugin_directories = {plugins, EPHOST_PLUGINS};
  options.search_default_directories = false;
  auto created = Environment::create(options);
  EXPECT_THAT(created, IsOk());
  return std::move(created).value();
}
inline Environment scripted_environment() {
  return scripted_environment(fixture_directory("scripted"));
}

inline SessionOptions scripted(OptionList options = {}) {
  SessionOptions session;
  session.append_execution_provider("scripted", std::move(options));
  return session;
}
// With a second scripted provider after it.
inline SessionOptions both_scripted(OptionList first, OptionList second = {}) {
  SessionOptions session = scripted(std::move(first));
  session.append_execution_provider("scripted_two", std::move(second));
  return session;
}

inline graph::ValueType row_type(int64_t width) {
  return graph::testing::tensor_type(ElementType::kFloat, graph::Shape{width});
}

inline graph::Tensor row(int64_t width, float value) {
  return graph::testing::float_tensor(std::vector<float>(static_cast<size_t>(width), value));
}

inline graph::Model model_of(graph::Graph graph) {
  graph.name = "sample";
  return {.graph = std::move(graph), .ir_version = 8, .opset_imports = {{"", 13}}};
}

inline graph::Model scripted_model(int64_t width = 4) {
  return model_of(graph::testing::GraphBuilder()
                      .input("x", row_type(width))
                      .constant("w0", row(width, 0.5F))
                      .constant("w1", row(width, 3))
                      .node("Add", {"x", "w0"}, {"a"})
                      .node("Relu", {"a"}, {"b"})
                      .node("Abs", {"b"}, {"c"})
                      .node("Mul", {"c", "w1"}, {"d"})
                      .node("Neg", {"d"}, {"y"})
                      .output("y")
                      .build());
}

inline std::filesystem::path save(const TempDirectory& folder, const graph::Model& model,
                                  std::string_view name = "model.onnx",
                                  const std::string& weights = "") {
  std::filesystem::path path = folder / name;
  const auto exported = onnx_io::export_model(model, {.external_file_name = weights});
  EXPECT_THAT(exported, IsOk());
  if (exported.ok()) {
    EXPECT_THAT(exported->write(path), IsOk());
  }
  return path;
}

inline Result<std::vector<Value>> run(Session& session) {
  return session.run(random_inputs(session));
}

// The outputs of the model on the CPU provider alone.
inline std::vector<Value> expected_outputs(const std::filesystem::path& model) {
  auto session = Session::create(scripted_environment(), model);
  EXPECT_THAT(session, IsOk());
  return std::move(run(*session)).value();
}

// Whether the model can be loaded and gives these outputs.
inline void expect_runs(Result<Session> session, const std::vector<Value>& expected) {
  ASSERT_THAT(session, IsOk());
  const auto outputs = run(*session);
  ASSERT_THAT(outputs, IsOk());
  expect_close(*outputs, expected);
}

inline graph::Model import_file(const std::filesystem::path& model) {
  auto imported = onnx_io::import_model(model);
  EXPECT_THAT(imported, IsOk());
  return std::move(imported).value();
}

inline std::vector<const graph::Node*> ep_context_nodes(const graph::Model& model) {
  std::vector<const graph::Node*> nodes;
  for (const graph::Node& node : model.graph.nodes) {
    if (node.op_type == "EPContext") nodes.push_back(&node);
  }
  return nodes;
}

inline ModelBytes model_bytes(const std::string& text) {
  return {std::as_bytes(std::span(text.data(), text.size()))};
}

inline std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().native());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Collects what is logged while it exists, by any thread.
class LogCapture {
 public:
  LogCapture() {
    set_log_sink([this](LoggingLevel, std::string_view message) {
      const std::lock_guard lock(mutex_);
      text_ += message;
      text_ += '\n';
    });
  }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  ~LogCapture() { set_log_sink({}); }

  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace ephost::test
