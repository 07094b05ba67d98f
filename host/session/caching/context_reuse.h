// Takes over contexts of older entries of the cache store: where a model has no entry because the
// host, or a provider that compiled nothing of it, has changed, its partitions may still be those
// that an older entry has compiled. Used by SessionCache only; host/context/SPECIFICATION.md has
// the rule (`store.reuse`).
#pragma once

#include <ephost/status.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "host/context/store/cache_store.h"
#include "host/session/config/session_config.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

// The digest of what each partition is compiled from, by partition name.
using ContextDigests = std::map<std::string, std::string>;

// The digests of all partitions whose providers can write contexts. `provider_lines` has the lines
// of the key about each provider of the model. CANCELLED or DEADLINE_EXCEEDED once cancellation is
// requested.
[[nodiscard]] Result<ContextDigests> context_digests(const PreparedModel& prepared,
                                                     std::span<const std::string> provider_lines);

// Fills in PreparedModel::reused from `related`, the best entry first, and returns the entries that
// gave something, which must be kept as long as the model. Takes a payload only if all partitions
// that it contains are wanted, each with the digest that the entry has, and if the provider
// accepts its source and judges its compatibility to be optimal. An entry that turns out to be
// damaged is quarantined. Logs what is taken over and, for all other partitions, why they are
// compiled. Fails only if it is cancelled.
[[nodiscard]] Result<std::vector<context::FoundEntry>> reuse_contexts(
    const context::CacheStore& store, const context::CacheKey& key, const ContextDigests& digests,
    const SessionConfig& config, std::vector<context::FoundEntry> related, PreparedModel& prepared);

}  // namespace ephost::session
