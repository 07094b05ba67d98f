// `ephost run MODEL`: runs a model on values from files, on zeros or on random numbers.
#include <ephost/element_info.h>
#include <ephost/session.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <system_error>

#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/arguments/interrupt.h"
#include "host/cli/measure/statistics.h"
#include "host/cli/options/metrics_file.h"
#include "host/cli/options/options.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"
#include "host/cli/values/elements.h"
#include "host/cli/values/inputs.h"
#include "host/cli/values/value_file.h"

namespace ephost::cli {
namespace {

constexpr uint64_t kShownElements = 8;

struct RunCommandFlags {
  SessionFlags session;
  RunFlags run;
  ReportFlags report;
  InputFlags inputs;
  std::filesystem::path model;
  std::vector<std::string> outputs;  // name=file
  std::filesystem::path output_folder;
  std::filesystem::path optimized_model;
  uint32_t repeat = 1;
};

struct RunResult {
  std::vector<NamedValue> outputs;
  ModelMetadata metadata;
  std::vector<Phase> phases;
  std::vector<Specialization> specializations;
  CacheUse cache;
  std::vector<double> seconds;  // of each run
};

struct OutputFile {
  size_t output = 0;
  std::filesystem::path file;
};

// The files of --output, checked before anything is run.
Result<std::vector<OutputFile>> output_files(const Session& session, const RunCommandFlags& flags) {
  std::vector<OutputFile> files;
  const std::vector<ValueDescription>& outputs = session.outputs();
  for (const std::string& argument : flags.outputs) {
    auto [name, file] = split_pair(argument);
    const auto found = std::ranges::find(outputs, name, &ValueDescription::name);
    if (found == outputs.end()) {
      std::vector<std::string_view> names;
      names.reserve(outputs.size());
      for (const ValueDescription& output : outputs) names.push_back(output.name);
      return Status(StatusCode::kInvalidArgument, formatted("the model has no output {}; it has {}",
                                                            quote(name), join(names, ", ")));
    }
    if (!is_value_file(file)) {
      return Status(
          StatusCode::kInvalidArgument,
          formatted("the extension of {} is not a tensor format; use .pb, .npy, .raw or .bin",
                    quote(file)));
    }
    files.push_back({static_cast<size_t>(found - outputs.begin()), std::move(file)});
  }
  return files;
}

Status make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  if (!folder.empty()) std::filesystem::create_directories(folder, failure);
  if (!failure) return Status::ok_status();
  return Status(StatusCode::kFail, formatted("cannot make the folder {}: {}",
                                             quote(folder.native()), failure.message()));
}

// Adds the files of the folder, whose names are known only now. Nothing has been written yet.
Status add_folder_files(const Session& session, const std::vector<NamedValue>& outputs,
                        const std::filesystem::path& folder, std::vector<OutputFile>& files) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::filesystem::path file = folder / formatted("output_{}", i);
    file += default_extension(outputs[i].value);
    EPHOST_RETURN_IF_ERROR(
        session.check_output_file(file, "the file of output " + quote(outputs[i].name)));
    files.push_back({i, std::move(file)});
  }
  return Status::ok_status();
}

Status write_outputs(const Session& session, const std::vector<NamedValue>& outputs,
                     std::vector<OutputFile> files, const std::filesystem::path& folder) {
  if (!folder.empty()) {
    EPHOST_RETURN_IF_ERROR(add_folder_files(session, outputs, folder, files));
  }
  for (const OutputFile& file : files) {
    const NamedValue& output = outputs[file.output];
    EPHOST_RETURN_IF_ERROR(write_value(file.file, output.name, output.value,
                                       session.outputs()[file.output].is_optional));
  }
  return Status::ok_status();
}

Result<RunResult> run_model(const Environment& environment, const RunCommandFlags& flags) {
  Activity activity("loading " + flags.model.native(), flags.report.shows_progress());
  const Interrupt interrupt;
  EPHOST_ASSIGN_OR_RETURN(SessionOptions options, make_session_options(flags.session, environment));
  options.set_load_cancellation_flag(interrupt.flag());
  if (!flags.optimized_model.empty()) options.set_optimized_model_file_path(flags.optimized_model);
  add_input_files(flags.inputs, options);
  for (const std::string& argument : flags.outputs) {
    options.add_output_file(split_pair(argument).second);
  }
  activity.follow(options);
  EPHOST_ASSIGN_OR_RETURN(Session session, Session::create(environment, flags.model, options));
  EPHOST_ASSIGN_OR_RETURN(const std::vector<NamedValue> inputs, make_inputs(session, flags.inputs));
  EPHOST_ASSIGN_OR_RETURN(const std::vector<OutputFile> files, output_files(session, flags));
  EPHOST_RETURN_IF_ERROR(make_folder(flags.output_folder));
  activity.update("running " + flags.model.native());
  RunResult result{.metadata = session.model_metadata(),
                   .phases = session.phases(),
                   .cache = session.cache_use()};
  std::vector<Value> values;
  for (uint32_t i = 0; i < flags.repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    RunOptions run_options = make_run_options(flags.run);
    run_options.cancelled = interrupt.flag();
    EPHOST_ASSIGN_OR_RETURN(values, session.run(inputs, {}, run_options));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    result.seconds.push_back(taken.count());
  }
  result.specializations = session.specializations();
  if (!flags.session.profile.empty()) {
    EPHOST_RETURN_IF_ERROR(session.end_profiling().status());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    result.outputs.push_back({session.outputs()[i].name, std::move(values[i])});
  }
  EPHOST_RETURN_IF_ERROR(write_outputs(session, result.outputs, files, flags.output_folder));
  return result;
}

Json tensor_json(const Value& value) {
  const Summary summary = summarize(value);
  const Elements elements(value);
  Json first = Json::array();
  for (uint64_t i = 0; i < std::min(kShownElements, elements.count()); ++i) {
    if (value.element_type() == ElementType::kString) {
      first.push_back(value.strings()[i]);
    } else {
      first.push_back(elements.number(i));
    }
  }
  Json json = {{"type", element_type_name(value.element_type())}, {"shape", value.shape()}};
  if (summary.numbers > 0) {
    json.set("min", summary.min);
    json.set("max", summary.max);
    json.set("mean", summary.mean);
  }
  json.set("nan_count", summary.nans);
  json.set("first", std::move(first));
  return json;
}

// The elements of a sequence, the keys and values of a map, nothing for an empty optional.
Json value_json(const Value& value) {
  if (value.kind() == ValueKind::kTensor) return tensor_json(value);
  if (!value.has_value()) return {{"type", "none"}};
  std::vector<Json> parts;
  for (const Value& part : value.parts()) parts.push_back(value_json(part));
  if (value.kind() == ValueKind::kSequence) return {{"type", "sequence"}, {"elements", parts}};
  return {{"type", "map"}, {"keys", parts[0]}, {"values", parts[1]}};
}

Json output_json(const NamedValue& output) {
  Json json = {{"name", output.name}};
  json.update(value_json(output.value));
  return json;
}

std::string_view specialization_state_name(SpecializationState state) {
  switch (state) {
    case SpecializationState::kReady:
      return "ready";
    case SpecializationState::kMaking:
      return "making";
    case SpecializationState::kFailed:
      break;
  }
  return "failed";
}

Json specializations_json(const std::vector<Specialization>& specializations) {
  Json list = Json::array();
  for (const Specialization& one : specializations) {
    Json extents = Json::object();
    for (const FixedExtent& extent : one.extents) extents.set(extent.name, extent.extent);
    list.push_back({{"extents", extents},
                    {"state", std::string(specialization_state_name(one.state))},
                    {"runs", one.runs},
                    {"seconds", one.seconds},
                    {"reason", one.reason}});
  }
  return list;
}

// For example "specialised for batch=8: 0.120 s, served 3 runs".
std::string specializations_text(const std::vector<Specialization>& specializations) {
  std::string text;
  for (const Specialization& one : specializations) {
    std::vector<std::string> extents;
    for (const FixedExtent& extent : one.extents) {
      extents.push_back(formatted("{}={}", extent.name, extent.extent));
    }
    const std::string what = printable(join(extents, ", "));
    if (one.state == SpecializationState::kReady) {
      text += formatted("specialised for {}: {}, served {}\n", what, seconds_text(one.seconds),
                        counted(one.runs, "run"));
    } else if (one.state == SpecializationState::kFailed) {
      text += formatted("not specialised for {}: {}\n", what, printable(one.reason));
    }
  }
  return text;
}

Json to_json(const RunResult& result, const RunCommandFlags& flags) {
  Json outputs = Json::array();
  for (const NamedValue& output : result.outputs) outputs.push_back(output_json(output));
  return {{"model", flags.model.native()},
          {"metadata", metadata_json(result.metadata)},
          {"outputs", outputs},
          {"session", phases_json(result.phases)},
          {"cache", cache_json(result.cache)},
          {"specializations", specializations_json(result.specializations)},
          {"run_seconds", result.seconds}};
}

std::string to_table(const RunResult& result, bool verbose) {
  Table table({{"output"},
               {"type"},
               {"min", Align::kRight},
               {"max", Align::kRight},
               {"mean", Align::kRight},
               {"first values"}});
  for (const NamedValue& output : result.outputs) {
    const Summary summary = summarize(output.value);
    const bool numeric = summary.numbers > 0;
    std::string first = first_elements(output.value, kShownElements);
    if (summary.nans > 0) first += formatted(" ({})", counted(summary.nans, "NaN"));
    table.add_row({output.name, type_text(output.value), numeric ? compact(summary.min) : "",
                   numeric ? compact(summary.max) : "", numeric ? compact(summary.mean) : "",
                   first});
  }
  std::string text = table.to_text() + "\nfirst run " + seconds_text(result.seconds.front());
  if (result.seconds.size() > 1) {
    text += formatted(", median of {} {}", counted(result.seconds.size(), "run"),
                      seconds_text(median(result.seconds)));
  }
  text += "\n";
  if (const std::string cache = cache_text(result.cache); !cache.empty()) {
    text += formatted("cache: {}\n", cache);
  }
  text += specializations_text(result.specializations);
  if (verbose) {
    const std::string metadata = metadata_text(result.metadata);
    if (!metadata.empty()) text += formatted("model: {}\n", metadata);
    text += formatted("session: {}\n", phases_text(result.phases));
  }
  return text;
}

Result<int> run(const RunCommandFlags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment,
                          open_environment(flags.session.environment));
  EPHOST_ASSIGN_OR_RETURN(const RunResult result, run_model(environment, flags));
  print(flags.report.json() ? to_text(to_json(result, flags))
                            : to_table(result, flags.report.verbose));
  return kExitSuccess;
}

}  // namespace

Command add_run(ArgumentParser& root) {
  auto flags = std::make_shared<RunCommandFlags>();
  ArgumentParser app = root.add_subcommand("run", "Run a model");
  app.add("MODEL", flags->model, "An ONNX model or context model").type_name("FILE").required();
  add_input_flags(app, flags->inputs);
  add_pair_option(app, "-o,--output", flags->outputs,
                  "Write an output to a .pb, .npy or .raw file (repeatable)", "NAME=FILE");
  app.add("--output-dir", flags->output_folder,
          "Write all outputs to this folder: output_0.npy, ... (.pb for types that NumPy lacks)")
      .type_name("DIR");
  app.add("--optimized-model", flags->optimized_model,
          "Save the model after its graph optimizations to this file")
      .type_name("FILE");
  app.add("--repeat", flags->repeat, "Number of runs").type_name("N").positive();
  add_session_flags(app, flags->session);
  add_execution_flags(app, flags->session);
  add_run_flags(app, flags->run);
  add_profile_flag(app, flags->session);
  add_cache_flag(app, flags->session);
  add_report_flags(app, flags->report);
  add_metrics_flag(app, flags->session.environment);
  return {app, [flags] {
            return with_metrics_file(flags->session.environment, [&] { return run(*flags); });
          }};
}

}  // namespace ephost::cli
