#include "host/trust/verifier.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/base/printable.h"
#include "host/base/text.h"
#include "host/base/utc_text.h"
#include "host/trust/minisign.h"

namespace ephost::trust {

namespace fs = std::filesystem;

// What a signature is of.
struct Verifier::Subject {
  fs::path file;  // empty: none
  std::span<const std::byte> content;
  const manifest::Manifest* manifest = nullptr;  // null for a context model
  std::span<const std::byte> library = {};       // of a plugin; empty if it is not known
  const ModelFiles* files = nullptr;             // null for a plugin

  [[nodiscard]] std::string_view what() const {
    return manifest != nullptr ? "plugin" : "context model";
  }
  [[nodiscard]] StatusCode refusal() const {
    return manifest != nullptr ? StatusCode::kEpFail : StatusCode::kInvalidGraph;
  }
  // A layer belongs to no provider.
  [[nodiscard]] std::string provider() const { return manifest ? manifest->provider : ""; }
};

namespace {

// Whether the key may vouch for this at all. A provider that has keys of its own takes no others.
Status check_pins(const TrustedKey& key, bool is_plugin, const std::string& provider,
                  const std::vector<TrustedKey>& all) {
  const auto refuse = [&](const std::string& problem) {
    return Status(StatusCode::kFail,
                  formatted("the key {}, which signed it, {}", to_text(key.key.id), problem));
  };
  if (!is_plugin) {
    if (key.may_sign_models()) return {};
    return refuse(
        formatted("is trusted for plugins of {} alone; trust a key for models with "
                  "\"ephost trust add --models\"",
                  join(key.providers, ", ")));
  }
  if (!key.may_sign_plugin(provider)) {
    if (key.providers.empty()) return refuse("is trusted for context models alone");
    return refuse(
        formatted("is trusted for {} alone; if it is to vouch for {} too, run \"ephost trust add "
                  "--provider\" with all of these names",
                  join(key.providers, ", "), provider.empty() ? "this layer" : provider));
  }
  if (!key.providers.empty() || provider.empty()) return {};
  for (const TrustedKey& other : all) {
    if (std::ranges::count(other.providers, provider) == 0) continue;
    return refuse(
        formatted("is not the one that {} is pinned to, which is {}; install the plugin that its "
                  "vendor signed, or run \"ephost trust remove {}\"",
                  provider, to_text(other.key.id), to_text(other.key.id)));
  }
  return {};
}

Status check_statements(const SignedFacts& facts, const manifest::Manifest& manifest) {
  const std::string version = manifest.version.to_string();
  const bool agrees = (facts.provider.empty() || facts.provider == manifest.subject()) &&
                      (facts.version.empty() || facts.version == version);
  if (agrees) return {};
  return Status(
      StatusCode::kFail,
      formatted("its trusted comment is about {} {}, but the manifest about {} {}; sign "
                "the manifest again",
                quote(facts.provider), facts.version, quote(manifest.subject()), version));
}

// The first checksum that the manifest has and that was revoked; empty if none was.
std::string revoked_statement(const Revocations& revoked, const manifest::Manifest& manifest) {
  for (const auto& [platform, library] : manifest.libraries) {
    if (library.sha256 && revoked.files.contains(*library.sha256)) return *library.sha256;
  }
  for (const auto& [path, stated] : manifest.files) {
    if (revoked.files.contains(stated)) return stated;
  }
  return {};
}

Status check_files(const SignedFacts& facts, const ModelFiles& files) {
  if (facts.files.empty() && files.empty()) return {};
  EPHOST_ASSIGN_OR_RETURN(const std::string digest, digest_of_files(files));
  if (facts.files == digest) return {};
  return Status(
      StatusCode::kFail,
      facts.files.empty()
          ? "it does not cover the files that the model uses; sign with \"ephost sign\""
          : "it is of other files than those that the model uses now; put the files there "
            "that were signed with it, or compile and sign the model again");
}

}  // namespace

fs::path signature_file(const fs::path& file) {
  fs::path signature = file;
  signature += ".minisig";
  return signature;
}

Result<std::string> digest_of_files(const ModelFiles& files) {
  std::string lines;
  for (const auto& [name, content] : files) {
    EPHOST_ASSIGN_OR_RETURN(const std::string sha256, sha256_of(content));
    lines += formatted("{}  {}\n", sha256, name);
  }
  return sha256_of(as_bytes(lines));
}

std::string SignatureState::summary() const {
  if (status.ok()) {
    return formatted("signed by {}{}", to_text(*key),
                     key_name.empty() ? "" : formatted(" ({})", printable_line(key_name)));
  }
  if (is_revoked) return "revoked";
  return is_signed ? "not trusted" : "unsigned";
}

// The first part of the plugin or model that was revoked; empty if none was.
Result<std::string> Verifier::revoked_part(const Revocations& revoked, const Subject& subject) {
  if (revoked.files.empty()) return std::string();
  if (subject.manifest != nullptr) {
    std::string stated = revoked_statement(revoked, *subject.manifest);
    if (!stated.empty()) return stated;
  }
  std::vector<std::span<const std::byte>> parts = {subject.content};
  if (!subject.library.empty()) parts.push_back(subject.library);
  if (subject.files != nullptr) {
    for (const auto& [name, bytes] : *subject.files) parts.push_back(bytes);
  }
  for (const std::span<const std::byte> part : parts) {
    EPHOST_ASSIGN_OR_RETURN(std::string sha256, sha256_of(part));
    if (revoked.files.contains(sha256)) return sha256;
  }
  return std::string();
}

Result<Verifier> Verifier::create(SignaturePolicy wanted) {
  EPHOST_ASSIGN_OR_RETURN(const MachinePolicy machine, load_machine_policy(machine_policy_file()));
  return create(wanted, machine);
}

Result<Verifier> Verifier::create(SignaturePolicy wanted, const MachinePolicy& machine) {
  EPHOST_ASSIGN_OR_RETURN(const SignaturePolicy variable, policy_of_environment());
  Sources sources;
  sources.user_keys = machine.user_keys;
  return Verifier(strictest(strictest(wanted, variable), machine.signatures), std::move(sources));
}

SignatureState Verifier::examine_plugin(const manifest::Manifest& manifest, std::string_view text,
                                        std::span<const std::byte> library) const {
  return examine(Subject{
      .file = manifest.file, .content = as_bytes(text), .manifest = &manifest, .library = library});
}

SignatureState Verifier::examine_model(const fs::path& file, std::span<const std::byte> content,
                                       const ModelFiles& files) const {
  return examine(Subject{.file = file, .content = content, .files = &files});
}

SignatureState Verifier::examine(const Subject& subject) const {
  SignatureState state;
  const std::string name =
      subject.file.empty() ? std::string("from memory") : quote(subject.file.native());
  const auto refuse = [&](const std::string& text) {
    state.status = Status(subject.refusal(), formatted("the {} {} {}", subject.what(), name, text));
    return std::move(state);
  };
  const fs::path file = signature_file(subject.file);
  std::error_code ignored;
  state.is_signed = !subject.file.empty() && fs::exists(file, ignored);
  auto trusted = load_trusted_keys(sources_.places, sources_.user_keys);
  if (!trusted.ok()) {
    return refuse("cannot be checked, because the trusted keys cannot be read: " +
                  trusted.status().message());
  }
  if (!sources_.takes_keys) trusted->keys.clear();
  trusted->keys.insert(trusted->keys.end(), sources_.keys.begin(), sources_.keys.end());
  const auto revoked = revoked_part(trusted->revoked, subject);
  if (!revoked.ok()) return refuse("cannot be checked: " + revoked.status().message());
  if (!revoked->empty()) {
    state.is_revoked = true;
    return refuse(
        formatted("was revoked: the list of revocations has the SHA-256 {}; install "
                  "another release",
                  *revoked));
  }
  if (subject.file.empty()) {
    return refuse(
        "has no signature, as there is no file that one could be beside; load it from a "
        "file");
  }
  const Result<std::string> text = read_file(file, kMaxSignatureBytes);
  if (text.status().code() == StatusCode::kNoSuchFile) {
    return refuse(
        formatted("is not signed: there is no {}; install it with its signature, or sign "
                  "it with \"ephost sign\" and a key that you trust",
                  quote(file.native())));
  }
  const Result<Signature> signature =
      text.ok() ? parse_signature(*text) : Result<Signature>(text.status());
  if (!signature.ok()) {
    return refuse(
        formatted("has a signature {} that cannot be read: {}; install it with its "
                  "signature again",
                  quote(file.native()), signature.status().message()));
  }
  state.key = signature->key;
  Status judged = judge(subject, *trusted, state, *signature);
  if (judged.ok()) return state;
  return refuse(formatted("has a signature {} that does not count: {}", quote(file.native()),
                          judged.message()));
}

Status Verifier::judge(const Subject& subject, const TrustedKeys& trusted, SignatureState& state,
                       const Signature& signature) const {
  const auto refuse = [](std::string text) { return Status(StatusCode::kFail, std::move(text)); };
  const std::string id = to_text(signature.key);
  if (trusted.revoked.keys.contains(signature.key)) {
    state.is_revoked = true;
    return refuse(formatted("its key {} was revoked; install a release with another key", id));
  }
  // An id proves nothing: several keys may have it.
  std::vector<const TrustedKey*> keys;
  for (const TrustedKey& key : trusted.keys) {
    if (key.key.id == signature.key) keys.push_back(&key);
  }
  if (keys.empty()) {
    return refuse(
        formatted("its key {} is not trusted; if it is the vendor's, run \"ephost trust "
                  "add\" with the vendor's public key",
                  id));
  }
  const TrustedKey* found = nullptr;
  Status verified;
  for (const TrustedKey* const key : keys) {
    verified = verify(signature, key->key, subject.content);
    if (verified.ok()) found = key;
    if (found != nullptr) break;
  }
  if (found == nullptr) {
    return refuse(verified.message() +
                  "; install the file and its signature again, or have it signed again");
  }
  EPHOST_ASSIGN_OR_RETURN(state.facts, parse_signed_facts(signature.trusted_comment));
  const int64_t now = sources_.clock();
  if (state.facts.expires && now >= *state.facts.expires) {
    return refuse(
        formatted("it expired on {}; install a newer release", utc_text(*state.facts.expires)));
  }
  if (found->expires && now >= *found->expires) {
    return refuse(
        formatted("its key {} is trusted until {} only; run \"ephost trust add\" again "
                  "if it still is",
                  id, utc_text(*found->expires)));
  }
  EPHOST_RETURN_IF_ERROR(
      check_pins(*found, subject.manifest != nullptr, subject.provider(), trusted.keys));
  if (subject.manifest != nullptr) {
    EPHOST_RETURN_IF_ERROR(check_statements(state.facts, *subject.manifest));
  }
  if (subject.files != nullptr) {
    EPHOST_RETURN_IF_ERROR(check_files(state.facts, *subject.files));
  }
  state.key_name = found->name;
  return {};
}

}  // namespace ephost::trust
