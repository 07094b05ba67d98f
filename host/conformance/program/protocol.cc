#include "host/conformance/program/protocol.h"

#include <algorithm>
#include <vector>

#include "host/base/format.h"
#include "host/base/json_text.h"
#include "host/base/printable.h"
#include "host/base/text.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/kit/rules.h"
#include "host/manifest/search.h"
#include "host/manifest/yaml_tree.h"

namespace ephost::conformance {
namespace {

namespace fs = std::filesystem;
using manifest::YamlNode;

std::string text_json(std::string_view text) { return json_string(printable(text)); }

// An array of the elements, each written by `write`.
template <class Elements, class Write>
std::string array_json(const Elements& elements, Write write) {
  JsonText array('[');
  for (const auto& element : elements) array.add(write(element));
  return array.text();
}

std::string check_json(const Check& check) {
  return JsonText('{')
      .add("id", text_json(id_of(check)))
      .add("rule", json_number(check.rule))
      .add("rule_title", text_json(rule_title(check.rule)))
      .add("name", text_json(check.name))
      .add("title", text_json(check.title))
      .add("level", text_json(check.level == Level::kBasic ? "basic" : "full"))
      .add("deadline_seconds", json_number(check.deadline.count()))
      .text();
}

bool is_manifest(const fs::path& file) {
  const std::string name = file.filename().string();
  return !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml")) &&
         !name.ends_with(".exclusions.yaml");
}

Result<std::vector<fs::path>> manifests_of(const fs::path& path) {
  std::error_code failure;
  if (!fs::is_directory(path, failure)) return std::vector<fs::path>{path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, failure)) {
    if (is_manifest(entry.path())) files.push_back(entry.path());
  }
  if (failure || files.empty()) {
    return Status(
        StatusCode::kNoSuchFile,
        formatted("the folder {} has no manifests of plugins; name a manifest, or a folder "
                  "with some",
                  quote(path.native())));
  }
  std::ranges::sort(files);
  return files;
}

struct Exclusion {
  std::string check;
  std::string reason;
  bool is_optional = false;
};

// The id of the check that a text names by its id or its name; empty if there is none.
std::string named_check(std::string_view text) {
  for (const Check& check : all_checks()) {
    if (text == check.name || text == id_of(check)) return id_of(check);
  }
  return {};
}

Result<Exclusion> read_exclusion(const YamlNode& node, const fs::path& file) {
  Exclusion exclusion;
  for (const manifest::YamlEntry& entry : node.entries) {
    const std::string& value = entry.value.text;
    if (entry.key == "check") {
      exclusion.check = named_check(value);
      if (exclusion.check.empty()) {
        return manifest::error_at(
            file, entry.value.place,
            formatted("unknown check {}; \"ephost validate --list\" lists all", quote(value)));
      }
    } else if (entry.key == "reason") {
      exclusion.reason = value;
    } else if (entry.key == "optional" && (value == "true" || value == "false")) {
      exclusion.is_optional = value == "true";
    } else {
      return manifest::error_at(file, entry.place,
                                formatted("key {}: an exclusion has \"check\", \"reason\" and "
                                          "\"optional\", which is true or false",
                                          quote(entry.key)));
    }
  }
  if (!exclusion.check.empty() && !exclusion.reason.empty()) return exclusion;
  return manifest::error_at(
      file, node.place, "an exclusion needs \"check\" and \"reason\", why the check is excluded");
}

}  // namespace

std::string id_of(const Check& check) { return formatted("{}.{}", check.rule, check.number); }

std::string list_json() {
  return JsonText('{').add("checks", array_json(all_checks(), check_json)).text();
}

std::string report_json(const Report& report) {
  const std::string findings = array_json(report.findings(), [](const Report::Finding& finding) {
    return JsonText('{')
        .add("what", text_json(finding.what))
        .add("advice", text_json(finding.advice))
        .text();
  });
  const std::string figures = array_json(report.figures(), [](const Report::Figure& figure) {
    return JsonText('{')
        .add("name", text_json(figure.name))
        .add("value", json_number(figure.value))
        .text();
  });
  return JsonText('{')
      .add("findings", findings)
      .add("left_out", text_json(report.reason()))
      .add("figures", figures)
      .text();
}

Result<std::string> plugins_json(const fs::path& path) {
  EPHOST_ASSIGN_OR_RETURN(const std::vector<fs::path> files, manifests_of(path));
  JsonText plugins('[');
  size_t count = 0;
  for (const fs::path& file : files) {
    std::error_code ignored;
    const fs::path absolute = fs::absolute(file, ignored).lexically_normal();
    EPHOST_ASSIGN_OR_RETURN(const manifest::Manifest manifest, manifest::load_manifest(absolute));
    if (manifest.kind == manifest::Kind::kLayer) continue;
    plugins.add(JsonText('{')
                    .add("manifest", json_string(absolute.native()))
                    .add("provider", text_json(manifest.provider))
                    .add("name", text_json(manifest.name))
                    .add("version", text_json(manifest.version.to_string()))
                    .text());
    ++count;
  }
  if (count == 0) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} has layers only, and the checks are for providers; name the "
                            "manifest of a provider, or a folder with some",
                            quote(path.native())));
  }
  return JsonText('{').add("plugins", plugins.text()).text();
}

Result<std::string> exclusions_json(const fs::path& file) {
  EPHOST_ASSIGN_OR_RETURN(const YamlNode root, manifest::load_yaml(file));
  const bool has_list = root.entries.size() == 1 && root.entries[0].key == "exclusions" &&
                        root.entries[0].value.kind == YamlNode::Kind::kSequence;
  if (!has_list) {
    return manifest::error_at(file, root.place,
                              "the file must have one key, \"exclusions\", with a list of checks "
                              "and reasons");
  }
  std::vector<Exclusion> exclusions;
  for (const YamlNode& node : root.entries[0].value.items) {
    EPHOST_ASSIGN_OR_RETURN(Exclusion exclusion, read_exclusion(node, file));
    if (std::ranges::count(exclusions, exclusion.check, &Exclusion::check) > 0) {
      return manifest::error_at(file, node.place,
                                formatted("check {} is excluded twice", exclusion.check));
    }
    exclusions.push_back(std::move(exclusion));
  }
  const std::string list = array_json(exclusions, [](const Exclusion& one) {
    return JsonText('{')
        .add("check", text_json(one.check))
        .add("reason", text_json(one.reason))
        .add("optional", json_bool(one.is_optional))
        .text();
  });
  return JsonText('{').add("exclusions", list).text();
}

std::string error_json(const Status& status) {
  const std::string error = JsonText('{')
                                .add("code", json_number(static_cast<int>(status.code())))
                                .add("message", text_json(status.message()))
                                .text();
  return JsonText('{').add("error", error).text();
}

}  // namespace ephost::conformance
