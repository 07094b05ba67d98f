// The key with which this user's sessions sign the entries of cache stores while a signature policy
// is in force. It lies in the user's state folder, not in the store, so that write access to a
// store is not enough to sign for it.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <string>
#include <vector>

#include "host/context/store/cache_entry.h"
#include "host/trust/verifier.h"

namespace ephost::session {

// $XDG_STATE_HOME/ephost/store.key; by default ~/.local/state/ephost/store.key, or for root
// /var/lib/ephost/store.key. Empty if none of these is known.
[[nodiscard]] std::filesystem::path store_key_file();

// Fails if there is no key, and none can be made: the reason why a store cannot be used.
[[nodiscard]] Status prepare_store_key();

// Accepts what that key signed, and nothing else; refuses everything where there is no key, and
// what the user or the machine has revoked.
[[nodiscard]] trust::Verifier store_verifier();

// What a signature covers as if it were the file entry.txt: the description of the entry without
// what follows from its files. So an entry counts for no key and no partitions but its own.
[[nodiscard]] std::string signed_description(const context::CacheEntry& entry);

// Signs the model of an entry together with its description and its other files, which are those of
// the names in `entry` in the folder of the model.
[[nodiscard]] Status sign_entry(const std::filesystem::path& model,
                                const context::CacheEntry& entry);

}  // namespace ephost::session
