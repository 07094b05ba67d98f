// `ephost partition MODEL`: who takes which node, and why.
#include <memory>

#include "host/cli/command.h"
#include "host/cli/flags.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/json.h"
#include "host/cli/report/output.h"
#include "host/cli/report/table.h"
#include "host/partition/explain.h"
#include "host/session/pipeline/pipeline.h"

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

// One graph of the model and what became of it.
struct Part {
  const graph::Graph& graph;
  const session::PreparedGraph& prepared;
  partition::Explanation explanation;
};

// The model's own graph and then the bodies of control flow, these under their paths.
std::vector<Part> explain_parts(const session::PreparedModel& prepared) {
  std::vector<Part> parts;
  for (const session::PreparedGraph* one : prepared.graphs()) {
    const graph::Graph& graph = prepared.graph_of(*one);
    Part part{graph, *one, partition::explain(graph, one->partitioning)};
    if (!one->path.empty()) part.explanation.graph_name = one->path;
    parts.push_back(std::move(part));
  }
  return parts;
}

Json providers_json(const partition::Explanation& explanation) {
  Json providers = Json::array();
  for (const partition::ProviderSummary& provider : explanation.providers) {
    providers.push_back({{"name", provider.name},
                         {"kernel_nodes", provider.kernel_nodes},
                         {"fused_nodes", provider.fused_nodes},
                         {"partitions", provider.partitions},
                         {"refused_claims", provider.refused_claims}});
  }
  return providers;
}

Json partitions_json(const Part& part) {
  const partition::Partitioning& partitioning = part.prepared.partitioning;
  Json partitions = Json::array();
  for (const partition::Partition& partition : partitioning.partitions) {
    partitions.push_back({{"name", partition.name},
                          {"provider", partitioning.providers[partition.provider]},
                          {"nodes", partition.nodes},
                          {"inputs", value_names(part.graph, partition.inputs)},
                          {"outputs", value_names(part.graph, partition.outputs)}});
  }
  return partitions;
}

Json nodes_json(const partition::Explanation& explanation) {
  Json nodes = Json::array();
  for (const partition::ExplainedNode& node : explanation.nodes) {
    Json json = {{"id", node.node},     {"name", node.name},
                 {"op", node.op},       {"since_version", node.since_version},
                 {"provider", nullptr}, {"partition", nullptr}};
    if (!node.provider.empty()) json.set("provider", node.provider);
    if (!node.partition.empty()) json.set("partition", node.partition);
    nodes.push_back(std::move(json));
  }
  return nodes;
}

Json declines_json(const session::PreparedGraph& prepared) {
  Json declines = Json::array();
  for (size_t i = 0; i < prepared.declines.size(); ++i) {
    for (const bridge::Decline& decline : prepared.declines[i]) {
      declines.push_back({{"provider", prepared.partitioning.providers[i]},
                          {"node", decline.node},
                          {"reason", decline.reason}});
    }
  }
  return declines;
}

Json part_json(const Part& part, const Flags& flags) {
  Json json = {{"providers", providers_json(part.explanation)},
               {"unassigned_nodes", part.explanation.unassigned_nodes},
               {"nodes", nodes_json(part.explanation)},
               {"partitions", partitions_json(part)}};
  if (!flags.explain) return json;
  Json refused = Json::array();
  for (const partition::Refusal& refusal : part.explanation.refusals) {
    refused.push_back({{"provider", refusal.provider},
                       {"nodes", refusal.nodes},
                       {"fused", refusal.fused},
                       {"reason", refusal.reason}});
  }
  json.set("refused_claims", std::move(refused));
  json.set("declines", declines_json(part.prepared));
  return json;
}

Json inlined_json(const session::PreparedModel& prepared) {
  Json inlined = Json::array();
  for (const session::InlinedCall& call : prepared.inlined) {
    inlined.push_back(
        {{"path", call.path}, {"call", call.call}, {"domain", call.domain}, {"nodes", call.nodes}});
  }
  return inlined;
}

std::string inlined_text(const session::PreparedModel& prepared) {
  std::string text;
  for (const session::InlinedCall& call : prepared.inlined) {
    text += "inlined: " + (call.path.empty() ? "" : printable(call.path) + ", ") + call.call +
            ", a function of domain " + printable(call.domain.empty() ? "ai.onnx" : call.domain) +
            " that no provider takes as it is, into " + counted(call.nodes, "node") + "\n";
  }
  return text;
}

Json to_json(const session::PreparedModel& prepared, std::span<const Part> parts,
             const Flags& flags) {
  Json json = {{"model", flags.model.native()},
               {"graph", parts.front().explanation.graph_name},
               {"is_context_model", prepared.is_context_model()},
               {"folded_nodes", prepared.folding.folded_nodes},
               {"removed_identities", prepared.removed_identities}};
  Json bodies = Json::array();
  json.update(part_json(parts.front(), flags));
  for (const Part& body : parts.subspan(1)) {
    Json body_json = {{"path", body.prepared.path}, {"graph", body.graph.name}};
    body_json.update(part_json(body, flags));
    bodies.push_back(body_json);
  }
  json.set("bodies", bodies);
  if (flags.explain) {
    json.set("inlined", inlined_json(prepared));
    json.set("notes", prepared.notes);
  }
  return json;
}

std::string partitions_table(const partition::Partitioning& partitioning) {
  Table table({{"partition"},
               {"provider"},
               {"nodes", Align::kRight},
               {"inputs", Align::kRight},
               {"outputs", Align::kRight}});
  for (const partition::Partition& partition : partitioning.partitions) {
    table.add_row({partition.name, partitioning.providers[partition.provider],
                   std::to_string(partition.nodes.size()), std::to_string(partition.inputs.size()),
                   std::to_string(partition.outputs.size())});
  }
  return table.empty() ? "" : "\n" + table.to_text();
}

std::string summary_table(const Part& part) {
  Table table({{"provider"},
               {"nodes by kernel", Align::kRight},
               {"nodes fused", Align::kRight},
               {"partitions", Align::kRight},
               {"claims refused", Align::kRight}});
  for (const partition::ProviderSummary& provider : part.explanation.providers) {
    table.add_row({provider.name, std::to_string(provider.kernel_nodes),
                   std::to_string(provider.fused_nodes), std::to_string(provider.partitions),
                   std::to_string(provider.refused_claims)});
  }
  std::string text = table.to_text() + partitions_table(part.prepared.partitioning);
  if (part.explanation.unassigned_nodes > 0) {
    text += "\n" + counted(part.explanation.unassigned_nodes, "node") + " taken by no provider\n";
  }
  return text;
}

std::string explanation_text(const Part& part) {
  std::string text = partition::to_text(part.explanation);
  for (size_t i = 0; i < part.prepared.declines.size(); ++i) {
    for (const bridge::Decline& decline : part.prepared.declines[i]) {
      text += "declined: " + part.prepared.partitioning.providers[i] + ", #" +
              std::to_string(decline.node) + " " + graph::describe_node(part.graph, decline.node) +
              ": " + printable(decline.reason) + "\n";
    }
  }
  return text;
}

std::string to_dot(std::span<const Part> parts) {
  std::string text;
  for (const Part& part : parts) {
    text += partition::to_dot(part.graph, part.prepared.partitioning, part.prepared.path);
  }
  return text;
}

std::string to_html(std::span<const Part> parts) {
  std::vector<partition::Explanation> bodies;
  for (const Part& body : parts.subspan(1)) bodies.push_back(body.explanation);
  return partition::to_html(parts.front().explanation, bodies);
}

std::string render(const session::PreparedModel& prepared, const Flags& flags) {
  const std::vector<Part> parts = explain_parts(prepared);
  const std::string& format = flags.report.format;
  if (format == "dot") return to_dot(parts);
  if (format == "html") return to_html(parts);
  if (format == "json") return to_text(to_json(prepared, parts, flags));
  std::string text;
  for (const Part& part : parts) {
    if (!part.prepared.path.empty()) text += "\nbody " + printable(part.prepared.path) + "\n";
    text += flags.explain ? explanation_text(part) : summary_table(part);
  }
  if (!flags.explain) return text;
  text += inlined_text(prepared);
  for (const std::string& note : prepared.notes) text += "note: " + printable(note) + "\n";
  return text;
}

Result<int> run(const Flags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment,
                          open_environment(flags.session.environment));
  EPHOST_ASSIGN_OR_RETURN(SessionOptions options, make_session_options(flags.session, environment));
  if (!flags.output.empty()) options.add_output_file(flags.output);
  auto prepared = [&] {
    const Activity activity("partitioning " + flags.model.native(), !flags.report.quiet);
    return session::prepare_model(
        environment, {flags.model, {}}, options,
        flags.compile ? session::Stage::kCompiled : session::Stage::kPartitioned);
  }();
  if (!prepared.ok()) return std::move(prepared).status();
  EPHOST_RETURN_IF_ERROR(write_text(flags.output, render(*prepared, flags)));
  for (const session::PreparedGraph* one : prepared->graphs()) {
    EPHOST_RETURN_IF_ERROR(partition::check_cover(prepared->graph_of(*one), one->partitioning));
  }
  return kExitSuccess;
}

}  // namespace

Command add_partition(ArgumentParser& root) {
  auto flags = std::make_shared<Flags>();
  ArgumentParser app = root.add_subcommand("partition", "Who takes which node, and why");
  app.add("MODEL", flags->model, "An ONNX model").type_name("FILE").required();
  app.add_flag("--explain", flags->explain, "Each node, each refused claim, and why");
  app.add_flag("--compile", flags->compile,
               "Compile too, and show who takes what a provider fails to compile or to load");
  app.add("-o,--output", flags->output, "Write to this file instead of standard output")
      .type_name("FILE");
  add_session_flags(app, flags->session);
  add_report_flags(app, flags->report, {"table", "json", "dot", "html"});
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
