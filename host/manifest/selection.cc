#include "host/manifest/selection.h"

#include <algorithm>
#include <array>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/field.h"
#include "host/manifest/names.h"
#include "host/manifest/scalar.h"
#include "host/manifest/yaml_tree.h"

namespace ephost::manifest {

namespace {

namespace fs = std::filesystem;

Status check_format(const Field& field) {
  constexpr int64_t kFormat = 1;
  EPHOST_ASSIGN_OR_RETURN(const int64_t number, field.integer());
  if (number == kFormat) return Status::ok_status();
  return field.error(
      formatted("selection format {} is not supported; this host reads format {}{}", number,
                kFormat, number > kFormat ? ": update the host" : ": write \"selection: 1\""));
}

Result<KeyValues> read_options(const Field& field) {
  EPHOST_ASSIGN_OR_RETURN(const auto entries, field.entries());
  KeyValues options;
  for (const auto& [name, value] : entries) {
    EPHOST_ASSIGN_OR_RETURN(std::string text, value.scalar());
    options.emplace_back(name, std::move(text));
  }
  return options;
}

Result<KeyValues> read_session(const Field& field) {
  EPHOST_ASSIGN_OR_RETURN(const auto entries, field.entries());
  KeyValues session;
  for (const auto& [key, value] : entries) {
    EPHOST_ASSIGN_OR_RETURN(std::string text, value.scalar());
    // Session entries write truth values as ONNX Runtime does.
    if (value.is_plain_boolean()) text.assign(1, *parse_boolean_word(text) ? '1' : '0');
    session.emplace_back(key, std::move(text));
  }
  return session;
}

Result<ProviderChoice> read_choice(const Field& field) {
  static constexpr std::array<std::string_view, 4> kKeys{"provider", "version", "options",
                                                         "devices"};
  ProviderChoice choice;
  if (field.is_scalar()) {
    EPHOST_ASSIGN_OR_RETURN(choice.name, read_name(field, kProviderName));
    return choice;
  }
  EPHOST_ASSIGN_OR_RETURN(const FieldMap map, field.map(kKeys));
  EPHOST_ASSIGN_OR_RETURN(const Field name, map.require("provider", "CPUExecutionProvider"));
  EPHOST_ASSIGN_OR_RETURN(choice.name, read_name(name, kProviderName));
  if (const Field* version = map.find("version")) {
    EPHOST_ASSIGN_OR_RETURN(const std::string text, version->scalar());
    Result<VersionRange> range = VersionRange::parse(text);
    if (!range.ok()) return version->error(range.status().message());
    choice.version = std::move(*range);
  }
  if (const Field* options = map.find("options")) {
    EPHOST_ASSIGN_OR_RETURN(choice.options, read_options(*options));
  }
  if (const Field* devices = map.find("devices")) {
    EPHOST_ASSIGN_OR_RETURN(choice.devices, devices->text_list());
    if (choice.devices.empty()) {
      return devices->error("the list is empty; name a device, or leave the key out to use all");
    }
  }
  return choice;
}

Result<std::vector<ProviderChoice>> read_providers(const Field& field) {
  EPHOST_ASSIGN_OR_RETURN(const std::vector<Field> items, field.list());
  std::vector<ProviderChoice> choices;
  for (const Field& item : items) {
    EPHOST_ASSIGN_OR_RETURN(ProviderChoice choice, read_choice(item));
    const bool known = std::any_of(choices.begin(), choices.end(), [&](const auto& other) {
      return equal_ignoring_case(other.name, choice.name);
    });
    if (known) {
      return item.error(
          formatted("the provider {} is listed twice; remove one of the two", quote(choice.name)));
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace

bool is_selection(const YamlNode& document) {
  return std::any_of(document.entries.begin(), document.entries.end(),
                     [](const YamlEntry& entry) { return entry.key == "selection"; });
}

Result<Selection> read_selection(const YamlNode& document, const fs::path& file) {
  static constexpr std::array<std::string_view, 3> kKeys{"selection", "providers", "session"};
  const Field root = Field::root(document, file);
  if (document.kind == YamlNode::Kind::kMap && !is_selection(document)) {
    return root.error(
        "the key \"selection\" is missing, so this is not a selection; add a line like "
        "\"selection: 1\"");
  }
  EPHOST_ASSIGN_OR_RETURN(const FieldMap map, root.map(kKeys));
  EPHOST_ASSIGN_OR_RETURN(const Field format, map.require("selection", "1"));
  EPHOST_RETURN_IF_ERROR(check_format(format));
  Selection selection;
  selection.file = file;
  EPHOST_ASSIGN_OR_RETURN(const Field providers, map.require("providers", "[cpu]"));
  EPHOST_ASSIGN_OR_RETURN(selection.providers, read_providers(providers));
  if (const Field* session = map.find("session")) {
    EPHOST_ASSIGN_OR_RETURN(selection.session_entries, read_session(*session));
  }
  return selection;
}

Result<Selection> parse_selection(std::string_view text, const fs::path& file) {
  EPHOST_ASSIGN_OR_RETURN(const YamlNode document, parse_yaml(text, file));
  return read_selection(document, file);
}

Result<Selection> load_selection(const fs::path& file) {
  EPHOST_ASSIGN_OR_RETURN(const YamlNode document, load_yaml(file));
  return read_selection(document, file);
}

}  // namespace ephost::manifest
