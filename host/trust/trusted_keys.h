// The keys that the user and the machine trust: the public keys in `~/.config/ephost/trust` and
// `/etc/ephost/trust`, what each may vouch for, and what was revoked. manifests/SCHEMA.md documents
// the files. A folder or file that others may write is refused.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/trust/minisign.h"

namespace ephost::trust {

// The folders of keys; an empty path stands for none.
struct TrustPlaces {
  std::filesystem::path machine;
  std::filesystem::path user;
};

// /etc/ephost/trust, and `ephost/trust` in $XDG_CONFIG_HOME or ~/.config. A privileged process has
// no user's folder.
[[nodiscard]] TrustPlaces default_trust_places();

struct TrustedKey {
  PublicKey key;
  std::string name;                    // for people; may be empty
  std::vector<std::string> providers;  // type names; if there are any, it is pinned to these
  bool models = false;                 // vouches for context models, and for plugins only if pinned
  std::optional<int64_t> expires;      // from this second on (since 1970), it does not count
  std::filesystem::path file = {};
  bool is_machine = false;

  // Whether the key may vouch for plugins with this provider, which is empty for a layer.
  [[nodiscard]] bool may_sign_plugin(std::string_view provider) const;
  [[nodiscard]] bool may_sign_models() const;
};

struct Revocations {
  std::set<KeyId> keys;
  std::set<std::string> files;  // SHA-256 in lower-case hexadecimal digits
};

struct TrustedKeys {
  std::vector<TrustedKey> keys;  // the machine's first, each in the order of the files' names
  Revocations revoked;           // of both folders
};

// Missing folders have no keys. INVALID_ARGUMENT for a file that is malformed; FAIL for a folder or
// file that others than root and the user may write (in the machine's folder: others than root).
// Without `user_keys`, the user's folder counts for revocations alone.
[[nodiscard]] Result<TrustedKeys> load_trusted_keys(const TrustPlaces& places, bool user_keys);

// Adds the key as a file named after its id, or replaces what is there. Makes the folder.
[[nodiscard]] Status add_trusted_key(const std::filesystem::path& folder, const TrustedKey& key);
// Adds to the folder's list. Makes the folder.
[[nodiscard]] Status revoke(const std::filesystem::path& folder, const Revocations& revoked);
// INVALID_ARGUMENT if it is not a provider's type name.
[[nodiscard]] Status check_pin(std::string_view provider);

}  // namespace ephost::trust
