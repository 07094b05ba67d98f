// `ephost plan MODEL`: the order of the steps, where each value lives, and how much memory that
// takes.
#include <map>
#include <memory>

#include "host/cli/command.h"
#include "host/cli/commands/plan_buffers.h"
#include "host/cli/flags.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/json.h"
#include "host/cli/report/output.h"
#include "host/cli/report/plan_map.h"
#include "host/cli/report/table.h"
#include "host/session/pipeline/pipeline.h"

namespace ephost::cli {
namespace {

struct Flags {
  SessionFlags session;
  ReportFlags report;
  std::filesystem::path model;
  std::filesystem::path output;
  std::filesystem::path html;
  std::filesystem::path buffers;
  std::optional<uint64_t> capacity;
  std::optional<uint64_t> alignment;
  std::string order;
};

// One graph of a prepared model, and text about its parts.
class PlannedGraph {
 public:
  PlannedGraph(const session::PreparedModel& model, const session::PreparedGraph& prepared)
      : model_(model), graph_(model.graph_of(prepared)), prepared_(prepared) {}

  [[nodiscard]] const session::PreparedGraph& prepared() const { return prepared_; }

  [[nodiscard]] const std::string& value(graph::ValueId id) const {
    static const std::string none;
    return id == graph::kNoValue ? none : graph_.values[id].name;
  }
  [[nodiscard]] std::vector<std::string> values(std::span<const graph::ValueId> ids) const {
    std::vector<std::string> names;
    for (const graph::ValueId id : ids) names.push_back(value(id));
    return names;
  }
  [[nodiscard]] std::string type(graph::ValueId id) const {
    return graph::to_string(graph_.values[id].type, model_.model.symbols);
  }
  [[nodiscard]] const std::string& provider(const plan::Step& step) const {
    return prepared_.partitioning.providers[step.provider];
  }
  [[nodiscard]] std::string location(uint32_t location) const {
    return model_.location_name(location);
  }
  [[nodiscard]] std::string step(const plan::Step& step) const {
    if (step.partition != plan::kNoPartition) {
      const partition::Partition& p = prepared_.partitioning.partitions[step.partition];
      return "partition " + p.name + " of " + counted(p.nodes.size(), "node");
    }
    return graph::describe_node(graph_, step.node);
  }

 private:
  const session::PreparedModel& model_;
  const graph::Graph& graph_;
  const session::PreparedGraph& prepared_;
};

Json steps_json(const PlannedGraph& names) {
  const session::PreparedGraph& prepared = names.prepared();
  Json steps = Json::array();
  for (const plan::Step& step : prepared.execution.steps) {
    Json json = {{"provider", names.provider(step)},
                 {"node", step.node},
                 {"partition", nullptr},
                 {"inputs", names.values(step.inputs)},
                 {"outputs", names.values(step.outputs)}};
    if (step.partition != plan::kNoPartition) {
      json.set("partition", prepared.partitioning.partitions[step.partition].name);
    }
    steps.push_back(std::move(json));
  }
  return steps;
}

Json values_json(const PlannedGraph& names) {
  const session::PreparedGraph& prepared = names.prepared();
  Json values = Json::array();
  for (graph::ValueId id = 0; id < prepared.allocation.values.size(); ++id) {
    const plan::ValuePlan& value = prepared.allocation.values[id];
    if (value.kind == plan::AllocKind::kNone) continue;
    Json json = {{"name", names.value(id)},
                 {"type", names.type(id)},
                 {"kind", plan::alloc_kind_name(value.kind)},
                 {"location", value.location},
                 {"buffer", names.value(value.reused)},
                 {"lifetime", std::vector{value.first_pc, value.last_pc}},
                 {"use_count", value.use_count},
                 {"bytes", nullptr},
                 {"offset", nullptr}};
    if (value.bytes) json.set("bytes", *value.bytes);
    const uint64_t offset = prepared.pattern.offsets[id];
    if (offset != plan::kNoOffset) json.set("offset", offset);
    values.push_back(std::move(json));
  }
  return values;
}

Json graph_json(const PlannedGraph& graph) {
  Json blocks = Json::array();
  for (const plan::MemoryBlock& block : graph.prepared().pattern.blocks) {
    blocks.push_back({{"location", block.location},
                      {"memory", graph.location(block.location)},
                      {"peak_bytes", block.bytes},
                      {"lower_bound_bytes", block.lower_bound},
                      {"proved_optimal", block.proved_optimal}});
  }
  Json json = {{"steps", steps_json(graph)}, {"values", values_json(graph)}, {"blocks", blocks}};
  json.set("order", graph.prepared().order_rule);
  return json;
}

Json to_json(const session::PreparedModel& prepared, const Flags& flags) {
  Json json = {{"model", flags.model.native()}};
  Json bodies = Json::array();
  for (const session::PreparedGraph* one : prepared.graphs()) {
    Json planned = graph_json({prepared, *one});
    if (one->path.empty()) {
      json.update(planned);
    } else {
      planned.set("path", one->path);
      bodies.push_back(planned);
    }
  }
  json.set("bodies", bodies);
  return json;
}

std::string steps_table(const PlannedGraph& names) {
  const session::PreparedGraph& prepared = names.prepared();
  Table table({{"step", Align::kRight}, {"runs"}, {"on"}, {"outputs"}});
  const std::vector<plan::Step>& steps = prepared.execution.steps;
  for (size_t pc = 0; pc < steps.size(); ++pc) {
    std::string outputs;
    for (const std::string& name : names.values(steps[pc].outputs)) {
      if (!name.empty()) outputs += (outputs.empty() ? "" : ", ") + name;
    }
    table.add_row({std::to_string(pc), names.step(steps[pc]), names.provider(steps[pc]), outputs});
  }
  return table.to_text();
}

std::string values_table(const PlannedGraph& names) {
  const session::PreparedGraph& prepared = names.prepared();
  Table table({{"value"},
               {"type"},
               {"kind"},
               {"buffer of"},
               {"steps", Align::kRight},
               {"bytes", Align::kRight},
               {"offset", Align::kRight}});
  for (graph::ValueId id = 0; id < prepared.allocation.values.size(); ++id) {
    const plan::ValuePlan& value = prepared.allocation.values[id];
    if (value.kind == plan::AllocKind::kNone) continue;
    const uint64_t offset = prepared.pattern.offsets[id];
    table.add_row({names.value(id), names.type(id), std::string(plan::alloc_kind_name(value.kind)),
                   value.reused == id ? "" : names.value(value.reused),
                   std::to_string(value.first_pc) + "-" + std::to_string(value.last_pc),
                   value.bytes ? std::to_string(*value.bytes) : "at run time",
                   offset == plan::kNoOffset ? "" : std::to_string(offset)});
  }
  return "\n" + table.to_text();
}

std::string summary(const PlannedGraph& graph) {
  const session::PreparedGraph& prepared = graph.prepared();
  std::map<std::string_view, uint64_t> kinds;
  for (const plan::ValuePlan& value : prepared.allocation.values) {
    if (value.kind != plan::AllocKind::kNone) ++kinds[plan::alloc_kind_name(value.kind)];
  }
  Facts facts;
  facts.add("steps", std::to_string(prepared.execution.steps.size()));
  if (!prepared.order_rule.empty()) {
    std::string text(prepared.order_rule);
    if (prepared.order_bytes < prepared.given_order_bytes) {
      text += ", needs " + bytes_text(prepared.order_bytes) + " where the model's order needs " +
              bytes_text(prepared.given_order_bytes);
    }
    facts.add("order", text);
  }
  std::string counts;
  for (const auto& [kind, count] : kinds) {
    counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(kind);
  }
  facts.add("values", counts);
  for (const plan::MemoryBlock& block : prepared.pattern.blocks) {
    const double ratio = block.lower_bound == 0 ? 1.0
                                                : static_cast<double>(block.bytes) /
                                                      static_cast<double>(block.lower_bound);
    const bool is_host = block.location == plan::kHostLocation;
    facts.add("block " + (is_host ? "0" : graph.location(block.location)),
              "peak " + std::to_string(block.bytes) + " bytes (" + bytes_text(block.bytes) +
                  "), lower bound " + std::to_string(block.lower_bound) + ", ratio " +
                  fixed(ratio, 3) + (block.proved_optimal ? ", optimal" : ""));
  }
  if (prepared.pattern.blocks.empty()) facts.add("block", "none: sizes are known at run time only");
  return "\n" + facts.to_text();
}

std::string to_tables(const session::PreparedModel& prepared) {
  std::string text;
  for (const session::PreparedGraph* one : prepared.graphs()) {
    const PlannedGraph graph(prepared, *one);
    if (!one->path.empty()) text += "\nbody " + printable(one->path) + "\n";
    text += steps_table(graph) + values_table(graph) + summary(graph);
  }
  return text;
}

Result<int> plan_model(const Flags& flags) {
  EPHOST_ASSIGN_OR_RETURN(const Environment environment,
                          open_environment(flags.session.environment));
  EPHOST_ASSIGN_OR_RETURN(SessionOptions options, make_session_options(flags.session, environment));
  if (!flags.order.empty()) options.add_config_entry("session.execution_order", flags.order);
  for (const std::filesystem::path& file : {flags.output, flags.html}) {
    if (!file.empty()) options.add_output_file(file);
  }
  auto prepared = [&] {
    const Activity activity("planning " + flags.model.native(), !flags.report.quiet);
    return session::prepare_model(environment, {flags.model, {}}, options,
                                  session::Stage::kPlanned);
  }();
  if (!prepared.ok()) return std::move(prepared).status();
  const std::string text =
      flags.report.json() ? to_text(to_json(*prepared, flags)) : to_tables(*prepared);
  if (!flags.html.empty()) {
    EPHOST_RETURN_IF_ERROR(write_text(
        flags.html, to_html("Plan of " + flags.model.filename().string(), maps_of(*prepared))));
    if (flags.output.empty() && !flags.report.json()) return kExitSuccess;
  }
  EPHOST_RETURN_IF_ERROR(write_text(flags.output, text));
  return kExitSuccess;
}

Result<int> run(const Flags& flags) {
  apply(flags.report);
  if (flags.buffers.empty()) return plan_model(flags);
  BufferPlanRequest request{.buffers = flags.buffers,
                            .output = flags.output,
                            .html = flags.html,
                            .capacity = flags.capacity,
                            .json = flags.report.json()};
  if (flags.alignment) request.alignment = *flags.alignment;
  EPHOST_RETURN_IF_ERROR(plan_buffers(request));
  return kExitSuccess;
}

}  // namespace

Command add_plan(ArgumentParser& root) {
  auto flags = std::make_shared<Flags>();
  ArgumentParser app =
      root.add_subcommand("plan", "Order, memory of each value, peak and lower bound");
  Argument model = app.add("MODEL", flags->model, "An ONNX model").type_name("FILE");
  app.add("-o,--output", flags->output, "Write to this file instead of standard output")
      .type_name("FILE");
  app.add("--html", flags->html, "Draw the memory map and the order as a page in this file")
      .type_name("FILE");
  Argument buffers =
      app.add("--buffers", flags->buffers, "Place these buffers instead (CSV: id,lower,upper,size)")
          .type_name("FILE")
          .excludes(model);
  app.add("--capacity", flags->capacity, "Fail if the buffers need more bytes than this")
      .type_name("N")
      .needs(buffers);
  app.add("--alignment", flags->alignment, "Of the buffers' offsets: a power of two [1]")
      .type_name("N")
      .needs(buffers);
  app.add("--order", flags->order,
          "The same as --config session.execution_order=ORDER [chosen for the model]")
      .type_name("ORDER")
      .one_of({"default", "priority", "memory"})
      .excludes(buffers);
  add_session_flags(app, flags->session);
  add_report_flags(app, flags->report);
  app.require_either(model, buffers, "MODEL or --buffers");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
