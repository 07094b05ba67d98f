#include "host/manifest/selection.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "host/base/files/ownership.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/field.h"
#include "host/manifest/names.h"
#include "host/manifest/scalar.h"
#include "host/manifest/yaml_tree.h"

namespace ephost::manifest {

namespace {

namespace fs = std::filesystem;

// Reads a selection as far as it goes, and collects what is wrong with it.
class Reader {
 public:
  explicit Reader(ExaminedSelection& out) : out_(out) {}

  void read(const Field& root) {
    static constexpr std::array<std::string_view, 9> kKeys{"selection", "providers",  "session",
                                                           "layers",    "signatures", "quarantine",
                                                           "isolation", "on_crash",   "sandbox"};
    const std::optional<FieldMap> map = take(root, root.map(kKeys, out_.errors));
    if (!map) return;
    if (const auto format = take(root, map->require("selection", "1"))) check_format(*format);
    if (const auto providers = take(root, map->require("providers", "[cpu]"))) {
      read_providers(*providers);
    }
    if (const Field* session = map->find("session")) read_session(*session);
    if (const Field* layers = map->find("layers")) read_layers(*layers, "session.layers");
    for (const std::string key : {"signatures", "quarantine", "isolation", "on_crash"}) {
      if (const Field* word = map->find(key)) read_entry(*word, "session." + key);
    }
    if (const Field* sandbox = map->find("sandbox")) read_sandbox(*sandbox, "");
  }

 private:
  void refuse(const Field& field, Status error) {
    out_.errors.push_back({field.place(), std::move(error)});
  }

  // The value, or nothing for an error, which is one of `field`.
  template <class T>
  std::optional<T> take(const Field& field, Result<T> result) {
    if (result.ok()) return std::move(result).value();
    refuse(field, std::move(result).status());
    return std::nullopt;
  }

  void check_format(const Field& field) {
    constexpr int64_t kFormat = 1;
    const std::optional<int64_t> number = take(field, field.integer());
    if (!number || *number == kFormat) return;
    refuse(field,
           field.error(formatted(
               "selection format {} is not supported; this host reads format {}{}", *number,
               kFormat, *number > kFormat ? ": update the host" : ": write \"selection: 1\"")));
  }

  void read_providers(const Field& field) {
    const std::optional<std::vector<Field>> items = take(field, field.list());
    if (!items) return;
    for (const Field& item : *items) read_choice(item);
  }

  void read_choice(const Field& field) {
    static constexpr std::array<std::string_view, 8> kKeys{
        "provider", "version", "options", "devices", "layers", "isolation", "on_crash", "sandbox"};
    if (field.is_scalar()) {
      add_choice(field, field, {}, {});
      return;
    }
    const std::optional<FieldMap> map = take(field, field.map(kKeys, out_.errors));
    if (!map) return;
    const std::optional<Field> name = take(field, map->require("provider", "CPUExecutionProvider"));
    ProviderChoice choice;
    ProviderChoicePlaces places;
    if (name) places.version = name->place();
    if (const Field* version = map->find("version")) {
      read_version(*version, choice);
      places.version = version->place();
    }
    if (const Field* options = map->find("options")) {
      read_entries(*options, choice.options, places.options);
    }
    if (const Field* devices = map->find("devices")) read_devices(*devices, choice, places);
    if (!name) return;
    if (const auto read = read_name(*name, kProviderName); read.ok()) {
      if (const Field* layers = map->find("layers")) {
        read_layers(*layers, "session.layers." + *read);
      }
      for (const std::string key : {"isolation", "on_crash"}) {
        if (const Field* word = map->find(key)) {
          read_entry(*word, formatted("session.{}.{}", key, *read));
        }
      }
      if (const Field* sandbox = map->find("sandbox")) read_sandbox(*sandbox, "." + *read);
    }
    add_choice(field, *name, std::move(choice), std::move(places));
  }

  // Two spellings of a key must not compete: which of them counts would depend on their order.
  void add_entry(const Field& field, std::string key, std::string value) {
    KeyValues& entries = out_.selection.session_entries;
    const auto known = std::ranges::find(entries, key, &KeyValues::value_type::first);
    if (known != entries.end()) {
      const Place place = out_.session_entries[static_cast<size_t>(known - entries.begin())];
      refuse(field, field.error(formatted(
                        "the entry {} is stated in line {} already; remove one of the two",
                        quote(key), place.line)));
    }
    entries.emplace_back(std::move(key), std::move(value));
    out_.session_entries.push_back(field.place());
  }

  // Layers are another spelling of a configuration entry.
  void read_layers(const Field& field, std::string key) {
    const std::optional<std::vector<std::string>> names = take(field, field.text_list());
    if (!names) return;
    add_entry(field, std::move(key), join(*names, ";"));
  }

  // So are the files of a sandbox, which the entries check. `of`: the end of their keys.
  void read_sandbox(const Field& field, const std::string& of) {
    static constexpr std::array<std::string_view, 2> kKeys{"readable", "writable"};
    const std::optional<FieldMap> map = take(field, field.map(kKeys, out_.errors));
    if (!map) return;
    for (const std::string_view key : kKeys) {
      const Field* const paths = map->find(key);
      if (paths == nullptr) continue;
      const std::optional<std::vector<std::string>> texts = take(*paths, paths->text_list());
      if (texts) add_entry(*paths, formatted("session.sandbox.{}{}", key, of), join(*texts, ";"));
    }
  }

  // So are policies of one word, which the entry checks.
  void read_entry(const Field& field, std::string key) {
    std::optional<std::string> word = take(field, field.scalar());
    if (!word) return;
    add_entry(field, std::move(key), *std::move(word));
  }

  void read_version(const Field& field, ProviderChoice& choice) {
    const std::optional<std::string> text = take(field, field.scalar());
    if (!text) return;
    Result<VersionRange> range = VersionRange::parse(*text);
    if (range.ok()) {
      choice.version = std::move(range).value();
    } else {
      refuse(field, field.error(range.status().message()));
    }
  }

  void read_devices(const Field& field, ProviderChoice& choice, ProviderChoicePlaces& places) {
    const std::optional<std::vector<Field>> items = take(field, field.list());
    if (!items) return;
    if (items->empty()) {
      refuse(field,
             field.error("the list is empty; name a device, or leave the key out to use all"));
    }
    for (const Field& item : *items) {
      std::optional<std::string> text = take(item, item.text());
      if (!text) continue;
      if (std::ranges::find(choice.devices, *text) != choice.devices.end()) {
        refuse(item,
               item.error(formatted("{} is listed twice; remove one of the two", quote(*text))));
        continue;
      }
      choice.devices.push_back(*std::move(text));
      places.devices.push_back(item.place());
    }
  }

  // `item` is the whole element of the list, which has the name in `name_field`.
  void add_choice(const Field& item, const Field& name_field, ProviderChoice choice,
                  ProviderChoicePlaces places) {
    std::optional<std::string> name = take(name_field, read_name(name_field, kProviderName));
    if (!name) return;
    std::vector<ProviderChoice>& choices = out_.selection.providers;
    const bool known = std::any_of(choices.begin(), choices.end(), [&](const auto& other) {
      return equal_ignoring_case(other.name, *name);
    });
    if (known) {
      refuse(item, item.error(formatted("the provider {} is listed twice; remove one of the two",
                                        quote(*name))));
      return;
    }
    choice.name = *std::move(name);
    places.name = name_field.place();
    if (item.is_scalar()) places.version = places.name;
    choices.push_back(std::move(choice));
    out_.providers.push_back(std::move(places));
  }

  void read_entries(const Field& field, KeyValues& out_values, std::vector<Place>& out_places) {
    const auto entries = take(field, field.entries());
    if (!entries) return;
    for (const auto& [name, value] : *entries) {
      std::optional<std::string> text = take(value, value.scalar());
      if (!text) continue;
      out_values.emplace_back(name, *std::move(text));
      out_places.push_back(value.place());
    }
  }

  void read_session(const Field& field) {
    const auto entries = take(field, field.entries());
    if (!entries) return;
    for (const auto& [key, value] : *entries) {
      std::optional<std::string> text = take(value, value.scalar());
      if (!text) continue;
      // Session entries write truth values as ONNX Runtime does.
      if (value.is_plain_boolean()) text->assign(1, *parse_boolean_word(*text) ? '1' : '0');
      add_entry(value, key, *std::move(text));
    }
  }

  ExaminedSelection& out_;
};

ExaminedSelection examine(const YamlNode& document, const fs::path& file) {
  ExaminedSelection examined;
  examined.selection.file = file;
  const Field root = Field::root(document, file);
  if (document.kind == YamlNode::Kind::kMap && !is_selection(document)) {
    examined.errors.push_back(
        {root.place(), root.error("the key \"selection\" is missing, so this is not a selection; "
                                  "add a line like \"selection: 1\"")});
    return examined;
  }
  Reader(examined).read(root);
  return examined;
}

}  // namespace

bool is_selection(const YamlNode& document) {
  return std::any_of(document.entries.begin(), document.entries.end(),
                     [](const YamlEntry& entry) { return entry.key == "selection"; });
}

ExaminedSelection examine_selection(std::string_view text, const fs::path& file) {
  Place place;
  const Result<YamlNode> document = parse_yaml(text, file, &place);
  if (document.ok()) return examine(*document, file);
  ExaminedSelection examined;
  examined.selection.file = file;
  examined.errors.push_back({place, document.status()});
  return examined;
}

Result<Selection> read_selection(const YamlNode& document, const fs::path& file) {
  ExaminedSelection examined = examine(document, file);
  if (!examined.errors.empty()) return std::move(examined.errors.front().status);
  return std::move(examined.selection);
}

Result<Selection> parse_selection(std::string_view text, const fs::path& file) {
  EPHOST_ASSIGN_OR_RETURN(const YamlNode document, parse_yaml(text, file));
  return read_selection(document, file);
}

Result<Selection> load_selection(const fs::path& file) {
  EPHOST_RETURN_IF_ERROR(check_writers(file, FilesBeside::kAreNotUsed));
  EPHOST_ASSIGN_OR_RETURN(const YamlNode document, load_yaml(file));
  return read_selection(document, file);
}

}  // namespace ephost::manifest
