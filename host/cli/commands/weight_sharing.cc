#include "host/cli/commands/weight_sharing.h"

#include <ephost/compile_model.h>
#include <ephost/session.h>
#include <ephost/verify_context.h>

#include <chrono>
#include <set>
#include <system_error>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/interrupt.h"
#include "host/cli/options/on_crash.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/output.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;

// A name of our own, so that other sessions of the process are not in the group.
constexpr const char* kSharingGroup = "ephost compile --share-weights";

struct SharedModel {
  fs::path path;
  std::vector<std::string> partitions;
  std::set<std::string> binaries;
};

// What a session would find in a context model that was written. Its checksums were just computed.
Result<SharedModel> read_back(const Environment& environment, const fs::path& path) {
  const VerifyContextOptions kStructureOnly = {
      .compare_checksums = false, .providers = VerifyContextOptions::Providers::kIgnore};
  EPHOST_ASSIGN_OR_RETURN(const ContextReport report,
                          verify_context(environment, path, kStructureOnly));
  if (!report.problems.empty()) return Status(StatusCode::kFail, report.problems.front());
  SharedModel shared{.path = path, .partitions = {}, .binaries = {}};
  for (const ContextNodeReport& node : report.nodes) {
    shared.partitions.push_back(node.partition_name);
    if (!node.file.empty()) shared.binaries.insert(node.file);
  }
  return shared;
}

uint64_t bytes_of(const fs::path& file) {
  std::error_code ignored;
  const uintmax_t bytes = fs::file_size(file, ignored);
  return ignored ? 0 : bytes;
}

Json to_json(const std::vector<SharedModel>& models, double seconds) {
  Json list = Json::array();
  Json binaries = Json::object();
  for (const SharedModel& model : models) {
    list.push_back({{"path", model.path.native()},
                    {"bytes", bytes_of(model.path)},
                    {"partitions", model.partitions},
                    {"binaries", model.binaries}});
    for (const std::string& name : model.binaries) {
      binaries.set(name, bytes_of(model.path.parent_path() / name));
    }
  }
  return {{"models", list}, {"binaries", binaries}, {"seconds", seconds}};
}

std::string to_table(const std::vector<SharedModel>& models, double seconds) {
  Table files({{"file"}, {"size", Align::kRight}, {"partitions", Align::kRight}, {"binaries"}});
  std::set<fs::path> binaries;
  for (const SharedModel& model : models) {
    files.add_row({model.path.native(), bytes_text(bytes_of(model.path)),
                   std::to_string(model.partitions.size()), join(model.binaries, ", ")});
    for (const std::string& name : model.binaries) {
      binaries.insert(model.path.parent_path() / name);
    }
  }
  for (const fs::path& binary : binaries) {
    files.add_row({binary.native(), bytes_text(bytes_of(binary)), "", ""});
  }
  return formatted("{}\n{} compiled, {}\n", files.to_text(), counted(models.size(), "model"),
                   seconds_text(seconds));
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> parse_key_values(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    const size_t bar = part.find('|');
    if (bar == 0 || bar == std::string_view::npos) {
      return Status(StatusCode::kInvalidArgument,
                    quote(part) + " is not of the form key|value; separate several by spaces");
    }
    pairs.emplace_back(part.substr(0, bar), part.substr(bar + 1));
  }
  return pairs;
}

Result<std::vector<fs::path>> parse_model_list(std::string_view text) {
  std::vector<fs::path> models;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin) {
      return Status(
          StatusCode::kInvalidArgument,
          formatted("the list of models {} has an empty name in it; write model1.onnx,model2.onnx",
                    quote(text)));
    }
    models.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return models;
}

Status compile_sharing(const Environment& environment, const SessionOptions& options,
                       const std::vector<fs::path>& models, const ReportFlags& report) {
  const auto start = std::chrono::steady_clock::now();
  SessionOptions group = options;
  group.add_config_entry("ep.context_enable", "1");
  group.add_config_entry("ep.share_ep_contexts", "1");
  fail_on_crash(group);  // a provider that sessions share cannot be replaced
  group.add_config_entry("ep.share_ep_contexts_group", kSharingGroup);
  const Interrupt interrupt;
  group.set_load_cancellation_flag(interrupt.flag());
  for (size_t i = 0; i < models.size(); ++i) {
    Activity activity("compiling " + models[i].native(), report.shows_progress());
    activity.follow(group);
    if (i + 1 == models.size()) group.add_config_entry("ep.stop_share_ep_contexts", "1");
    const Result<Session> session = Session::create(environment, models[i], group);
    if (!session.ok()) {
      return Status(session.status()).with_context("compiling " + quote(models[i].native()));
    }
  }
  std::vector<SharedModel> written;
  for (const fs::path& model : models) {
    const fs::path path = default_context_model_path(model);
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;  // no provider compiled anything, and the log says so
    EPHOST_ASSIGN_OR_RETURN(SharedModel shared, read_back(environment, path));
    written.push_back(std::move(shared));
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (report.quiet && !report.json()) return Status::ok_status();
  print(report.json() ? to_text(to_json(written, taken.count()))
                      : to_table(written, taken.count()));
  return Status::ok_status();
}

}  // namespace ephost::cli
