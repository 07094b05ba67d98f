// `ephost new-plugin NAME`: writes the project of a plugin that builds and passes `ephost
// validate`.
#include <memory>
#include <string>
#include <string_view>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/project/plugin_project.h"
#include "host/cli/report/json.h"
#include "host/cli/report/output.h"
#include "host/cli/shell/command.h"

namespace ephost::cli {
namespace {

struct NewPluginFlags {
  ReportFlags report;
  std::string name;
  std::string language;
  std::string kind;
  std::string vendor;
  std::filesystem::path folder;
};

// The folder that was asked for, without a slash at its end.
std::filesystem::path project_folder(const NewPluginFlags& flags) {
  if (flags.folder.empty()) return flags.name;
  const std::filesystem::path folder = flags.folder.lexically_normal();
  return folder.has_filename() ? folder : folder.parent_path();
}

Result<int> run(const NewPluginFlags& flags) {
  apply(flags.report);
  const std::filesystem::path folder = project_folder(flags);
  const PluginProject project = {.name = flags.name,
                                 .vendor = flags.vendor.empty() ? flags.name : flags.vendor,
                                 .kind = flags.language + "_" + flags.kind};
  EPHOST_ASSIGN_OR_RETURN(const std::filesystem::path templates, template_folder());
  EPHOST_ASSIGN_OR_RETURN(const auto files, write_plugin_project(templates, project, folder));
  const std::string provider = provider_type_name(project.name);
  if (flags.report.json()) {
    Json names = Json::array();
    for (const std::filesystem::path& file : files) names.push_back(file.native());
    print(to_text(Json{{"folder", folder.native()},
                       {"name", project.name},
                       {"provider", provider},
                       {"vendor", project.vendor},
                       {"files", names}}));
    return kExitSuccess;
  }
  std::string text = formatted("{}: the plugin {} with the provider {}\n",
                               printable_line(folder.native()), project.name, provider);
  for (const std::filesystem::path& file : files) text += formatted("  {}\n", file.native());
  print(text + "README.md there says what comes next; ./ci.sh builds, checks and packages it\n");
  return kExitSuccess;
}

}  // namespace

Command add_new_plugin(ArgumentParser& root) {
  auto flags = std::make_shared<NewPluginFlags>();
  ArgumentParser app = root.add_subcommand(
      "new-plugin", "Write the project of a new plugin: sources, manifest, build, checks, package");
  app.footer("The project needs the plugin SDK; plugin_sdk/VENDOR_GUIDE.md leads on from there.");
  app.add("NAME", flags->name, "Short name of the plugin, e.g. acme_npu")
      .type_name("NAME")
      .required()
      .check(plugin_name_problem);
  app.add("--language", flags->language, "Language of the sources").one_of({"c", "cpp"}).required();
  app.add("--kind", flags->kind,
          "What the provider does: run single nodes, or compile several into one and cache that")
      .one_of({"kernels", "compiler"})
      .required();
  app.add("--vendor", flags->vendor, "The vendor of the plugin [NAME]")
      .type_name("TEXT")
      .check(vendor_problem);
  app.add("-o,--output", flags->folder, "The folder to write, which must not exist [NAME]")
      .type_name("DIR");
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
