#include "host/trust/policy.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "host/base/environment.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/field.h"
#include "host/manifest/isolation.h"
#include "host/manifest/yaml_tree.h"
#include "host/trust/quarantine_policy.h"

namespace ephost::trust {
namespace {

using manifest::Field;
using manifest::FieldMap;

constexpr std::array<std::pair<std::string_view, SignaturePolicy>, 3> kPolicies{
    {{"off", SignaturePolicy::kOff},
     {"warn", SignaturePolicy::kWarn},
     {"require", SignaturePolicy::kRequire}}};

Result<MachinePolicy> read_policy(const Field& root) {
  static constexpr std::array<std::string_view, 5> kKeys{"policy", "signatures", "user_keys",
                                                         "quarantine", "isolation"};
  EPHOST_ASSIGN_OR_RETURN(const FieldMap map, root.map(kKeys));
  EPHOST_ASSIGN_OR_RETURN(const Field format, map.require("policy", "1"));
  EPHOST_ASSIGN_OR_RETURN(const int64_t number, format.integer());
  if (number != 1) {
    return format.error(
        formatted("policy format {} is not supported; this host reads format 1", number));
  }
  MachinePolicy policy;
  if (const Field* const signatures = map.find("signatures")) {
    EPHOST_ASSIGN_OR_RETURN(const std::string text, signatures->scalar());
    const auto parsed = parse_signature_policy(text);
    if (!parsed) {
      return signatures->error(
          formatted("the policy {} is not known; write off, warn or require", quote(text)));
    }
    policy.signatures = *parsed;
  }
  if (const Field* const user_keys = map.find("user_keys")) {
    EPHOST_ASSIGN_OR_RETURN(policy.user_keys, user_keys->boolean());
  }
  if (const Field* const isolation = map.find("isolation")) {
    EPHOST_ASSIGN_OR_RETURN(policy.isolation, manifest::read_isolation(*isolation));
  }
  if (const Field* const quarantine = map.find("quarantine")) {
    EPHOST_ASSIGN_OR_RETURN(const std::string text, quarantine->scalar());
    const Result<QuarantinePolicy> parsed = parse_quarantine_policy(text, "the policy");
    if (!parsed.ok()) return quarantine->error(parsed.status().message());
    policy.quarantine = *parsed;
  }
  return policy;
}

}  // namespace

std::optional<SignaturePolicy> parse_signature_policy(std::string_view text) {
  for (const auto& [name, policy] : kPolicies) {
    if (name == text) return policy;
  }
  return std::nullopt;
}

std::string_view signature_policy_name(SignaturePolicy policy) {
  for (const auto& [name, known] : kPolicies) {
    if (known == policy) return name;
  }
  return "require";
}

SignaturePolicy strictest(SignaturePolicy one, SignaturePolicy other) {
  return std::max(one, other);
}

const std::filesystem::path& machine_policy_file() {
  static const std::filesystem::path file = "/etc/ephost/policy.yaml";
  return file;
}

Result<MachinePolicy> load_machine_policy(const std::filesystem::path& file, Owner owner) {
  const Result<std::string> text = read_own_file(file, owner, manifest::kMaxYamlBytes);
  if (text.status().code() == StatusCode::kNoSuchFile) {
    const Status folder = check_own_folder(file.parent_path(), owner);
    if (!folder.ok() && folder.code() != StatusCode::kNoSuchFile) return folder;
    return MachinePolicy();
  }
  EPHOST_RETURN_IF_ERROR(text.status());
  EPHOST_ASSIGN_OR_RETURN(const manifest::YamlNode document, manifest::parse_yaml(*text, file));
  EPHOST_ASSIGN_OR_RETURN(MachinePolicy policy, read_policy(Field::root(document, file)));
  policy.file = file;
  return policy;
}

Result<Isolation> isolation_of_environment() {
  const char* const text = environment_value("EPHOST_ISOLATION");
  if (text == nullptr || *text == '\0') return Isolation::kNone;
  return manifest::require_isolation(text, "EPHOST_ISOLATION");
}

Result<SignaturePolicy> policy_of_environment() {
  const char* const text = environment_value("EPHOST_SIGNATURES");
  if (text == nullptr || *text == '\0') return SignaturePolicy::kOff;
  if (const auto policy = parse_signature_policy(text)) return *policy;
  return Status(StatusCode::kInvalidArgument,
                formatted("the environment variable EPHOST_SIGNATURES is {}; set it to off, warn "
                          "or require",
                          quote(text)));
}

}  // namespace ephost::trust
