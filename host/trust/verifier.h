// The verifier of signatures: which key made one, whether the user or the machine trusts that key
// for this plugin or model, and whether anything expired or was revoked. Reads the signature file
// beside a manifest or model and the folders of trusted keys, each time. The caller decides what
// follows from the result.
#pragma once

#include <ephost/status.h>
#include <ephost/types/environment.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/manifest/manifest.h"
#include "host/trust/policy.h"
#include "host/trust/signed_facts.h"
#include "host/trust/trusted_keys.h"

namespace ephost::trust {

// The signature file of a manifest or model: its name and ".minisig".
[[nodiscard]] std::filesystem::path signature_file(const std::filesystem::path& file);

// The state of one signature.
struct SignatureState {
  bool is_signed = false;    // a signature file exists
  bool is_revoked = false;   // a key or file was revoked, which no policy but `off` lets pass
  std::optional<KeyId> key;  // that the signature file names
  std::string key_name;      // what the user calls it; empty if it is not trusted
  SignedFacts facts;         // only once the signature was found to be right
  // OK: somebody who is trusted for this vouches for it. Otherwise says what is wrong with which
  // file, and what to do: EP_FAIL for plugins, INVALID_GRAPH for models.
  Status status;

  // "signed by KEY", "unsigned", "not trusted" or "revoked".
  [[nodiscard]] std::string summary() const;
};

// The external files of a context model, by the name that the model gives.
using ModelFiles = std::map<std::string, std::span<const std::byte>>;

// SHA-256, in hexadecimal digits, over a line "SHA-256 of the file, two spaces, name" for each file
// in the order of the names: what sha256sum prints, sorted. FAIL as sha256_of.
[[nodiscard]] Result<std::string> digest_of_files(const ModelFiles& files);

// A value type; safe from any thread.
class Verifier {
 public:
  // Where to look, and what the clock shows (seconds since 1970); replaced in tests.
  struct Sources {
    TrustPlaces places = default_trust_places();
    bool user_keys = true;
    std::function<int64_t()> clock = current_time;
    std::vector<TrustedKey> keys = {};  // that count besides those in the folders
    bool takes_keys = true;             // whether keys in the folders count; revocations always do
  };

  // Checks nothing.
  Verifier() = default;
  Verifier(SignaturePolicy policy, Sources sources)
      : policy_(policy), sources_(std::move(sources)) {}

  // The verifier of a process that wants `wanted`: also what EPHOST_SIGNATURES and the machine's
  // policy say counts. Fails where one of these is malformed.
  static Result<Verifier> create(SignaturePolicy wanted, const MachinePolicy& machine);
  // With the policy of machine_policy_file().
  static Result<Verifier> create(SignaturePolicy wanted);

  [[nodiscard]] SignaturePolicy policy() const { return policy_; }
  [[nodiscard]] const Sources& sources() const { return sources_; }

  // The signature of a manifest that has this text, which covers the plugin's files if the manifest
  // has their checksums. `library` is the content of the plugin's library, if that is known, as
  // it may have been revoked although the manifest does not give its checksum. The files whose
  // checksum is stated are not looked at.
  [[nodiscard]] SignatureState examine_plugin(const manifest::Manifest& manifest,
                                              std::string_view text,
                                              std::span<const std::byte> library = {}) const;

  // The signature of a context model with this content. `file` is where it was read from; empty:
  // from memory, so that nothing can be beside it. `files` are the external files that it uses.
  [[nodiscard]] SignatureState examine_model(const std::filesystem::path& file,
                                             std::span<const std::byte> content,
                                             const ModelFiles& files) const;

 private:
  struct Subject;
  [[nodiscard]] static Result<std::string> revoked_part(const Revocations& revoked,
                                                        const Subject& subject);
  [[nodiscard]] SignatureState examine(const Subject& subject) const;
  [[nodiscard]] Status judge(const Subject& subject, const TrustedKeys& trusted,
                             SignatureState& state, const Signature& signature) const;

  SignaturePolicy policy_ = SignaturePolicy::kOff;
  Sources sources_;
};

}  // namespace ephost::trust
