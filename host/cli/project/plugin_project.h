// The project of a new plugin, made from the SDK's templates (plugin_sdk/templates): folders with
// the files of a plugin that is called acme and made by "Acme Corp.", in which only names change.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::cli {

// What is wrong with the short name of a new plugin, or with its vendor; empty: nothing. Both
// become part of sources in C, YAML and CMake.
[[nodiscard]] std::string plugin_name_problem(std::string_view name);
[[nodiscard]] std::string vendor_problem(std::string_view vendor);

// The type name of the provider of a plugin: "AcmeNpuExecutionProvider" for "acme_npu".
[[nodiscard]] std::string provider_type_name(std::string_view name);

struct PluginProject {
  std::string name;    // without a plugin_name_problem
  std::string vendor;  // without a vendor_problem
  std::string kind;    // of the template: the name of its folder, e.g. "c_kernels"
};

// The text of a template, or the name of its file, with the names of the project in it.
[[nodiscard]] std::string fill_template(std::string_view text, const PluginProject& project);

// Writes the project into `folder`, which does not exist: everything or nothing. Returns the files,
// relative to it, sorted. NOT_FOUND where `templates` does not have the template; INVALID_ARGUMENT
// where `folder` exists; FAIL where it cannot be written.
[[nodiscard]] Result<std::vector<std::filesystem::path>> write_plugin_project(
    const std::filesystem::path& templates, const PluginProject& project,
    const std::filesystem::path& folder);

// Where the templates of the installation or build tree of this program are. FAIL where the system
// does not tell which file the program is in.
[[nodiscard]] Result<std::filesystem::path> template_folder();

}  // namespace ephost::cli
