// `ephost partition MODEL`: who takes which node, and why.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "host/cli/activity.h"
#include "host/cli/command.h"
#include "host/cli/flags.h"
#include "host/cli/output.h"
#include "host/cli/table.h"
#include "host/partition/explain.h"
#include "host/session/pipeline.h"

namespace ephost::cli {
namespace {

struct Flags {
  SessionFlags session;
  ReportFlags report;
  std::filesystem::path model;
  std::filesystem::path output;
  bool explain = false;
  bool compile = false;
};

std::vector<std::string_view> value_names(const graph::Graph& graph,
                                          std::span<const graph::ValueId> values) {
  std::vector<std::string_view> names;
  for (const graph::ValueId value : values) names.push_back(graph.values[value].name);
  return names;
}

Json partitions_json(const session::PreparedModel& prepared) {
  const graph::Graph& graph = prepared.model.graph;
  Json partitions = Json::array();
  for (const partition::Partition& partition : prepared.main.partitioning.partitions) {
    partitions.push_back({{"name", partition.name},
                          {"provider", prepared.main.partitioning.providers[partition.provider]},
                          {"nodes", partition.nodes},
                          {"inputs", value_names(graph, partition.inputs)},
                          {"outputs", value_names(graph, partition.outputs)}});
  }
  return partitions;
}

Json nodes_json(const partition::Explanation& explanation) {
  Json nodes = Json::array();
  for (const partition::ExplainedNode& node : explanation.nodes) {
    Json json = {{"id", node.node},     {"name", node.name},
                 {"op", node.op},       {"since_version", node.since_version},
                 {"provider", nullptr}, {"partition", nullptr}};
    if (!node.provider.empty()) json["provider"] = node.provider;
    if (!node.partition.empty()) json["partition"] = node.partition;
    nodes.push_back(std::move(json));
  }
  return nodes;
}

Json declines_json(const session::PreparedModel& prepared) {
  Json declines = Json::array();
  for (size_t i = 0; i < prepared.main.declines.size(); ++i) {
    for (const bridge::Decline& decline : prepared.main.declines[i]) {
      declines.push_back({{"provider", prepared.main.partitioning.providers[i]},
                          {"node", decline.node},
                          {"reason", decline.reason}});
    }
  }
  return declines;
}

Json to_json(const session::PreparedModel& prepared, const partition::Explanation& explanation,
             const Flags& flags) {
  Json providers = Json::array();
  for (const partition::ProviderSummary& provider : explanation.providers) {
    providers.push_back({{"name", provider.name},
                         {"kernel_nodes", provider.kernel_nodes},
                         {"fused_nodes", provider.fused_nodes},
                         {"partitions", provider.partitions},
                         {"refused_claims", provider.refused_claims}});
  }
  Json json = {{"model", flags.model.native()},
               {"graph", explanation.graph_name},
               {"is_context_model", prepared.is_context_model()},
               {"providers", providers},
               {"unassigned_nodes", explanation.unassigned_nodes},
               {"folded_nodes", prepared.folding.folded_nodes},
               {"nodes", nodes_json(explanation)},
               {"partitions", partitions_json(prepared)}};
  if (!flags.explain) return json;
  Json refused = Json::array();
  for (const partition::Refusal& refusal : explanation.refusals) {
    refused.push_back({{"provider", refusal.provider},
                       {"nodes", refusal.nodes},
                       {"fused", refusal.fused},
                       {"reason", refusal.reason}});
  }
  json["refused_claims"] = std::move(refused);
  json["declines"] = declines_json(prepared);
  json["notes"] = prepared.notes;
  return json;
}

std::string partitions_table(const session::PreparedModel& prepared) {
  Table table({{"partition"},
               {"provider"},
               {"nodes", Align::kRight},
               {"inputs", Align::kRight},
               {"outputs", Align::kRight}});
  for (const partition::Partition& partition : prepared.main.partitioning.partitions) {
    table.add_row({partition.name, prepared.main.partitioning.providers[partition.provider],
                   std::to_string(partition.nodes.size()), std::to_string(partition.inputs.size()),
                   std::to_string(partition.outputs.size())});
  }
  return table.empty() ? "" : "\n" + table.to_text();
}

std::string summary_table(const session::PreparedModel& prepared,
                          const partition::Explanation& explanation) {
  Table table({{"provider"},
               {"nodes by kernel", Align::kRight},
               {"nodes fused", Align::kRight},
               {"partitions", Align::kRight},
               {"claims refused", Align::kRight}});
  for (const partition::ProviderSummary& provider : explanation.providers) {
    table.add_row({provider.name, std::to_string(provider.kernel_nodes),
                   std::to_string(provider.fused_nodes), std::to_string(provider.partitions),
                   std::to_string(provider.refused_claims)});
  }
  std::string text = table.to_text() + partitions_table(prepared);
  if (explanation.unassigned_nodes > 0) {
    text += "\n" + counted(explanation.unassigned_nodes, "node") + " taken by no provider\n";
  }
  return text;
}

std::string explanation_text(const session::PreparedModel& prepared,
                             const partition::Explanation& explanation) {
  std::string text = partition::to_text(explanation);
  for (size_t i = 0; i < prepared.main.declines.size(); ++i) {
    for (const bridge::Decline& decline : prepared.main.declines[i]) {
      text += "declined: " + prepared.main.partitioning.providers[i] + ", #" +
              std::to_string(decline.node) + " " +
              graph::describe_node(prepared.model.graph, decline.node) + ": " +
              printable(decline.reason) + "\n";
    }
  }
  for (const std::string& note : prepared.notes) text += "note: " + printable(note) + "\n";
  return text;
}

std::string render(const session::PreparedModel& prepared, const Flags& flags) {
  const graph::Graph& graph = prepared.model.graph;
  const std::string& format = flags.report.format;
  if (format == "dot") return partition::to_dot(graph, prepared.main.partitioning);
  const partition::Explanation explanation = partition::explain(graph, prepared.main.partitioning);
  if (format == "html") return partition::to_html(explanation);
  if (format == "json") return to_text(to_json(prepared, explanation, flags));
  return flags.explain ? explanation_text(prepared, explanation)
                       : summary_table(prepared, explanation);
}

Result<int> run(const Flags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment,
                          open_environment(flags.session.environment));
  EPHOST_ASSIGN_OR_RETURN(const SessionOptions options,
                          make_session_options(flags.session, environment));
  auto prepared = [&] {
    const Activity activity("partitioning " + flags.model.native(), !flags.report.quiet);
    return session::prepare_model(
        environment, {flags.model, {}}, options,
        flags.compile ? session::Stage::kCompiled : session::Stage::kPartitioned);
  }();
  if (!prepared.ok()) return std::move(prepared).status();
  EPHOST_RETURN_IF_ERROR(write_text(flags.output, render(*prepared, flags)));
  EPHOST_RETURN_IF_ERROR(
      partition::check_cover(prepared->model.graph, prepared->main.partitioning));
  return kExitSuccess;
}

}  // namespace

Command add_partition(CLI::App& root) {
  auto flags = std::make_shared<Flags>();
  CLI::App* app = root.add_subcommand("partition", "Who takes which node, and why");
  app->add_option("MODEL", flags->model, "An ONNX model")->type_name("FILE")->required();
  app->add_flag("--explain", flags->explain, "Each node, each refused claim, and why");
  app->add_flag("--compile", flags->compile,
                "Compile too, and show who takes what a provider fails to compile or to load");
  app->add_option("-o,--output", flags->output, "Write to this file instead of standard output")
      ->type_name("FILE");
  add_session_flags(*app, flags->session);
  add_report_flags(*app, flags->report, {"table", "json", "dot", "html"});
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
