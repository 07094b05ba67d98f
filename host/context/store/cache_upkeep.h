// Looking after a cache store: what is in it, whether it is sound, and what goes. Called by the
// store after a publication and by `ephost cache`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/context/store/cache_entry.h"
#include "host/context/store/cache_folder.h"
#include "host/context/store/cache_store.h"

namespace ephost::context {

// In a quarantined entry, why it is one.
inline constexpr std::string_view kReasonFileName = "reason.txt";

// The description in an entry's folder. INVALID_GRAPH or NO_SUCHFILE where it is damaged.
[[nodiscard]] Result<CacheEntry> read_entry(const std::filesystem::path& folder,
                                            const FileSystem& file_system);

// Why the entry was quarantined; empty if that is not known.
[[nodiscard]] std::string read_reason(const std::filesystem::path& folder,
                                      const FileSystem& file_system);

// What is wrong with an entry, a sentence each: its description, and every file's checksum.
[[nodiscard]] std::vector<std::string> verify_entry(const CacheItem& item,
                                                    const FileSystem& file_system);

// What the store holds, least recently used first. NO_SUCHFILE where there is no store, FAIL where
// something else is in its place.
[[nodiscard]] Result<std::vector<CacheItem>> list_items(const CacheStoreOptions& options);

struct CacheRemoval {
  std::vector<CacheItem> removed;
  std::vector<CacheItem> in_use;  // that would have been removed
};

// Removes the temporary folders of dead processes, unless somebody has the store locked just now.
// Costs next to nothing where there is none.
void remove_abandoned(const CacheStoreOptions& options);

// Errors of the functions below are those of `list_items`, and FAIL where the store stays locked.
//
// Removes what exceeds the limits, quarantined entries first, then the least recently used, and the
// temporary folders of dead processes. Nothing that is in use.
Result<CacheRemoval> evict(const CacheStoreOptions& options);
// The same, and everything that is quarantined.
[[nodiscard]] Result<CacheRemoval> prune(const CacheStoreOptions& options);
// Removes everything that is not in use.
[[nodiscard]] Result<CacheRemoval> clear(const CacheStoreOptions& options);

}  // namespace ephost::context
