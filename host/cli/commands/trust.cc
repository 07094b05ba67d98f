// `ephost trust add|list|remove|revoke`: whose signatures count.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/files/file_error.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/base/text.h"
#include "host/base/utc_text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/report/json.h"
#include "host/cli/report/output.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"
#include "host/trust/policy.h"
#include "host/trust/signed_facts.h"
#include "host/trust/trusted_keys.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;
using trust::TrustedKey;
using trust::TrustedKeys;

struct TrustFlags {
  ReportFlags report;
  bool system = false;
  std::string key;  // a file, the key itself, or of a known key its id or name
  std::string name;
  std::vector<std::string> providers;
  bool models = false;
  std::string expires;
  std::vector<std::string> revoked;
};

Result<fs::path> trust_folder(const TrustFlags& flags) {
  const trust::TrustPlaces places = trust::default_trust_places();
  const fs::path& folder = flags.system ? places.machine : places.user;
  if (!folder.empty()) return folder;
  return Status(StatusCode::kInvalidArgument,
                "cannot find your configuration directory; set XDG_CONFIG_HOME or HOME, or give "
                "--system");
}

Result<TrustedKeys> load_keys() {
  return trust::load_trusted_keys(trust::default_trust_places(), true);
}

std::string vouches_for(const TrustedKey& key) {
  std::vector<std::string> parts = key.providers;
  if (key.may_sign_models()) parts.emplace_back("models");
  if (key.providers.empty() && !key.models) return "anything";
  return join(parts, ", ");
}

Json key_json(const TrustedKey& key, const TrustedKeys& all) {
  return {{"id", trust::to_text(key.key.id)},
          {"name", key.name},
          {"key", trust::encode_public_key(key.key)},
          {"providers", key.providers},
          {"models", key.may_sign_models()},
          {"expires", key.expires ? Json(utc_text(*key.expires)) : Json()},
          {"revoked", all.revoked.keys.contains(key.key.id)},
          {"origin", key.is_machine ? "system" : "user"},
          {"file", key.file.native()}};
}

Result<int> list_keys(const TrustFlags& flags) {
  EPHOST_ASSIGN_OR_RETURN(const TrustedKeys all, load_keys());
  EPHOST_ASSIGN_OR_RETURN(const trust::MachinePolicy machine,
                          trust::load_machine_policy(trust::machine_policy_file()));
  if (flags.report.json()) {
    Json keys = Json::array();
    for (const TrustedKey& key : all.keys) keys.push_back(key_json(key, all));
    Json revoked_keys = Json::array();
    for (const trust::KeyId& id : all.revoked.keys) revoked_keys.push_back(trust::to_text(id));
    print(to_text(Json{{"keys", keys},
                       {"revoked_keys", revoked_keys},
                       {"revoked_files", all.revoked.files},
                       {"machine_policy", trust::signature_policy_name(machine.signatures)},
                       {"user_keys", machine.user_keys}}));
    return kExitSuccess;
  }
  Table table({{"key"}, {"name"}, {"vouches for"}, {"until"}, {"origin"}});
  for (const TrustedKey& key : all.keys) {
    table.add_row({trust::to_text(key.key.id), key.name, vouches_for(key),
                   all.revoked.keys.contains(key.key.id) ? "revoked"
                   : key.expires                         ? utc_text(*key.expires)
                                                         : "",
                   key.is_machine ? "system" : "user"});
  }
  std::string text = table.empty() ? "no key is trusted\n" : table.to_text();
  for (const trust::KeyId& id : all.revoked.keys) {
    text += formatted("revoked: key {}\n", trust::to_text(id));
  }
  for (const std::string& sha256 : all.revoked.files) {
    text += formatted("revoked: file {}\n", sha256);
  }
  if (machine.signatures != SignaturePolicy::kOff) {
    text +=
        formatted("this machine's policy: {}\n", trust::signature_policy_name(machine.signatures));
  }
  if (!machine.user_keys) text += "this machine's policy: keys of users do not count\n";
  print(text);
  return kExitSuccess;
}

Result<trust::PublicKey> read_public_key(const std::string& text) {
  if (auto key = trust::decode_public_key(text); key.ok()) return key;
  EPHOST_ASSIGN_OR_RETURN(const std::string file, read_file(text, trust::kMaxKeyFileBytes));
  auto key = trust::parse_public_key(file);
  if (key.ok()) return key;
  return Status(key.status().code(), formatted("{}: {}", quote(text), key.status().message()));
}

Result<int> add_key(const TrustFlags& flags) {
  EPHOST_ASSIGN_OR_RETURN(const fs::path folder, trust_folder(flags));
  TrustedKey key{.name = flags.name, .providers = flags.providers, .models = flags.models};
  EPHOST_ASSIGN_OR_RETURN(key.key, read_public_key(flags.key));
  for (const std::string& provider : flags.providers) {
    EPHOST_RETURN_IF_ERROR(trust::check_pin(provider));
  }
  if (!flags.expires.empty()) {
    key.expires = trust::parse_time(flags.expires);
    if (!key.expires) {
      return Status(
          StatusCode::kInvalidArgument,
          formatted("--expires is {}; give a day like 2027-01-31, or 2027-01-31T12:00:00Z",
                    quote(flags.expires)));
    }
  }
  EPHOST_RETURN_IF_ERROR(trust::add_trusted_key(folder, key));
  const std::string id = trust::to_text(key.key.id);
  if (flags.report.json()) {
    print(to_text(Json{{"id", id}, {"folder", folder.native()}}));
  } else if (!flags.report.quiet) {
    print(formatted("the key {} is trusted for {}\n", id, vouches_for(key)));
  }
  return kExitSuccess;
}

Result<int> remove_key(const TrustFlags& flags) {
  EPHOST_ASSIGN_OR_RETURN(const TrustedKeys all, load_keys());
  const auto is_meant = [&](const TrustedKey& key) {
    return key.is_machine == flags.system &&
           (equal_ignoring_case(trust::to_text(key.key.id), flags.key) || key.name == flags.key);
  };
  std::vector<TrustedKey> meant;
  std::ranges::copy_if(all.keys, std::back_inserter(meant), is_meant);
  if (meant.empty()) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("no key {} is trusted; \"ephost trust list\" lists them", quote(flags.key)));
  }
  // One key may be in several files, and all of them have to go.
  const std::string id = trust::to_text(meant.front().key.id);
  Json files = Json::array();
  for (const TrustedKey& key : meant) {
    if (key.key.id != meant.front().key.id) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("several keys are called {}; give the id of one", quote(flags.key)));
    }
    files.push_back(key.file.native());
  }
  for (const TrustedKey& key : meant) {
    std::error_code error;
    if (!fs::remove(key.file, error)) return file_error("remove", key.file, error.value());
  }
  if (flags.report.json()) {
    print(to_text(Json{{"id", id}, {"files", files}}));
  } else if (!flags.report.quiet) {
    print(formatted("the key {} is not trusted any longer\n", id));
  }
  return kExitSuccess;
}

// An id of a key, the SHA-256 of a file, or a file.
Status add_revocation(const std::string& text, trust::Revocations& out) {
  if (const auto id = trust::parse_key_id(text)) {
    out.keys.insert(*id);
    return {};
  }
  const std::string lower = ascii_lower(text);
  if (lower.size() == 64 && lower.find_first_not_of("0123456789abcdef") == std::string::npos) {
    out.files.insert(lower);
    return {};
  }
  EPHOST_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(text));
  EPHOST_ASSIGN_OR_RETURN(std::string sha256, sha256_of(file.bytes()));
  out.files.insert(std::move(sha256));
  return {};
}

Result<int> revoke(const TrustFlags& flags) {
  EPHOST_ASSIGN_OR_RETURN(const fs::path folder, trust_folder(flags));
  trust::Revocations revoked;
  for (const std::string& text : flags.revoked) {
    EPHOST_RETURN_IF_ERROR(add_revocation(text, revoked));
  }
  EPHOST_RETURN_IF_ERROR(trust::revoke(folder, revoked));
  if (flags.report.json()) {
    Json keys = Json::array();
    for (const trust::KeyId& id : revoked.keys) keys.push_back(trust::to_text(id));
    print(to_text(Json{{"keys", keys}, {"files", revoked.files}, {"folder", folder.native()}}));
  } else if (!flags.report.quiet) {
    print(formatted("revoked: {}, {}\n", counted(revoked.keys.size(), "key"),
                    counted(revoked.files.size(), "file")));
  }
  return kExitSuccess;
}

ArgumentParser add_verb(ArgumentParser& app, const std::string& name, const std::string& help,
                        TrustFlags& flags) {
  ArgumentParser verb = app.add_subcommand(name, help);
  if (name != "list") {
    verb.add_flag("--system", flags.system,
                  "For all users of the machine: /etc/ephost/trust [~/.config/ephost/trust]");
  }
  add_report_flags(verb, flags.report);
  return verb;
}

}  // namespace

Command add_trust(ArgumentParser& root) {
  auto flags = std::make_shared<TrustFlags>();
  ArgumentParser app = root.add_subcommand("trust", "Say whose signatures count, and for what");
  app.require_subcommand();
  std::vector<Command> verbs = {
      {add_verb(app, "add", "Trust a public key", *flags), [flags] { return add_key(*flags); }},
      {add_verb(app, "list", "List the keys that are trusted, and what was revoked", *flags),
       [flags] { return list_keys(*flags); }},
      {add_verb(app, "remove", "Trust a key no longer", *flags),
       [flags] { return remove_key(*flags); }},
      {add_verb(app, "revoke", "Refuse what a key signed, or certain files, whoever signs them",
                *flags),
       [flags] { return revoke(*flags); }},
  };
  ArgumentParser adding = verbs[0].parser;
  adding.add("KEY", flags->key, "A public key, or its file").type_name("KEY").required();
  adding.add("--name", flags->name, "What to call it in reports").type_name("TEXT");
  adding
      .add("--provider", flags->providers,
           "It vouches for plugins of this provider (type name) alone, and no key without this "
           "option vouches for them any longer (repeatable)")
      .type_name("NAME")
      .repeatable();
  adding.add_flag("--models", flags->models,
                  "It vouches for context models, and for no plugins but those of --provider");
  adding.add("--expires", flags->expires, "It does not count from this day or time on, UTC")
      .type_name("TIME");
  ArgumentParser removing = verbs[2].parser;
  removing.add("KEY", flags->key, "The id or name of a key").type_name("ID").required();
  ArgumentParser revoking = verbs[3].parser;
  revoking.add("WHAT", flags->revoked, "Ids of keys, files, or SHA-256 checksums of files")
      .type_name("WHAT")
      .required();
  return {app, [flags, verbs = std::move(verbs)]() -> Result<int> {
            apply(flags->report);
            return run_chosen(verbs);
          }};
}

}  // namespace ephost::cli
