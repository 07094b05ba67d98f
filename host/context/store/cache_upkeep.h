// Maintenance of a cache store: lists its entries, verifies them, and removes them. Called by the
// store after a publication, and by `ephost cache`.
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

// The file in a quarantined entry that has the reason.
inline constexpr std::string_view kReasonFileName = "reason.txt";

// Reads the description in the folder of an entry. INVALID_GRAPH or NO_SUCHFILE if it is damaged.
[[nodiscard]] Result<CacheEntry> read_entry(const std::filesystem::path& folder,
                                            const FileSystem& file_system);

// Why the entry was quarantined; empty if unknown.
[[nodiscard]] std::string read_reason(const std::filesystem::path& folder,
                                      const FileSystem& file_system);

// Checks the description and the checksum of every file; returns one sentence for each problem.
[[nodiscard]] std::vector<std::string> verify_entry(const CacheItem& item,
                                                    const FileSystem& file_system);

// Lists the contents of the store, least recently used first. NO_SUCHFILE if the store does not
// exist, FAIL if its path leads to something else.
[[nodiscard]] Result<std::vector<CacheItem>> list_items(const CacheStoreOptions& options);

struct CacheRemoval {
  std::vector<CacheItem> removed;
  std::vector<CacheItem> in_use;  // would have been removed otherwise
};

// Removes the temporary folders of dead processes, unless another process has the store locked.
// Cheap if there are none.
void remove_abandoned(const CacheStoreOptions& options);

// The functions below fail as `list_items` does, and with FAIL if the store stays locked.
//
// Removes what exceeds the limits, quarantined entries first, then the least recently used, and the
// temporary folders of dead processes. Keeps everything that is in use.
Result<CacheRemoval> evict(const CacheStoreOptions& options);
// Does the same, and removes all quarantined entries.
[[nodiscard]] Result<CacheRemoval> prune(const CacheStoreOptions& options);
// Removes everything that is not in use.
[[nodiscard]] Result<CacheRemoval> clear(const CacheStoreOptions& options);

}  // namespace ephost::context
