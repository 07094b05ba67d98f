// Signing of manifests and context models, for `ephost sign` and `ephost compile --sign`.
#pragma once

#include <ephost/environment.h>
#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/trust/secret_key.h"

namespace ephost::cli {

struct SigningFlags {
  std::filesystem::path key;  // the secret key's file
  std::optional<uint32_t> passphrase_fd;
  std::string expires;  // a time as trust::parse_time takes it; empty: never
};

// A file that was signed.
struct SignedFile {
  std::filesystem::path file;
  std::filesystem::path signature;
  std::vector<std::string> added;      // keys that the manifest did not have
  std::vector<std::string> uncovered;  // files of the plugin that the manifest does not list
};

class Signer {
 public:
  // Reads the key, and the passphrase if the key needs one.
  static Result<Signer> create(const SigningFlags& flags);

  // Completes the manifest of a plugin and signs it. Here and below, what was written is read again
  // and verified.
  [[nodiscard]] Result<SignedFile> sign_manifest(const std::filesystem::path& file) const;
  // Signs a context model and the specialised models that it lists, after everything that they
  // state about their files was found to be right.
  [[nodiscard]] Result<std::vector<SignedFile>> sign_model(const Environment& environment,
                                                           const std::filesystem::path& file) const;

  [[nodiscard]] trust::KeyId key() const { return key_.public_key().id; }

 private:
  Signer(trust::SecretKey key, std::optional<int64_t> expires)
      : key_(std::move(key)), expires_(expires) {}
  Status sign_one_model(const std::filesystem::path& file, const std::vector<std::string>& names,
                        std::vector<SignedFile>& out) const;

  trust::SecretKey key_;
  std::optional<int64_t> expires_;
};

}  // namespace ephost::cli
