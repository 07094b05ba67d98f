// The public API as an application uses it: a model is run over two providers, then compiled to a
// context model, which is loaded and run in turn.
//
//   public_api_example PLUGIN_DIRECTORY MODEL CONTEXT_MODEL
#include <ephost/ephost.h>
#include <ephost/throwing.h>

#include <cmath>
#include <exception>
#include <iostream>
#include <span>
#include <vector>

namespace {

using ephost::value_or_throw;

// The same numbers for the first input every time; the other inputs do not exist in our model.
ephost::Value make_input(const ephost::ValueDescription& description) {
  ephost::Value value =
      value_or_throw(ephost::Value::allocate(ephost::ElementType::kFloat, description.shape));
  float next = 0;
  for (float& element : value.mutable_elements<float>()) element = std::sin(next += 0.1F);
  return value;
}

// Runs by name: everything is checked, and the outputs belong to the caller.
std::vector<ephost::Value> run_once(ephost::Session& session) {
  const ephost::ValueDescription& input = session.inputs().front();
  const std::vector<ephost::NamedValue> inputs = {{input.name, make_input(input)}};
  return value_or_throw(session.run(inputs));
}

// Runs with bound values: for many runs in a row, which then allocate nothing.
std::vector<ephost::Value> run_often(ephost::Session& session, int times) {
  const ephost::ValueDescription& input = session.inputs().front();
  ephost::IoBinding binding = value_or_throw(session.create_binding());
  ephost::throw_if_error(binding.bind_input(input.name, make_input(input)));
  for (int i = 0; i < times; ++i) ephost::throw_if_error(session.run(binding));
  return binding.outputs();
}

bool agree(const ephost::Value& a, const ephost::Value& b) {
  const std::span<const float> left = a.elements<float>();
  const std::span<const float> right = b.elements<float>();
  if (left.empty() || left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (std::abs(left[i] - right[i]) > 1e-4F + 1e-3F * std::abs(right[i])) return false;
  }
  return true;
}

int run(std::span<char*> arguments) {
  ephost::EnvironmentOptions environment_options;
  environment_options.plugin_directories = {arguments[1]};
  const auto environment = value_or_throw(ephost::Environment::create(environment_options));
  for (const ephost::InstalledPlugin& plugin : environment.plugins()) {
    std::cout << plugin.provider << " " << plugin.version << "\n";
  }

  ephost::SessionOptions options;
  options.append_execution_provider("dnnl");  // the CPU provider comes last by itself
  auto session = value_or_throw(ephost::Session::create(environment, arguments[2], options));
  const std::vector<ephost::Value> expected = run_once(session);
  bool same = agree(run_often(session, 10).front(), expected.front());

  ephost::ModelCompilationOptions compilation;
  compilation.input_model_path = arguments[2];
  compilation.output_model_path = arguments[3];
  const ephost::CompileReport report =
      value_or_throw(ephost::compile_model(environment, options, compilation));
  std::cout << report.partitions.size() << " partitions, " << report.files.size() << " files\n";
  auto cached = value_or_throw(ephost::Session::create(environment, report.output_path, options));
  same = same && agree(run_once(cached).front(), expected.front());

  std::cout << (same ? "all runs agree\n" : "the runs differ\n");
  return same ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: public_api_example PLUGIN_DIRECTORY MODEL CONTEXT_MODEL\n";
    return 2;
  }
  try {
    return run(std::span(argv, static_cast<size_t>(argc)));
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
