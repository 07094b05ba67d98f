// `ephost partition MODEL`: which provider takes which node, and why.
#include <ephost/partition_model.h>

#include <memory>

#include "host/base/format.h"
#include "host/cli/commands/model_report.h"
#include "host/cli/report/output.h"
#include "host/cli/report/partitioning/partitioning.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"

namespace ephost::cli {
namespace {

struct PartitionFlags : ModelReportFlags {
  bool explain = false;
  bool compile = false;
};

Json providers_json(const GraphPartitioning& graph) {
  Json providers = Json::array();
  for (const PartitioningSummary& provider : graph.providers) {
    providers.push_back({{"name", provider.provider},
                         {"kernel_nodes", provider.kernel_nodes},
                         {"fused_nodes", provider.fused_nodes},
                         {"partitions", provider.partitions},
                         {"refused_claims", provider.refused_claims}});
  }
  return providers;
}

Json partitions_json(const GraphPartitioning& graph) {
  Json partitions = Json::array();
  for (const PartitionReport& partition : graph.partitions) {
    partitions.push_back({{"name", partition.name},
                          {"provider", partition.provider},
                          {"nodes", partition.nodes},
                          {"inputs", partition.inputs},
                          {"outputs", partition.outputs}});
  }
  return partitions;
}

Json nodes_json(const GraphPartitioning& graph) {
  Json nodes = Json::array();
  for (const PartitionedNode& node : graph.nodes) {
    nodes.push_back({{"id", node.id},
                     {"name", node.name},
                     {"op", node.op},
                     {"since_version", node.since_version},
                     {"provider", node.provider.empty() ? Json() : Json(node.provider)},
                     {"partition", node.partition.empty() ? Json() : Json(node.partition)}});
  }
  return nodes;
}

Json declines_json(const GraphPartitioning& graph) {
  Json declines = Json::array();
  for (const DeclinedNode& declined : graph.declined_nodes) {
    declines.push_back(
        {{"provider", declined.provider}, {"node", declined.node}, {"reason", declined.reason}});
  }
  return declines;
}

Json refusals_json(const GraphPartitioning& graph) {
  Json refusals = Json::array();
  for (const RefusedClaim& refusal : graph.refused_claims) {
    refusals.push_back({{"provider", refusal.provider},
                        {"nodes", refusal.nodes},
                        {"fused", refusal.fused},
                        {"reason", refusal.reason}});
  }
  return refusals;
}

Json partitioning_json(const GraphPartitioning& graph, const PartitionFlags& flags) {
  Json json = {{"providers", providers_json(graph)},
               {"unassigned_nodes", graph.unassigned_nodes},
               {"nodes", nodes_json(graph)},
               {"partitions", partitions_json(graph)}};
  if (!flags.explain) return json;
  json.set("refused_claims", refusals_json(graph));
  json.set("declines", declines_json(graph));
  return json;
}

Json inlined_json(const ModelPartitioning& model) {
  Json inlined = Json::array();
  for (const InlinedFunction& call : model.inlined) {
    inlined.push_back(
        {{"path", call.path}, {"call", call.call}, {"domain", call.domain}, {"nodes", call.nodes}});
  }
  return inlined;
}

Json plugin_operators_json(const ModelPartitioning& model) {
  Json operators = Json::array();
  for (const PluginOperator& one : model.plugin_operators) {
    operators.push_back({{"op", one.op_type},
                         {"domain", one.domain},
                         {"since_version", one.since_version},
                         {"defined_by", one.provider},
                         {"nodes", one.nodes}});
  }
  return operators;
}

std::string operators_text(const ModelPartitioning& model) {
  std::string text;
  for (const PluginOperator& one : model.plugin_operators) {
    text += formatted("defined: {}.{}, version {}, by {}, for {}\n", printable_line(one.domain),
                      printable_line(one.op_type), one.since_version, one.provider,
                      counted(one.nodes, "node"));
  }
  return text;
}

std::string inlined_text(const ModelPartitioning& model) {
  std::string text;
  for (const InlinedFunction& call : model.inlined) {
    text += formatted(
        "inlined: {}{}, a function of domain {} that no provider takes as it is, into {}\n",
        call.path.empty() ? "" : printable(call.path) + ", ", call.call,
        printable(call.domain.empty() ? "ai.onnx" : call.domain), counted(call.nodes, "node"));
  }
  return text;
}

Json to_json(const ModelPartitioning& model, const PartitionFlags& flags) {
  Json json = with_graphs(
      {{"model", flags.model.native()},
       {"graph", model.graphs.front().name},
       {"is_context_model", model.is_context_model},
       {"folded_nodes", model.folded_nodes},
       {"removed_identities", model.removed_identities}},
      model.graphs,
      [](const GraphPartitioning& body) {
        return Json({{"path", body.path}, {"graph", body.name}});
      },
      [&](const GraphPartitioning& graph) { return partitioning_json(graph, flags); });
  if (flags.explain) {
    json.set("inlined", inlined_json(model));
    json.set("plugin_operators", plugin_operators_json(model));
    json.set("notes", model.notes);
  }
  return json;
}

std::string partitions_table(const GraphPartitioning& graph) {
  Table table({{"partition"},
               {"provider"},
               {"nodes", Align::kRight},
               {"inputs", Align::kRight},
               {"outputs", Align::kRight}});
  for (const PartitionReport& partition : graph.partitions) {
    table.add_row({partition.name, partition.provider, std::to_string(partition.nodes.size()),
                   std::to_string(partition.inputs.size()),
                   std::to_string(partition.outputs.size())});
  }
  return table.empty() ? "" : "\n" + table.to_text();
}

std::string summary_text(const GraphPartitioning& graph) {
  Table table({{"provider"},
               {"nodes by kernel", Align::kRight},
               {"nodes fused", Align::kRight},
               {"partitions", Align::kRight},
               {"claims refused", Align::kRight}});
  for (const PartitioningSummary& provider : graph.providers) {
    table.add_row({provider.provider, std::to_string(provider.kernel_nodes),
                   std::to_string(provider.fused_nodes), std::to_string(provider.partitions),
                   std::to_string(provider.refused_claims)});
  }
  std::string text = table.to_text() + partitions_table(graph);
  if (graph.unassigned_nodes > 0) {
    text += formatted("\n{} taken by no provider\n", counted(graph.unassigned_nodes, "node"));
  }
  return text;
}

std::string partitioning_text(const ModelPartitioning& model, bool explain) {
  std::string text;
  for (const GraphPartitioning& graph : model.graphs) {
    if (!graph.path.empty()) text += formatted("\nbody {}\n", printable(graph.path));
    text += explain ? explanation_text(graph) : summary_text(graph);
  }
  if (!explain) return text;
  text += operators_text(model) + inlined_text(model);
  for (const std::string& note : model.notes) text += formatted("note: {}\n", printable(note));
  return text;
}

std::string render(const ModelPartitioning& model, const PartitionFlags& flags) {
  const std::string& format = flags.report.format;
  if (format == "html") return partitioning_page(model.graphs);
  if (format == "json") return to_text(to_json(model, flags));
  if (format == "table") return partitioning_text(model, flags.explain);
  std::string text;
  for (const GraphPartitioning& graph : model.graphs) text += to_dot(graph);
  return text;
}

Result<int> run(const PartitionFlags& flags) {
  apply(flags.report);
  const PartitionStage stage =
      flags.compile ? PartitionStage::kCompilation : PartitionStage::kClaims;
  const auto partitioned = report_on_model(
      flags, "partitioning", [](SessionOptions&) {},
      [&](const Environment& environment, const SessionOptions& options) {
        return partition_model(environment, flags.model, options, stage);
      });
  EPHOST_RETURN_IF_ERROR(partitioned.status());
  EPHOST_RETURN_IF_ERROR(write_text(flags.output, render(*partitioned, flags)));
  EPHOST_RETURN_IF_ERROR(partitioned->coverage);
  return kExitSuccess;
}

}  // namespace

Command add_partition(ArgumentParser& root) {
  auto flags = std::make_shared<PartitionFlags>();
  ArgumentParser app =
      root.add_subcommand("partition", "Show which provider takes which node, and why");
  add_model_flags(app, *flags).required();
  app.add_flag("--explain", flags->explain,
               "List each node and each refused claim with its reason");
  app.add_flag("--compile", flags->compile,
               "Compile too, and show where the nodes go that a provider fails to compile or load");
  add_session_flags(app, flags->session);
  add_report_flags(app, flags->report, {"table", "json", "dot", "html"});
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
