// `ephost plan MODEL`: the order of the steps, where each value lies in memory, and how much memory
// that takes.
#include <ephost/plan_model.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/cli/commands/model_report.h"
#include "host/cli/commands/plan_buffers.h"
#include "host/cli/report/output.h"
#include "host/cli/report/plan/critical_path.h"
#include "host/cli/report/plan/plan_map.h"
#include "host/cli/report/plan/step_times.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"

namespace ephost::cli {
namespace {

struct PlanFlags : ModelReportFlags {
  std::filesystem::path html;
  std::filesystem::path times;
  std::filesystem::path buffers;
  std::optional<uint64_t> capacity;
  std::optional<uint64_t> alignment;
  std::string order;
};

Json planned_steps_json(const GraphPlan& plan) {
  Json steps = Json::array();
  for (const PlannedStep& step : plan.steps) {
    steps.push_back({{"provider", plan.providers[step.provider]},
                     {"node", step.node},
                     {"partition", step.partition.empty() ? Json() : Json(step.partition)},
                     {"inputs", step.inputs},
                     {"outputs", step.outputs},
                     {"workspace_bytes", step.workspace_bytes},
                     {"constant_bytes", step.constant_bytes},
                     {"inner_values", step.inner_values},
                     {"inner_bytes", step.inner_bytes},
                     {"inner_live_bytes", step.inner_live_bytes},
                     {"stream", step.stream.empty() ? Json() : Json(step.stream)},
                     {"waits", step.waits},
                     {"host_waits", step.host_waits}});
  }
  return steps;
}

Json values_json(const GraphPlan& plan) {
  Json values = Json::array();
  for (const PlannedValue& value : plan.values) {
    values.push_back({{"name", value.name},
                      {"type", value.type},
                      {"kind", value.kind},
                      {"location", value.location},
                      {"buffer", value.buffer},
                      {"lifetime", std::vector{value.first_step, value.last_step}},
                      {"use_count", value.use_count},
                      {"bytes", value.bytes ? Json(*value.bytes) : Json()},
                      {"offset", value.offset ? Json(*value.offset) : Json()}});
  }
  return values;
}

Json plan_json(const GraphPlan& plan) {
  Json blocks = Json::array();
  for (const PlannedBlock& block : plan.blocks) {
    blocks.push_back({{"location", block.location},
                      {"memory", block.memory},
                      {"peak_bytes", block.peak_bytes},
                      {"lower_bound_bytes", block.lower_bound_bytes},
                      {"proved_optimal", block.proved_optimal}});
  }
  return {{"steps", planned_steps_json(plan)},
          {"values", values_json(plan)},
          {"blocks", blocks},
          {"critical_path", critical_path(plan.steps)},
          {"order", plan.order_rule}};
}

// "3, host for 5"
std::string waits_text(const PlannedStep& step) {
  std::string text;
  for (const uint32_t other : step.waits) {
    text += (text.empty() ? "" : ", ") + std::to_string(other);
  }
  for (const uint32_t other : step.host_waits) {
    text += (text.empty() ? "host for " : ", host for ") + std::to_string(other);
  }
  return text;
}

std::string steps_table(const GraphPlan& plan) {
  const bool has_streams =
      std::ranges::any_of(plan.steps, [](const PlannedStep& step) { return !step.stream.empty(); });
  std::vector<Column> columns = {{"step", Align::kRight}, {"runs"}, {"on"}, {"outputs"}};
  if (has_streams) columns.insert(columns.end(), {{"stream"}, {"waits for"}});
  Table table(columns);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const PlannedStep& step = plan.steps[i];
    std::string outputs;
    for (const std::string& name : step.outputs) {
      if (!name.empty()) outputs += (outputs.empty() ? "" : ", ") + name;
    }
    std::vector<std::string> row = {std::to_string(i), step.description,
                                    plan.providers[step.provider], outputs};
    if (has_streams) row.insert(row.end(), {step.stream, waits_text(step)});
    table.add_row(row);
  }
  return table.to_text();
}

std::string values_table(const GraphPlan& plan) {
  Table table({{"value"},
               {"type"},
               {"kind"},
               {"buffer of"},
               {"steps", Align::kRight},
               {"bytes", Align::kRight},
               {"offset", Align::kRight}});
  for (const PlannedValue& value : plan.values) {
    table.add_row({value.name, value.type, value.kind, value.owns_buffer ? "" : value.buffer,
                   formatted("{}-{}", value.first_step, value.last_step),
                   value.bytes ? std::to_string(*value.bytes) : "at run time",
                   value.offset ? std::to_string(*value.offset) : ""});
  }
  return "\n" + table.to_text();
}

std::string kinds_text(const GraphPlan& plan) {
  std::map<std::string_view, uint64_t> kinds;
  for (const PlannedValue& value : plan.values) ++kinds[value.kind];
  std::string counts;
  for (const auto& [kind, count] : kinds) {
    counts += formatted("{}{} {}", counts.empty() ? "" : ", ", count, kind);
  }
  return counts;
}

std::string block_text(const PlannedBlock& block) {
  const double ratio =
      block.lower_bound_bytes == 0
          ? 1.0
          : static_cast<double>(block.peak_bytes) / static_cast<double>(block.lower_bound_bytes);
  return formatted("peak {} bytes ({}), lower bound {}, ratio {}{}", block.peak_bytes,
                   bytes_text(block.peak_bytes), block.lower_bound_bytes, fixed(ratio, 3),
                   block.proved_optimal ? ", optimal" : "");
}

std::string plan_summary(const GraphPlan& plan) {
  Facts facts;
  facts.add("steps", std::to_string(plan.steps.size()));
  if (!plan.order_rule.empty()) {
    std::string text = plan.order_rule;
    if (plan.order_bytes < plan.given_order_bytes) {
      text += formatted(", needs {} where the model's order needs {}", bytes_text(plan.order_bytes),
                        bytes_text(plan.given_order_bytes));
    }
    facts.add("order", text);
  }
  if (const std::vector<uint32_t> path = critical_path(plan.steps); !path.empty()) {
    facts.add("critical path", formatted("{} of {} steps", path.size(), plan.steps.size()));
  }
  facts.add("values", kinds_text(plan));
  for (const PlannedBlock& block : plan.blocks) {
    facts.add("block " + (block.location == 0 ? "0" : block.memory), block_text(block));
  }
  const std::vector<std::string> notes = memory_notes(plan);
  for (size_t i = 0; i < notes.size(); ++i) facts.add(i == 0 ? "memory" : "", notes[i]);
  return "\n" + facts.to_text();
}

std::string to_tables(std::span<const GraphPlan> plans) {
  std::string text;
  for (const GraphPlan& plan : plans) {
    if (!plan.path.empty()) text += formatted("\nbody {}\n", printable(plan.path));
    text += steps_table(plan) + values_table(plan) + plan_summary(plan);
  }
  return text;
}

Result<std::string> to_page(std::span<const GraphPlan> plans, const PlanFlags& flags) {
  std::vector<double> seconds;
  if (!flags.times.empty()) {
    EPHOST_ASSIGN_OR_RETURN(const std::string profile, read_file(flags.times));
    EPHOST_ASSIGN_OR_RETURN(seconds, step_times(profile, flags.times.native(), plans.front()));
  }
  std::vector<MemoryMap> maps = {map_of(plans.front(), std::move(seconds))};
  for (const GraphPlan& plan : plans.subspan(1)) maps.push_back(map_of(plan));
  return to_html("Plan of " + flags.model.filename().string(), maps);
}

Result<int> show_plan(const PlanFlags& flags) {
  const auto adjust = [&](SessionOptions& options) {
    if (!flags.order.empty()) options.add_config_entry("session.execution_order", flags.order);
    if (!flags.times.empty()) options.add_input_file(flags.times);
    if (!flags.html.empty()) options.add_output_file(flags.html);
  };
  const auto plans =
      report_on_model(flags, "planning", adjust,
                      [&](const Environment& environment, const SessionOptions& options) {
                        return plan_model(environment, flags.model, options);
                      });
  EPHOST_RETURN_IF_ERROR(plans.status());
  if (!flags.html.empty()) {
    EPHOST_ASSIGN_OR_RETURN(const std::string page, to_page(*plans, flags));
    EPHOST_RETURN_IF_ERROR(write_text(flags.html, page));
    if (flags.output.empty() && !flags.report.json()) return kExitSuccess;
  }
  const auto json = [&] {
    return with_graphs(
        {{"model", flags.model.native()}}, *plans,
        [](const GraphPlan& body) {
          return Json({{"path", body.path}});
        },
        plan_json);
  };
  EPHOST_RETURN_IF_ERROR(
      write_text(flags.output, flags.report.json() ? to_text(json()) : to_tables(*plans)));
  return kExitSuccess;
}

Result<int> run(const PlanFlags& flags) {
  apply(flags.report);
  if (flags.buffers.empty()) return show_plan(flags);
  BufferPlanRequest request{.buffers = flags.buffers,
                            .output = flags.output,
                            .html = flags.html,
                            .capacity = flags.capacity,
                            .json = flags.report.json(),
                            .quiet = flags.report.quiet};
  if (flags.alignment) request.alignment = *flags.alignment;
  EPHOST_RETURN_IF_ERROR(plan_buffers(request));
  return kExitSuccess;
}

}  // namespace

Command add_plan(ArgumentParser& root) {
  auto flags = std::make_shared<PlanFlags>();
  ArgumentParser app = root.add_subcommand(
      "plan",
      "Show the order of the steps, the place of each value, peak memory and its lower bound");
  const Argument model = add_model_flags(app, *flags);
  Argument html = app.add("--html", flags->html,
                          "Write an HTML page with the memory map and the order to this file")
                      .type_name("FILE");
  Argument times = app.add("--times", flags->times,
                           "Draw the steps of the model's own graph as long as they took in this "
                           "profile, which \"run --profile\" wrote")
                       .type_name("FILE")
                       .needs(html);
  Argument buffers =
      app.add("--buffers", flags->buffers, "Place these buffers instead (CSV: id,lower,upper,size)")
          .type_name("FILE")
          .excludes(model)
          .excludes(times);
  app.add("--capacity", flags->capacity, "Most bytes that the buffers may need; fail beyond that")
      .type_name("N")
      .needs(buffers);
  app.add("--alignment", flags->alignment, "Alignment of the offsets: a power of two [1]")
      .type_name("N")
      .needs(buffers);
  app.add("--order", flags->order,
          "Short for --config session.execution_order=ORDER [chosen for the model]")
      .type_name("ORDER")
      .one_of({"default", "priority", "memory"})
      .excludes(buffers);
  add_session_flags(app, flags->session);
  add_report_flags(app, flags->report);
  app.require_either(model, buffers, "MODEL or --buffers");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
