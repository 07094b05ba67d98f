#include "host/cli/project/plugin_project.h"

#include <algorithm>
#include <array>
#include <span>
#include <system_error>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/files/folders/directory.h"
#include "host/base/files/folders/temporary_folder.h"
#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/base/text.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCommon = "common";

bool is_lower(char letter) { return letter >= 'a' && letter <= 'z'; }

// "AcmeNpu" for "acme_npu".
std::string in_pascal_case(std::string_view name) {
  std::string result;
  bool begins_word = true;
  for (const char letter : name) {
    if (letter != '_') {
      const bool is_raised = begins_word && is_lower(letter);
      result += is_raised ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
    begins_word = letter == '_';
  }
  return result;
}

// The files below `folder`, relative to it.
Result<std::vector<fs::path>> files_below(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (const std::string& name : list_directory(folder, failure)) {
    if (!fs::is_directory(folder / name, failure)) {
      files.emplace_back(name);
      continue;
    }
    EPHOST_ASSIGN_OR_RETURN(const std::vector<fs::path> inner, files_below(folder / name));
    for (const fs::path& file : inner) files.push_back(name / file);
  }
  if (!failure) return files;
  return Status(StatusCode::kNotFound,
                formatted("the templates of the plugin SDK are not installed: cannot read {}: {}; "
                          "install the SDK with the prefix of ephost (package ephost-plugin-sdk)",
                          quote(folder.native()), failure.message()));
}

Status write_one(const fs::path& source, const fs::path& target, const PluginProject& project) {
  std::error_code failure;
  fs::create_directories(target.parent_path(), failure);
  EPHOST_ASSIGN_OR_RETURN(const std::string text, read_file(source));
  EPHOST_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(target));
  const std::string filled = fill_template(text, project);
  EPHOST_RETURN_IF_ERROR(file.append(std::as_bytes(std::span(filled))));
  EPHOST_RETURN_IF_ERROR(file.commit());
  // Scripts stay executable.
  constexpr auto kExecute = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  const fs::perms added = fs::status(source, failure).permissions() & kExecute;
  fs::permissions(target, added, fs::perm_options::add, failure);
  return Status::ok_status();
}

}  // namespace

std::string plugin_name_problem(std::string_view name) {
  constexpr size_t kMost = 64;
  const auto is_allowed = [](char letter) {
    return is_lower(letter) || (letter >= '0' && letter <= '9') || letter == '_';
  };
  if (name.empty() || name.size() > kMost || !is_lower(name.front()) || name.back() == '_' ||
      name.find("__") != std::string_view::npos || !std::ranges::all_of(name, is_allowed)) {
    return formatted(
        "{} is not a name for a plugin: write at most 64 of a-z, 0-9 and single _ between them, "
        "with a letter first, e.g. acme_npu",
        quote(name));
  }
  if (name == "cpu") return "\"cpu\" is the name of the provider that every session has";
  return {};
}

std::string vendor_problem(std::string_view vendor) {
  constexpr size_t kMost = 100;
  const bool is_plain = is_valid_utf8(vendor) && printable_line(vendor) == vendor &&
                        vendor.find_first_of("\"\\$;<>@") == std::string_view::npos;
  if (is_plain && !vendor.empty() && vendor.size() <= kMost) return {};
  return formatted(
      "{} cannot be a vendor here: write 1 to 100 bytes of text without any of \" \\ $ ; < > @",
      quote(vendor));
}

std::string provider_type_name(std::string_view name) {
  return in_pascal_case(name) + "ExecutionProvider";
}

std::string fill_template(std::string_view text, const PluginProject& project) {
  // The vendor's name begins with another one, so it comes first.
  const std::array<std::pair<std::string_view, std::string>, 3> names = {
      {{"Acme Corp.", project.vendor},
       {"Acme", in_pascal_case(project.name)},
       {"acme", project.name}}};
  std::string filled;
  while (!text.empty()) {
    const auto name = std::ranges::find_if(
        names, [&](const auto& candidate) { return text.starts_with(candidate.first); });
    const bool is_name = name != names.end();
    filled += is_name ? std::string_view(name->second) : text.substr(0, 1);
    text.remove_prefix(is_name ? name->first.size() : 1);
  }
  return filled;
}

Result<std::vector<fs::path>> write_plugin_project(const fs::path& templates,
                                                   const PluginProject& project,
                                                   const fs::path& folder) {
  std::vector<fs::path> written;
  EPHOST_ASSIGN_OR_RETURN(TemporaryFolder made, TemporaryFolder::create_beside(folder));
  for (const std::string_view part : {kCommon, std::string_view(project.kind)}) {
    EPHOST_ASSIGN_OR_RETURN(const std::vector<fs::path> files, files_below(templates / part));
    for (const fs::path& file : files) {
      written.emplace_back(fill_template(file.native(), project));
      EPHOST_RETURN_IF_ERROR(
          write_one(templates / part / file, made.path() / written.back(), project));
    }
  }
  EPHOST_RETURN_IF_ERROR(made.keep_as(folder));
  std::ranges::sort(written);
  return written;
}

Result<fs::path> template_folder() {
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  if (!failure) return (program.parent_path() / EPHOST_TEMPLATES_FROM_BIN).lexically_normal();
  return Status(StatusCode::kFail,
                formatted("cannot tell where this program is installed: /proc/self/exe: {}",
                          failure.message()));
}

}  // namespace ephost::cli
