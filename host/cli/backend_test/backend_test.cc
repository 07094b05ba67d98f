#include "host/cli/backend_test/backend_test.h"

#include <ephost/session.h>

#include <algorithm>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/values/inputs.h"
#include "host/cli/values/value_file.h"

namespace ephost::cli {
namespace {

std::vector<std::string> names_of(const std::vector<NamedValue>& values) {
  std::vector<std::string> names;
  for (const NamedValue& value : values) names.push_back(value.name);
  return names;
}

Result<std::vector<NamedValue>> read_values(const std::filesystem::path& set,
                                            std::string_view prefix,
                                            std::span<const ValueDescription> descriptions) {
  return read_data<NamedValue>(set, prefix, descriptions,
                               [](const std::filesystem::path& file, const ValueForm& form) {
                                 return read_value(file, std::nullopt, form);
                               });
}

// The nodes that each provider ran: those of a specialisation that has served a run, if there is
// one.
void note_nodes(const Session& session, BackendTestRun& run) {
  std::vector<SessionProvider> providers = session.providers();
  for (const Specialization& one : session.specializations()) {
    if (one.runs > 0) providers = one.providers;
  }
  run.nodes.clear();
  run.want_shapes.clear();
  for (const SessionProvider& provider : providers) {
    if (provider.node_count > 0) {
      run.nodes[provider.name] = provider.node_count;
    } else if (provider.wished_node_count > 0) {
      run.want_shapes.insert(provider.name);
    }
  }
  if (session.host_node_count() > 0) run.nodes["host"] = session.host_node_count();
}

// Notes the providers of the nodes once the model has run.
Status run_data_set(Session& session, const std::filesystem::path& set,
                    const BackendTestOptions& how, BackendTestRun& out_run) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<NamedValue> given,
                          read_values(set, "input_", session.inputs()));
  EPHOST_ASSIGN_OR_RETURN(const std::vector<NamedValue> expected,
                          read_values(set, "output_", session.outputs()));
  if (expected.empty()) {
    return Status(StatusCode::kNotFound, "there is no output_0.pb to compare with");
  }
  EPHOST_ASSIGN_OR_RETURN(const auto inputs,
                          match_data(names_of(given), session.inputs(), "input"));
  EPHOST_ASSIGN_OR_RETURN(const auto outputs,
                          match_data(names_of(expected), session.outputs(), "output"));
  std::vector<NamedValue> named;
  for (size_t i = 0; i < given.size(); ++i) {
    const ValueDescription& input = session.inputs()[inputs[i]];
    EPHOST_ASSIGN_OR_RETURN(Value value, as_stated(std::move(given[i].value), input.element_type));
    named.push_back({input.name, std::move(value)});
  }
  RunOptions run;
  run.cancelled = how.cancelled;
  EPHOST_ASSIGN_OR_RETURN(const std::vector<Value> results, session.run(named, {}, run));
  note_nodes(session, out_run);
  for (size_t i = 0; i < expected.size(); ++i) {
    const Value& result = results[outputs[i]];
    EPHOST_ASSIGN_OR_RETURN(const Value wanted,
                            as_stated(expected[i].value, result.element_type()));
    const auto difference = find_difference(result, wanted, how.tolerance);
    if (!difference) continue;
    return Status(
        StatusCode::kFail,
        formatted("output {}: {}", quote(session.outputs()[outputs[i]].name), *difference));
  }
  return Status::ok_status();
}

Status run_data_sets(const Environment& environment, const SessionOptions& options,
                     const BackendTest& test, const BackendTestOptions& how,
                     BackendTestRun& out_run) {
  const std::vector<std::filesystem::path> sets = data_sets(test.folder);
  if (sets.empty()) return Status(StatusCode::kNotFound, "there is no test_data_set_0");
  EPHOST_ASSIGN_OR_RETURN(Session session, Session::create(environment, test.model(), options));
  for (const std::filesystem::path& set : sets) {
    Status status = run_data_set(session, set, how, out_run);
    if (!status.ok()) return std::move(status).with_context("in " + set.filename().string());
  }
  out_run.session = std::move(session);
  return Status::ok_status();
}

}  // namespace

BackendTestRun run_backend_test(const Environment& environment, const SessionOptions& options,
                                const BackendTest& test, const BackendTestOptions& how) {
  BackendTestRun run;
  run.status = run_data_sets(environment, options, test, how, run);
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
