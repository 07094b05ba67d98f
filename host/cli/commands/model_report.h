// Shared parts of the commands that report on the graphs of a model without running it.
#pragma once

#include <ephost/environment.h>
#include <ephost/session_options.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "host/base/format.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/options/options.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/json.h"

namespace ephost::cli {

struct ModelReportFlags {
  SessionFlags session;
  ReportFlags report;
  std::filesystem::path model;
  std::filesystem::path output;
};

// Adds MODEL and --output.
inline Argument add_model_flags(ArgumentParser& app, ModelReportFlags& flags) {
  app.add("-o,--output", flags.output, "Write to this file instead of standard output")
      .type_name("FILE");
  return app.add("MODEL", flags.model, "An ONNX model").type_name("FILE");
}

// Calls `make_report(environment, options)`, which returns a Result, and shows its progress.
// `adjust` may change the options before.
template <class Adjust, class MakeReport>
auto report_on_model(const ModelReportFlags& flags, std::string_view activity, const Adjust& adjust,
                     const MakeReport& make_report)
    -> std::invoke_result_t<MakeReport, const Environment&, SessionOptions&> {
  EPHOST_ASSIGN_OR_RETURN(const Environment environment,
                          open_environment(flags.session.environment));
  EPHOST_ASSIGN_OR_RETURN(SessionOptions options, make_session_options(flags.session, environment));
  if (!flags.output.empty()) options.add_output_file(flags.output);
  adjust(options);
  Activity shown(formatted("{} {}", activity, flags.model.native()), flags.report.shows_progress());
  shown.follow(options);
  return make_report(environment, options);
}

// Adds to `json` what `describe` returns for the own graph of the model, the first one, and a list
// of its bodies, each after the members that `head` returns.
template <class Graph, class Head, class Describe>
Json with_graphs(Json json, const std::vector<Graph>& graphs, const Head& head,
                 const Describe& describe) {
  json.set("bodies", Json::array());
  json.update(describe(graphs.front()));
  Json bodies = Json::array();
  for (const Graph& body : std::span(graphs).subspan(1)) {
    Json body_json = head(body);
    body_json.update(describe(body));
    bodies.push_back(body_json);
  }
  json.set("bodies", bodies);
  return json;
}

}  // namespace ephost::cli
