// Whether the provider answers at all: it says what it claims, and compiles what it claims. The
// other checks of claims see only models that it has compiled something of.
#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/conformance/claims/asked.h"
#include "host/conformance/claims/claim_checks.h"
#include "host/conformance/sessions/samples.h"
#include "host/conformance/sessions/wide_models.h"

namespace ephost::conformance {
namespace {

using std::chrono::milliseconds;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr const char* kForeignDomain = "com.example.foreign";

// Calls `judge` with models of all kinds until it has found enough or the time is up.
template <class Judge>
void judge_models(const Subject& subject, Report& report, const Judge& judge) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  const Budget budget(bench->by_level(milliseconds(500), milliseconds(10'000)));
  uint64_t tried = 0;
  for (const NamedModel& model : various_models(subject, bench->by_level<size_t>(30, 200))) {
    if (budget.is_spent() || report.findings().size() >= kMostFindings) break;
    judge(*bench, model);
    ++tried;
  }
  report.note("models", static_cast<double>(tried));
}

// The model with all its operators in an unknown domain. As the host cannot infer their types, the
// model declares them: a wide model has one type for all its values.
std::string in_foreign_domain(onnx::ModelProto model) {
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain(kForeignDomain);
  opset.set_version(1);
  onnx::GraphProto& graph = *model.mutable_graph();
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    node.set_domain(kForeignDomain);
    if (node.output(0) == graph.output(0).name()) continue;
    onnx::ValueInfoProto& info = *graph.add_value_info();
    *info.mutable_type() = graph.input(0).type();
    info.set_name(node.output(0));
  }
  return model.SerializeAsString();
}

// The least of several, as other processes may take the processor in any of them. Nothing if the
// provider does not answer, or takes none of the nodes.
std::optional<Milliseconds> time_to_claim(const Bench& bench, WideKind kind, int repeats) {
  const WideShape shape = {.rows = 4, .columns = 16, .repeats = repeats};
  const std::string model = wide_model(kind, shape).SerializeAsString();
  SessionOptions options = bench.options();
  options.set_graph_optimization_level(GraphOptimizationLevel::kDisableAll);
  std::optional<Milliseconds> least;
  for (int i = 0; i < 3; ++i) {
    const Result<Asked> asked = ask(bench, model, options);
    if (!asked.ok() || asked->claims.empty()) return std::nullopt;
    least = least ? std::min(*least, asked->time) : asked->time;
  }
  return least;
}

}  // namespace

void check_time_of_claims(const Subject& subject, Report& report) {
  constexpr int kFew = 40;
  constexpr int kFactor = 16;
  constexpr Milliseconds kNoticeable(100);
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  Milliseconds slowest{};
  uint64_t kinds = 0;
  for (const WideKind kind : kWideKinds) {
    const auto few = time_to_claim(*bench, kind, kFew);
    const auto many = few ? time_to_claim(*bench, kind, kFew * kFactor) : std::nullopt;
    if (!many) continue;
    ++kinds;
    slowest = std::max(slowest, *many);
    // A time that grows with the square of the number is 16 times as long as one that grows with
    // the number.
    if (*many < kNoticeable || *many < 4 * kFactor * *few) continue;
    report.fail(formatted("get_capability takes {:.1f} ms for a model, and {:.1f} ms for one with "
                          "{} times as many nodes",
                          few->count(), many->count(), kFactor),
                "look at each node a bounded number of times: mark what was seen instead of "
                "searching it");
  }
  if (kinds == 0) return report.leave_out("the provider takes no node of the models");
  report.note("slowest answer (ms)", slowest.count());
}

void check_answers(const Subject& subject, Report& report) {
  judge_models(subject, report, [&](const Bench& bench, const NamedModel& model) {
    const Result<Asked> asked = ask(bench, model.bytes, bench.options());
    if (asked.ok() && asked->prepared.without_capability.empty()) return;
    if (!bench.load(model.bytes, Bench::reference()).ok()) return;
    report.fail(formatted("{}: get_capability fails{}{}", model.name, asked.ok() ? "" : ": ",
                          asked.ok() ? "" : asked.status().message()),
                "claim nothing of a graph that the provider does not understand");
  });
}

void check_claims_compile(const Subject& subject, Report& report) {
  judge_models(subject, report, [&](const Bench& bench, const NamedModel& model) {
    const Result<Session> session = bench.load(model.bytes, bench.options());
    if (!session.ok()) return;
    for (const Fallback& fallback : session->fallbacks()) {
      report.fail(formatted("{}: {} nodes are claimed and then fail to compile: {}", model.name,
                            fallback.nodes, fallback.reason.message()),
                  "look at everything that compile needs before a node is claimed");
    }
  });
}

void check_foreign_domain(const Subject& subject, Report& report) {
  const auto bench = need_bench(subject, report);
  if (!bench) return;
  uint64_t models = 0;
  for (const WideKind kind : kWideKinds) {
    const std::string model = in_foreign_domain(wide_model(kind, {.rows = 8, .columns = 32}));
    const Result<Asked> asked = ask(*bench, model, bench->options());
    if (!asked.ok()) continue;
    ++models;
    for (const partition::Claim& claim : asked->claims) {
      if (claim.nodes.empty()) continue;
      const graph::Node& node = asked->prepared.model.graph.nodes[claim.nodes.front()];
      report.fail(
          formatted("an operator {} of the domain {} is claimed", node.op_type, kForeignDomain),
          "compare domain and since_version as well as the operator's name");
      break;
    }
  }
  report.note("models", static_cast<double>(models));
}

}  // namespace ephost::conformance
