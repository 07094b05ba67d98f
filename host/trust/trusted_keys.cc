#include "host/trust/trusted_keys.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "host/base/environment.h"
#include "host/base/files/file_error.h"
#include "host/base/files/folders/directory.h"
#include "host/base/files/private_files.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/base/utc_text.h"
#include "host/manifest/field.h"
#include "host/manifest/names.h"
#include "host/manifest/yaml_tree.h"
#include "host/trust/own_files.h"
#include "host/trust/signed_facts.h"

namespace ephost::trust {
namespace {

namespace fs = std::filesystem;
using manifest::Field;
using manifest::FieldMap;

constexpr const char* kRevocationsName = "revoked.yaml";

Status check_format(const Field& field, std::string_view what) {
  EPHOST_ASSIGN_OR_RETURN(const int64_t number, field.integer());
  if (number == 1) return {};
  return field.error(
      formatted("{} format {} is not supported; this host reads format 1", what, number));
}

Result<TrustedKey> read_key(const Field& root) {
  static constexpr std::array<std::string_view, 6> kKeys{"trust",     "key",    "name",
                                                         "providers", "models", "expires"};
  EPHOST_ASSIGN_OR_RETURN(const FieldMap map, root.map(kKeys));
  EPHOST_ASSIGN_OR_RETURN(const Field format, map.require("trust", "1"));
  EPHOST_RETURN_IF_ERROR(check_format(format, "trust"));
  TrustedKey key;
  EPHOST_ASSIGN_OR_RETURN(const Field field, map.require("key", "RW..."));
  EPHOST_ASSIGN_OR_RETURN(const std::string text, field.text());
  const Result<PublicKey> decoded = decode_public_key(text);
  if (!decoded.ok()) return field.error(decoded.status().message());
  key.key = *decoded;
  if (const Field* const name = map.find("name")) {
    EPHOST_ASSIGN_OR_RETURN(key.name, name->scalar());
  }
  if (const Field* const providers = map.find("providers")) {
    EPHOST_ASSIGN_OR_RETURN(key.providers, providers->text_list());
    for (const std::string& provider : key.providers) {
      if (const Status pin = check_pin(provider); !pin.ok()) return providers->error(pin.message());
    }
    if (key.providers.empty()) {
      return providers->error("the list is empty; name a provider, or leave the key out");
    }
  }
  if (const Field* const models = map.find("models")) {
    EPHOST_ASSIGN_OR_RETURN(key.models, models->boolean());
  }
  if (const Field* const expires = map.find("expires")) {
    EPHOST_ASSIGN_OR_RETURN(const std::string time, expires->scalar());
    key.expires = parse_time(time);
    if (!key.expires) {
      return expires->error(formatted(
          "{} is not a time; write a day like 2027-01-31, or 2027-01-31T12:00:00Z", quote(time)));
    }
  }
  return key;
}

Status read_revocations(const Field& root, Revocations& out) {
  static constexpr std::array<std::string_view, 3> kKeys{"revocations", "keys", "files"};
  EPHOST_ASSIGN_OR_RETURN(const FieldMap map, root.map(kKeys));
  EPHOST_ASSIGN_OR_RETURN(const Field format, map.require("revocations", "1"));
  EPHOST_RETURN_IF_ERROR(check_format(format, "revocation"));
  if (const Field* const keys = map.find("keys")) {
    EPHOST_ASSIGN_OR_RETURN(const auto items, keys->list());
    for (const Field& item : items) {
      EPHOST_ASSIGN_OR_RETURN(const std::string text, item.scalar());
      const auto id = parse_key_id(text);
      if (!id) {
        return item.error(formatted(
            "{} is not the id of a key; write the 16 hexadecimal digits of it", quote(text)));
      }
      out.keys.insert(*id);
    }
  }
  if (const Field* const files = map.find("files")) {
    EPHOST_ASSIGN_OR_RETURN(const auto items, files->list());
    for (const Field& item : items) {
      EPHOST_ASSIGN_OR_RETURN(std::string text, item.scalar());
      text = ascii_lower(text);
      if (text.size() != 64 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
        return item.error(formatted(
            "{} is not a SHA-256 checksum; write the 64 hexadecimal digits that sha256sum prints",
            quote(text)));
      }
      out.files.insert(std::move(text));
    }
  }
  return {};
}

bool has_key(const manifest::YamlNode& document, std::string_view key) {
  return std::ranges::any_of(document.entries,
                             [&](const manifest::YamlEntry& entry) { return entry.key == key; });
}

Status read_one(const fs::path& file, Owner owner, bool takes_keys, TrustedKeys& out) {
  EPHOST_ASSIGN_OR_RETURN(const std::string text,
                          read_own_file(file, owner, manifest::kMaxYamlBytes));
  TrustedKey key;
  if (file.extension() == ".pub") {
    const Result<PublicKey> parsed = parse_public_key(text);
    if (!parsed.ok()) {
      return Status(parsed.status().code(),
                    formatted("{}: {}", quote(file.native()), parsed.status().message()));
    }
    key.key = *parsed;
    key.name = file.stem().native();
  } else {
    EPHOST_ASSIGN_OR_RETURN(const manifest::YamlNode document, manifest::parse_yaml(text, file));
    const Field root = Field::root(document, file);
    if (has_key(document, "revocations")) return read_revocations(root, out.revoked);
    EPHOST_ASSIGN_OR_RETURN(key, read_key(root));
  }
  if (!takes_keys) return {};
  key.file = file;
  key.is_machine = owner == Owner::kRoot;
  out.keys.push_back(std::move(key));
  return {};
}

Status read_folder(const fs::path& folder, Owner owner, bool takes_keys, TrustedKeys& out) {
  if (folder.empty()) return {};
  const Status checked = check_own_folder(folder, owner);
  if (checked.code() == StatusCode::kNoSuchFile) return {};
  EPHOST_RETURN_IF_ERROR(checked);
  std::error_code error;
  const std::vector<std::string> names = list_directory(folder, error);
  if (error) return file_error("list", folder, error.value());
  for (const std::string& name : names) {
    const fs::path file = folder / name;
    const fs::path extension = file.extension();
    const bool is_ours = extension == ".yaml" || extension == ".yml" || extension == ".pub";
    if (name.starts_with('.') || !is_ours) continue;
    EPHOST_RETURN_IF_ERROR(read_one(file, owner, takes_keys, out));
  }
  return {};
}

mode_t folder_mode(const fs::path& folder) {
  return folder == default_trust_places().machine ? 0755 : 0700;
}

}  // namespace

TrustPlaces default_trust_places() {
  TrustPlaces places{.machine = "/etc/ephost/trust"};
  if (const fs::path config = user_folder(UserFolder::kConfig); !config.empty()) {
    places.user = config / "ephost" / "trust";
  }
  return places;
}

bool TrustedKey::may_sign_plugin(std::string_view provider) const {
  if (providers.empty()) return !models;
  return std::ranges::find(providers, provider) != providers.end();
}

bool TrustedKey::may_sign_models() const { return models || providers.empty(); }

Result<TrustedKeys> load_trusted_keys(const TrustPlaces& places, bool user_keys) {
  TrustedKeys all;
  EPHOST_RETURN_IF_ERROR(read_folder(places.machine, Owner::kRoot, true, all));
  EPHOST_RETURN_IF_ERROR(read_folder(places.user, Owner::kRootOrUser, user_keys, all));
  return all;
}

Status add_trusted_key(const fs::path& folder, const TrustedKey& key) {
  EPHOST_RETURN_IF_ERROR(make_private_folders(folder, folder_mode(folder)));
  EPHOST_RETURN_IF_ERROR(check_own_folder(folder, Owner::kRootOrUser));
  std::string text = formatted("trust: 1\nkey: {}\n", encode_public_key(key.key));
  if (!key.name.empty()) text += formatted("name: {}\n", quote(key.name));
  if (!key.providers.empty()) text += formatted("providers: [{}]\n", join(key.providers, ", "));
  if (key.models) text += "models: true\n";
  if (key.expires) text += formatted("expires: {}\n", utc_text(*key.expires));
  return write_own_file(folder / (to_text(key.key.id) + ".yaml"), text, 0644);
}

Status revoke(const fs::path& folder, const Revocations& revoked) {
  EPHOST_RETURN_IF_ERROR(make_private_folders(folder, folder_mode(folder)));
  EPHOST_RETURN_IF_ERROR(check_own_folder(folder, Owner::kRootOrUser));
  const fs::path file = folder / kRevocationsName;
  TrustedKeys known;
  Status read = read_one(file, Owner::kRootOrUser, false, known);
  if (!read.ok() && read.code() != StatusCode::kNoSuchFile) return read;
  known.revoked.keys.insert(revoked.keys.begin(), revoked.keys.end());
  known.revoked.files.insert(revoked.files.begin(), revoked.files.end());
  std::string text = "revocations: 1\n";
  if (!known.revoked.keys.empty()) text += "keys:\n";
  for (const KeyId& id : known.revoked.keys) text += formatted("  - \"{}\"\n", to_text(id));
  if (!known.revoked.files.empty()) text += "files:\n";
  for (const std::string& sha256 : known.revoked.files) text += formatted("  - \"{}\"\n", sha256);
  return write_own_file(file, text, 0644);
}

Status check_pin(std::string_view provider) {
  const std::string problem = manifest::name_problem(provider, manifest::kProviderName);
  if (problem.empty()) return {};
  return Status(StatusCode::kInvalidArgument,
                formatted("{} is not the type name of a provider: {}", quote(provider), problem));
}

}  // namespace ephost::trust
