// The functions of <ephost/cache_store.h>, on the store of a folder.
#pragma once

#include <ephost/status.h>
#include <ephost/types/cache_items.h>

#include <filesystem>
#include <vector>

namespace ephost::session {

[[nodiscard]] Result<std::vector<CacheItemDescription>> list_cache(
    const std::filesystem::path& folder);

[[nodiscard]] Result<std::vector<CacheItemCheck>> verify_cache(const std::filesystem::path& folder);

[[nodiscard]] Result<CacheRemoval> prune_cache(const std::filesystem::path& folder,
                                               const CacheLimits& limits = {});

[[nodiscard]] Result<CacheRemoval> clear_cache(const std::filesystem::path& folder);

}  // namespace ephost::session
