// `ephost check-selection [FILE]`: checks a selection file as far as that needs no model.
#include <ephost/check_selection.h>

#include <memory>
#include <string>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/options/options.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/output.h"
#include "host/cli/report/selection_report.h"
#include "host/cli/shell/command.h"

namespace ephost::cli {
namespace {

struct CheckSelectionFlags {
  EnvironmentFlags environment;
  ReportFlags report;
  SelectionFlags selection;
  bool no_plugins = false;
};

std::string selection_report_text(const SelectionFile& file, const SelectionReport& report) {
  std::string text = providers_text(report);
  if (!report.findings.empty()) text += "\n" + findings_text(file.path, report);
  const std::string name = printable(quote(file.path.native()));
  return text + (report.findings.empty()
                     ? formatted("\n{} ({}) has no findings\n", name, file.origin)
                     : formatted("\n{} ({}) has {}\n", name, file.origin,
                                 counted(report.findings.size(), "finding")));
}

Result<int> run(const CheckSelectionFlags& flags) {
  apply(flags.report);
  const SelectionFile file = find_selection(flags.selection);
  if (file.path.empty()) {
    return Status(StatusCode::kNoSuchFile,
                  "there is no selection to check: none is installed for the user or the system; "
                  "give a FILE, or set EPHOST_SELECTION");
  }
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, open_environment(flags.environment));
  const auto checked = [&] {
    const Activity activity("checking " + file.path.native(), flags.report.shows_progress());
    return check_selection(environment, file.path,
                           flags.no_plugins ? SelectionCheck::kFind : SelectionCheck::kLoad);
  }();
  EPHOST_RETURN_IF_ERROR(checked.status());
  const SelectionReport& report = *checked;
  const bool is_sound = report.findings.empty();
  if (flags.report.json()) {
    Json json = selection_json(file, report);
    json.set("ok", is_sound);
    print(to_text(json));
  } else {
    print(selection_report_text(file, report));
  }
  return is_sound ? kExitSuccess : kExitFailure;
}

}  // namespace

Command add_check_selection(ArgumentParser& root) {
  auto flags = std::make_shared<CheckSelectionFlags>();
  ArgumentParser app = root.add_subcommand(
      "check-selection", "Check a selection file: its format, plugins, options and devices");
  app.footer("Exit status: 0 for a selection without findings, 1 for one with findings.");
  app.add("FILE,--selection", flags->selection.file,
          "A selection file [the one of EPHOST_SELECTION, of the user or of the system]")
      .type_name("FILE");
  app.add_flag("--no-plugins", flags->no_plugins, "Load no plugins; use only their manifests");
  add_environment_flags(app, flags->environment);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
