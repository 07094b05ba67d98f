// The life of a plugin in a host, in steps that call every function of the ABI between them; with
// the plugin of tests/fixtures/faulty, which runs in a worker.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "host/session/tools/partition_model.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/integration/session/shapes/open_sample.h"

namespace ephost::test {

class PluginLife {
 public:
  using Failures = std::vector<Status>;
  using Step = Failures (PluginLife::*)(const OptionList& entries);

  // The steps, each of which leaves nothing behind. `entries` go into the options of the session.
  static constexpr size_t kSteps = 8;

  PluginLife() {
    save(folder_, scripted_model(), "model.onnx");
    save(folder_, open_model(), "open.onnx");
    graph::Model defined = model_of(graph::testing::GraphBuilder()
                                        .input("x", row_type(4))
                                        .node("Op", {"x"}, {"y"})
                                        .output("y")
                                        .build());
    defined.graph.nodes[0].domain = "com.faulty";
    defined.opset_imports["com.faulty"] = 1;
    save(folder_, defined, "defined.onnx");
    compile_to("context.onnx", "", {});
  }

  Failures take(size_t step, const OptionList& entries) {
    static constexpr std::array<Step, kSteps> kAll = {
        &PluginLife::run_kernels,        &PluginLife::run_fused,       &PluginLife::compile,
        &PluginLife::compile_for_target, &PluginLife::run_context,     &PluginLife::share_context,
        &PluginLife::specialize,         &PluginLife::define_operators};
    return (this->*kAll[step])(entries);
  }

  [[nodiscard]] const Environment& environment() const { return environment_; }
  [[nodiscard]] std::filesystem::path file(const char* name) const { return folder_ / name; }

 private:
  static SessionOptions options(const char* claim, const OptionList& entries) {
    SessionOptions made = scripted({{"claim", claim}, {"keep_state", "true"}});
    made.add_config_entry("session.isolation.scripted", "worker");
    for (const auto& [key, value] : entries) made.add_config_entry(key, value);
    return made;
  }
  static void note(const Status& status, Failures& failures) {
    if (!status.ok()) failures.push_back(status);
  }

  Failures run(const char* model, SessionOptions options) {
    Failures failures;
    options.enable_profiling(file("trace.json"));
    auto session = Session::create(environment_, file(model), options);
    note(session.status(), failures);
    if (!session.ok()) return failures;
    note(test::run(*session).status(), failures);
    note(session->set_ep_dynamic_options({{"ep.scripted.offset", "0"}}), failures);
    note(session->end_profiling().status(), failures);
    return failures;
  }
  Failures create(const Environment& environment, const char* model,
                  const SessionOptions& options) {
    Failures failures;
    note(Session::create(environment, file(model), options).status(), failures);
    return failures;
  }

  Failures run_kernels(const OptionList& entries) {
    return run("model.onnx", options("kernels:Add,Mul", entries));
  }
  Failures run_fused(const OptionList& entries) {
    return run("model.onnx", options("fuse:*", entries));
  }
  Failures compile_to(const char* name, const char* target, const OptionList& entries) {
    ModelCompilationOptions compilation;
    compilation.input_model_path = file("model.onnx");
    compilation.output_model_path = file(name);
    compilation.target = target;
    compilation.force_overwrite = true;
    Failures failures;
    note(compile_model(environment_, options("fuse:*", entries), compilation).status(), failures);
    return failures;
  }
  Failures compile(const OptionList& entries) { return compile_to("compiled.onnx", "", entries); }
  Failures compile_for_target(const OptionList& entries) {
    return compile_to("compiled.onnx", "x1", entries);
  }
  Failures run_context(const OptionList& entries) {
    return run("context.onnx", options("fuse:*", entries));
  }
  // A group that a session has failed to join lasts as long as the environment.
  Failures share_context(const OptionList& entries) {
    SessionOptions shared = options("fuse:*", entries);
    shared.add_config_entry("ep.share_ep_contexts", "1");
    shared.add_config_entry("ep.stop_share_ep_contexts", "1");
    return create(scripted_environment(fixture_directory("faulty")), "context.onnx", shared);
  }
  // A model with open extents, for which the session has a profile.
  Failures specialize(const OptionList& entries) {
    SessionOptions profiled = fixed("*", {{"profiles", "batch=2,seq=3"}}, {{"claim", "fuse:*"}});
    profiled.add_config_entry("session.isolation.scripted", "worker");
    for (const auto& [key, value] : entries) profiled.add_config_entry(key, value);
    return create(environment_, "open.onnx", profiled);
  }
  // A node of an operator that the plugin defines, and that no provider takes.
  Failures define_operators(const OptionList& entries) {
    Failures failures;
    note(partition_model(environment_, file("defined.onnx"), options("fuse:*", entries)).status(),
         failures);
    return failures;
  }

  TempDirectory folder_;
  Environment environment_ = scripted_environment(fixture_directory("faulty"));
};

}  // namespace ephost::test
