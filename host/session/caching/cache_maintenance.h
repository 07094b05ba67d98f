// Maintenance of a cache store: what it holds, whether that is undamaged, and what is removed. The
// store is the one that sessions use with the configuration entry `ep.cache_dir`; `folder` is the
// value of that entry. Sessions of any process may use the store meanwhile.
#pragma once

#include <ephost/status.h>
#include <ephost/types/cache_items.h>

#include <filesystem>
#include <vector>

namespace ephost {

// Errors of all functions: NO_SUCHFILE where there is no store, FAIL where something else is in its
// place or it cannot be read. The functions that remove also fail while another process keeps the
// store locked for more than ten seconds; after the first second the log names that process. All
// functions may be called from any thread.

// All items, the most recently used first.
[[nodiscard]] Result<std::vector<CacheItemDescription>> list_cache(
    const std::filesystem::path& folder);

// Compares the checksums of every entry, the most recently used first. INVALID_ARGUMENT for a store
// that others than root and this user may write to: checksums show nothing there.
[[nodiscard]] Result<std::vector<CacheItemCheck>> verify_cache(const std::filesystem::path& folder);

// Removes quarantined entries, what exceeds the limits, least recently used first, and what dead
// processes left; nothing that is in use.
[[nodiscard]] Result<CacheRemoval> prune_cache(const std::filesystem::path& folder,
                                               const CacheLimits& limits = {});

// Removes everything that is not in use.
[[nodiscard]] Result<CacheRemoval> clear_cache(const std::filesystem::path& folder);

}  // namespace ephost
