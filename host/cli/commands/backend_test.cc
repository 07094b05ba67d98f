#include "host/cli/commands/backend_test.h"

#include <ephost/session.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "host/base/files/directory.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/values/inputs.h"
#include "host/cli/values/value_file.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModelFile = "model.onnx";

// Adds the folders below `folder`, and that itself, which hold a model. Links are not followed.
std::error_code find_models(const fs::path& folder, std::vector<fs::path>& found) {
  std::error_code failure;
  for (const std::string& name : list_directory(folder, failure)) {
    const fs::path path = folder / name;
    std::error_code ignored;
    if (name == kModelFile) found.push_back(folder);
    if (fs::symlink_status(path, ignored).type() != fs::file_type::directory) continue;
    if (const std::error_code inner = find_models(path, found)) return inner;
  }
  return failure;
}

Status search(const fs::path& root, std::vector<BackendTest>& tests) {
  std::error_code failure;
  if (!fs::is_directory(root, failure)) {
    return Status(StatusCode::kNoSuchFile,
                  formatted("{} is not a folder; give one that holds ONNX backend tests",
                            quote(root.native())));
  }
  std::vector<fs::path> folders;
  failure = find_models(root, folders);
  if (failure) {
    return Status(StatusCode::kFail, formatted("cannot read the folder {}: {}",
                                               quote(root.native()), failure.message()));
  }
  if (folders.empty()) {
    return Status(StatusCode::kNoSuchFile,
                  formatted("no folder below {} has a {}", quote(root.native()), kModelFile));
  }
  std::vector<BackendTest> found;
  for (const fs::path& folder : folders) {
    const fs::path relative = folder.lexically_relative(root);
    const fs::path name = relative == "." ? fs::weakly_canonical(root).filename() : relative;
    found.push_back({name.generic_string(), folder});
  }
  std::ranges::sort(found, {}, &BackendTest::name);
  std::ranges::move(found, std::back_inserter(tests));
  return Status::ok_status();
}

// The folders test_data_set_0, test_data_set_1, ... up to the first that is missing.
std::vector<fs::path> data_sets(const fs::path& folder) {
  std::vector<fs::path> sets;
  std::error_code ignored;
  for (size_t i = 0;; ++i) {
    fs::path set = folder / formatted("test_data_set_{}", i);
    if (!fs::is_directory(set, ignored)) return sets;
    sets.push_back(std::move(set));
  }
}

ValueForm form_of(const ValueDescription& description) {
  return {description.kind, description.is_optional, description.element_type};
}

// A file does not say what kind of value it holds; the input or output at its position does.
Result<std::vector<NamedValue>> read_all(const fs::path& set, const std::string& prefix,
                                         std::span<const ValueDescription> descriptions) {
  std::vector<NamedValue> values;
  std::error_code ignored;
  for (size_t i = 0;; ++i) {
    const fs::path file = set / formatted("{}{}.pb", prefix, i);
    if (!fs::exists(file, ignored)) return values;
    const ValueForm form = i < descriptions.size() ? form_of(descriptions[i]) : ValueForm();
    EPHOST_ASSIGN_OR_RETURN(NamedValue value, read_value(file, std::nullopt, form));
    values.push_back(std::move(value));
  }
}

// The input or output of each value: by the names in the files if all of them are known and
// different, otherwise by position.
Result<std::vector<size_t>> match(const std::vector<NamedValue>& values,
                                  std::span<const ValueDescription> descriptions,
                                  std::string_view what) {
  if (values.size() > descriptions.size()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("there are {} {} files, and the model has {}", values.size(), what,
                            descriptions.size()));
  }
  std::vector<size_t> by_name;
  for (const NamedValue& value : values) {
    const auto found = std::ranges::find(descriptions, value.name, &ValueDescription::name);
    const auto index = static_cast<size_t>(found - descriptions.begin());
    if (found == descriptions.end() || std::ranges::count(by_name, index) != 0) break;
    by_name.push_back(index);
  }
  if (by_name.size() == values.size()) return by_name;
  std::vector<size_t> by_position(values.size());
  for (size_t i = 0; i < values.size(); ++i) by_position[i] = i;
  return by_position;
}

// Before version 1.13 onnx wrote bfloat16 values as uint16 with the same bits.
Result<Value> as_stated(Value value, ElementType stated) {
  if (stated != ElementType::kBfloat16 || value.element_type() != ElementType::kUint16) {
    return value;
  }
  EPHOST_ASSIGN_OR_RETURN(Value typed, Value::allocate(stated, value.shape()));
  std::ranges::copy(value.bytes(), typed.mutable_bytes().begin());
  return typed;
}

NodeCounts count_nodes(const Session& session) {
  NodeCounts counts;
  for (const SessionProvider& provider : session.providers()) {
    if (provider.node_count > 0) counts[provider.name] = provider.node_count;
  }
  if (session.host_node_count() > 0) counts["host"] = session.host_node_count();
  return counts;
}

// `out_nodes` is filled in once the model has run.
Status run_data_set(Session& session, const fs::path& set, const Tolerance& tolerance,
                    NodeCounts& out_nodes) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<NamedValue> given, read_all(set, "input_", session.inputs()));
  EPHOST_ASSIGN_OR_RETURN(const std::vector<NamedValue> expected,
                          read_all(set, "output_", session.outputs()));
  if (expected.empty()) {
    return Status(StatusCode::kNotFound, "there is no output_0.pb to compare with");
  }
  EPHOST_ASSIGN_OR_RETURN(const auto inputs, match(given, session.inputs(), "input"));
  EPHOST_ASSIGN_OR_RETURN(const auto outputs, match(expected, session.outputs(), "output"));
  std::vector<NamedValue> named;
  for (size_t i = 0; i < given.size(); ++i) {
    const ValueDescription& input = session.inputs()[inputs[i]];
    EPHOST_ASSIGN_OR_RETURN(Value value, as_stated(std::move(given[i].value), input.element_type));
    named.push_back({input.name, std::move(value)});
  }
  EPHOST_ASSIGN_OR_RETURN(const std::vector<Value> results, session.run(named));
  out_nodes = count_nodes(session);
  for (size_t i = 0; i < expected.size(); ++i) {
    const Value& result = results[outputs[i]];
    EPHOST_ASSIGN_OR_RETURN(const Value wanted,
                            as_stated(expected[i].value, result.element_type()));
    const auto difference = find_difference(result, wanted, tolerance);
    if (!difference) continue;
    return Status(
        StatusCode::kFail,
        formatted("output {}: {}", quote(session.outputs()[outputs[i]].name), *difference));
  }
  return Status::ok_status();
}

}  // namespace

Result<std::vector<BackendTest>> find_backend_tests(std::span<const fs::path> roots) {
  std::vector<BackendTest> tests;
  for (const fs::path& root : roots) EPHOST_RETURN_IF_ERROR(search(root, tests));
  return tests;
}

namespace {

Status run_data_sets(const Environment& environment, const SessionOptions& options,
                     const BackendTest& test, const Tolerance& tolerance, NodeCounts& out_nodes) {
  const std::vector<fs::path> sets = data_sets(test.folder);
  if (sets.empty()) return Status(StatusCode::kNotFound, "there is no test_data_set_0");
  EPHOST_ASSIGN_OR_RETURN(Session session,
                          Session::create(environment, test.folder / kModelFile, options));
  for (const fs::path& set : sets) {
    Status status = run_data_set(session, set, tolerance, out_nodes);
    if (!status.ok()) return std::move(status).with_context("in " + set.filename().string());
  }
  return Status::ok_status();
}

}  // namespace

BackendTestRun run_backend_test(const Environment& environment, const SessionOptions& options,
                                const BackendTest& test, const Tolerance& tolerance) {
  BackendTestRun run;
  run.status = run_data_sets(environment, options, test, tolerance, run.nodes);
  return run;
}

std::string to_text(const NodeCounts& nodes) {
  std::vector<std::string> parts;
  for (const auto& [provider, count] : nodes) parts.push_back(formatted("{} {}", provider, count));
  return parts.empty() ? "none" : join(parts, ", ");
}

Status check_all_run_on(const NodeCounts& nodes, std::span<const std::string> providers) {
  NodeCounts others;
  for (const auto& [provider, count] : nodes) {
    if (std::ranges::find(providers, provider) == providers.end()) others[provider] = count;
  }
  if (others.empty()) return Status::ok_status();
  return Status(StatusCode::kFail, formatted("not every node runs on {}; others run on: {}",
                                             join(providers, " or "), to_text(others)));
}

}  // namespace ephost::cli
