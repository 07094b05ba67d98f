#include "host/cli/signing/signer.h"

#include <ephost/verify_context.h>

#include <algorithm>
#include <utility>

#include "host/base/files/containment/contained_path.h"
#include "host/base/files/containment/hub_cache.h"
#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/signing/passphrase.h"
#include "host/trust/sign_manifest.h"
#include "host/trust/signed_facts.h"
#include "host/trust/verifier.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;

Result<std::optional<int64_t>> expiry_of(const std::string& text) {
  if (text.empty()) return std::optional<int64_t>();
  const auto time = trust::parse_time(text);
  if (!time) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("--expires is {}; give a day like 2027-01-31, or 2027-01-31T12:00:00Z",
                            quote(text)));
  }
  if (*time > trust::current_time()) return time;
  return Status(StatusCode::kInvalidArgument,
                formatted("--expires is {}, which has passed; give a later time", quote(text)));
}

// Fails if the signature is not of the file that lies there now.
Status verify_signature(const fs::path& file, const fs::path& signature,
                        const trust::PublicKey& key) {
  EPHOST_ASSIGN_OR_RETURN(const std::string text, read_file(signature, trust::kMaxSignatureBytes));
  EPHOST_ASSIGN_OR_RETURN(const trust::Signature parsed, trust::parse_signature(text));
  EPHOST_ASSIGN_OR_RETURN(const MappedFile content, MappedFile::open(file));
  if (trust::verify(parsed, key, content.bytes()).ok()) return {};
  return Status(
      StatusCode::kFail,
      formatted("{} was changed while it was being signed; sign it again", quote(file.native())));
}

Result<SignedFile> write_signature(const fs::path& file, const trust::Signature& signature,
                                   const trust::PublicKey& key) {
  const fs::path path = trust::signature_file(file);
  EPHOST_RETURN_IF_ERROR(write_file_atomically(path, as_bytes(trust::to_text(signature))));
  EPHOST_RETURN_IF_ERROR(verify_signature(file, path, key));
  return SignedFile{.file = file, .signature = path, .added = {}, .uncovered = {}};
}

// What is wrong with the model, apart from the signature that it has by now.
Status check_sound(const fs::path& file, const ContextReport& report) {
  for (const std::string& problem : report.problems) {
    if (problem == report.signature_problem) continue;
    return Status(StatusCode::kInvalidGraph,
                  formatted("{} is not signed, because it cannot be loaded: {}",
                            quote(file.native()), problem));
  }
  return {};
}

}  // namespace

Result<Signer> Signer::create(const SigningFlags& flags) {
  EPHOST_ASSIGN_OR_RETURN(const auto expires, expiry_of(flags.expires));
  EPHOST_ASSIGN_OR_RETURN(const std::string text, read_file(flags.key, trust::kMaxKeyFileBytes));
  const std::string name = quote(flags.key.native());
  const auto refuse = [&](const Status& status) {
    return Status(status.code(),
                  formatted("the secret key {} cannot be used: {}", name, status.message()));
  };
  const Result<bool> is_encrypted = trust::needs_passphrase(text);
  if (!is_encrypted.ok()) return refuse(is_encrypted.status());
  std::string passphrase;
  if (*is_encrypted) {
    EPHOST_ASSIGN_OR_RETURN(
        passphrase, read_passphrase(flags.passphrase_fd, formatted("passphrase of {}: ", name)));
  }
  auto key = trust::open_secret_key(text, passphrase);
  if (!key.ok()) return refuse(key.status());
  return Signer(std::move(*key), expires);
}

Result<SignedFile> Signer::sign_manifest(const fs::path& file) const {
  EPHOST_ASSIGN_OR_RETURN(const trust::CompletedManifest completed, trust::complete_manifest(file));
  if (!completed.added.empty()) {
    EPHOST_RETURN_IF_ERROR(write_file_atomically(file, as_bytes(completed.text)));
  }
  const trust::SignedFacts facts{.time = trust::current_time(),
                                 .file = file.filename().native(),
                                 .provider = completed.manifest.subject(),
                                 .version = completed.manifest.version.to_string(),
                                 .expires = expires_};
  EPHOST_ASSIGN_OR_RETURN(
      SignedFile written,
      write_signature(file, key_.sign(as_bytes(completed.text), trust::to_text(facts)),
                      key_.public_key()));
  written.added = completed.added;
  written.uncovered = completed.uncovered;
  return written;
}

Status Signer::sign_one_model(const fs::path& file, const std::vector<std::string>& names,
                              std::vector<SignedFile>& out) const {
  std::vector<MappedFile> mapped;
  trust::ModelFiles contents;
  for (const std::string& name : names) {
    EPHOST_ASSIGN_OR_RETURN(
        const InputFile input,
        open_contained(file.parent_path(), name, StatusCode::kInvalidGraph, posix_file_system(),
                       hub_folders_of(file.parent_path())));
    EPHOST_ASSIGN_OR_RETURN(MappedFile content, MappedFile::map(input));
    contents.emplace(name, content.bytes());
    mapped.push_back(std::move(content));
  }
  trust::SignedFacts facts{
      .time = trust::current_time(), .file = file.filename().native(), .expires = expires_};
  EPHOST_ASSIGN_OR_RETURN(facts.files, trust::digest_of_files(contents));
  EPHOST_ASSIGN_OR_RETURN(const MappedFile model, MappedFile::open(file));
  EPHOST_ASSIGN_OR_RETURN(
      SignedFile written,
      write_signature(file, key_.sign(model.bytes(), trust::to_text(facts)), key_.public_key()));
  out.push_back(std::move(written));
  return {};
}

Result<std::vector<SignedFile>> Signer::sign_model(const Environment& environment,
                                                   const fs::path& file) const {
  const VerifyContextOptions options{.providers = VerifyContextOptions::Providers::kIgnore};
  std::vector<SignedFile> signed_files;
  EPHOST_ASSIGN_OR_RETURN(ContextReport report, verify_context(environment, file, options));
  // The signatures of specialised models are among what is wrong with the model that lists them.
  for (const std::string& name : report.specialized_models) {
    const fs::path specialized = file.parent_path() / name;
    EPHOST_ASSIGN_OR_RETURN(const ContextReport one,
                            verify_context(environment, specialized, options));
    EPHOST_RETURN_IF_ERROR(check_sound(specialized, one));
    EPHOST_RETURN_IF_ERROR(sign_one_model(specialized, one.files, signed_files));
  }
  if (!report.specialized_models.empty()) {
    EPHOST_ASSIGN_OR_RETURN(report, verify_context(environment, file, options));
  }
  EPHOST_RETURN_IF_ERROR(check_sound(file, report));
  EPHOST_RETURN_IF_ERROR(sign_one_model(file, report.files, signed_files));
  return signed_files;
}

}  // namespace ephost::cli
