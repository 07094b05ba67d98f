// Sessions that share contexts (ephost.shared_contexts/1).
#include <algorithm>
#include <fstream>
#include <optional>
#include <utility>

#include "host/base/format.h"
#include "host/conformance/claims/asked.h"
#include "host/conformance/contexts/compiled.h"
#include "host/conformance/contexts/context_checks.h"
#include "host/conformance/sessions/bench.h"
#include "host/conformance/sessions/results.h"
#include "host/conformance/sessions/samples.h"

namespace ephost::conformance {
namespace {

using std::chrono::milliseconds;

SessionOptions sharing(const Bench& bench, bool writes, bool is_last) {
  SessionOptions options = bench.options();
  options.add_config_entry("ep.share_ep_contexts", "1");
  if (writes) options.add_config_entry("ep.context_enable", "1");
  if (is_last) options.add_config_entry("ep.stop_share_ep_contexts", "1");
  return options;
}

bool offers_sharing(const Bench& bench, const Sample& sample) {
  const Result<Asked> asked = ask(bench, sample.model, bench.options());
  return asked.ok() && std::ranges::any_of(asked->prepared.providers, [&](const auto& provider) {
           return provider->short_name() == bench.plugin().name && provider->can_share_contexts();
         });
}

std::filesystem::path model_path(const Subject& subject, size_t i, std::string_view suffix) {
  return subject.scratch / formatted("group{}{}.onnx", i, suffix);
}

// Compiles all of them as one group.
Status compile_group(const Bench& bench, const std::vector<CompiledSample>& members) {
  for (size_t i = 0; i < members.size(); ++i) {
    const std::filesystem::path path = model_path(bench.subject(), i, "");
    std::ofstream(path, std::ios::binary) << members[i].sample.model;
    const SessionOptions options = sharing(bench, true, i + 1 == members.size());
    EPHOST_RETURN_IF_ERROR(Session::create(bench.environment(), path, options).status());
  }
  return Status::ok_status();
}

}  // namespace

void check_shared_groups(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  std::vector<CompiledSample> members =
      need_compiled(*bench, {.count = 3, .time = milliseconds(1000)}, report);
  if (members.empty()) return;
  if (!offers_sharing(*bench, members.front().sample)) {
    return report.leave_out("the provider does not offer ephost.shared_contexts/1");
  }
  members.push_back(members.front());  // whose partitions share everything
  const Status compiled = compile_group(*bench, members);
  if (!compiled.ok()) {
    return report.fail(formatted("a group of sessions cannot be compiled: {}", compiled.message()),
                       "take several calls of compile and write the contexts of all in one call");
  }
  const Result<Bench> other = Bench::open(subject);
  if (!other.ok()) return;
  std::vector<std::optional<Session>> sessions(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    Result<Session> session = Session::create(other->environment(), model_path(subject, i, "_ctx"),
                                              sharing(*other, false, i + 1 == members.size()));
    if (!session.ok()) {
      return report.fail(formatted("{} cannot be loaded in a group: {}", members[i].sample.name,
                                   session.status().message()),
                         "list every partition of a payload in list_partitions");
    }
    sessions[i] = std::move(*session);
  }
  // Sessions end in any order, while the others stay in use.
  for (size_t ended = 0; ended < members.size(); ++ended) {
    for (size_t i = ended; i < members.size(); ++i) {
      const Sample& sample = members[i].sample;
      Result<Session> alone = bench->load(sample.model, bench->options());
      if (!alone.ok()) continue;
      const Result<Values> expected = alone->run(sample.inputs.front());
      const Result<Values> outputs = sessions[i]->run(sample.inputs.front());
      if (!expected.ok()) continue;
      const auto difference =
          outputs.ok() ? find_difference(*outputs, *expected) : outputs.status().message();
      if (!difference) continue;
      report.fail(
          formatted("{} in a group gives another result than alone: {}", sample.name, *difference),
          "tell the models of a group apart, and end nothing that other sessions use");
    }
    sessions[ended].reset();
  }
  report.note("sessions", static_cast<double>(members.size()));
}

}  // namespace ephost::conformance
