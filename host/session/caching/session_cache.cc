#include "host/session/caching/session_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/status_kinds.h"
#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/session/caching/cache_ingredients.h"
#include "host/session/caching/store_signatures.h"
#include "host/session/config/cancellation.h"
#include "host/session/config/lock_wait.h"
#include "host/session/contexts/context_generation.h"
#include "host/trust/policy.h"

namespace ephost::session {
namespace {

using Outcome = CacheUse::Outcome;

// Initializers have their own file, as an entry may be larger than a protobuf message can be.
constexpr const char* kInitializersName = "initializers.bin";

// Why what was compiled cannot be published as an entry; empty if it can.
std::string reason_against(const PreparedModel& prepared) {
  // The provider may succeed the next time.
  if (!prepared.failures.empty()) return prepared.failures.front().reason.message();
  if (!prepared.without_capability.empty()) {
    return *prepared.without_capability.begin() + " failed to say which nodes it claims";
  }
  if (!prepared.without_wishes.empty()) {
    return *prepared.without_wishes.begin() + " failed to give its wishes for fixed extents";
  }
  if (const Status workers = check_workers(prepared); !workers.ok()) return workers.message();
  if (prepared.partition_count() == 0) return "no provider compiled anything";
  for (const PreparedGraph* graph : prepared.graphs()) {
    for (const partition::Partition& partition : graph->partitioning.partitions) {
      const bridge::Provider& provider = *prepared.providers[partition.provider];
      if (!provider.can_write_context()) return provider.name() + " cannot write an EP context";
    }
  }
  return {};
}

}  // namespace

SessionCache::SessionCache(SessionConfig config, std::string model_name, std::string host_version,
                           const Cancellation& cancellation)
    : config_(std::move(config)),
      model_name_(std::move(model_name)),
      host_version_(std::move(host_version)),
      cancellation_(cancellation) {
  if (config_.cache_dir.empty()) return;
  store_.emplace(context::CacheStoreOptions{.folder = config_.cache_dir,
                                            .limits = config_.cache_limits,
                                            .lock_wait = lock_wait(config_, cancellation_)});
}

SessionCache SessionCache::create(const ModelSource& source, const SessionSettings& settings,
                                  std::string host_version, SignaturePolicy signatures,
                                  Deadline deadline) {
  SessionConfig config = settings.config;
  config.signatures = trust::strictest(config.signatures, signatures);
  const Cancellation cancellation = cancellation_of(settings, deadline);
  SessionCache cache(std::move(config), source.path.filename().string(), std::move(host_version),
                     cancellation);
  if (cache.store_ && cache.config_.context_enable) {
    cache.skip("ep.context_enable asks for a context model of its own");
  } else if (cache.store_ && !cache.config_.optimized_model_file_path.empty()) {
    cache.skip("session.optimized_model_file_path asks for the model as it is optimized");
  } else if (cache.store_ && (cache.config_.share_contexts || cache.config_.stop_share_contexts)) {
    cache.skip("ep.share_ep_contexts gives the contexts to a group of sessions");
  } else if (cache.store_ && cache.config_.signatures != SignaturePolicy::kOff) {
    if (const Status key = prepare_store_key(); !key.ok()) cache.fail("signing its entries", key);
  }
  return cache;
}

void SessionCache::skip(std::string reason) {
  if (!store_) return;
  log_info("cache store: not used: " + reason);
  store_.reset();
  use_.outcome = Outcome::kUncached;
  use_.reason = std::move(reason);
}

void SessionCache::fail(std::string_view doing, const Status& status) {
  // The pipeline itself ends a cancelled session.
  if (!is_cancellation(status) && !cancellation_.is_requested()) {
    log_warning(formatted("the session continues without the cache store {}: {}: {}",
                          quote(config_.cache_dir.native()), doing, status.to_string()));
  }
  store_.reset();
  use_.outcome = Outcome::kUncached;
  use_.reason = status.message();
}

void SessionCache::add_to(PipelineHooks& hooks) {
  if (!store_) return;
  hooks.writes_context = true;
  hooks.substitute = [this](const PreparedModel& prepared, const onnx_io::ImportReport& read) {
    return look_up(prepared, read);
  };
  hooks.before_compile = [this](PreparedModel& prepared) { reuse(prepared); };
  hooks.after_compile = [this, next = std::move(hooks.after_compile)](PreparedModel& prepared) {
    if (next) EPHOST_RETURN_IF_ERROR(next(prepared));
    use_.reused_contexts = prepared.reused.partitions.size();
    if (use_.reused_contexts == 0) older_entries_.clear();
    is_compiled_ = true;
    publish(prepared);
    return Status::ok_status();
  };
}

std::optional<ModelSource> SessionCache::look_up(const PreparedModel& prepared,
                                                 const onnx_io::ImportReport& read) {
  if (!store_ || has_bad_entry_) return std::nullopt;
  if (!context::find_ep_context_nodes(prepared.model.graph).empty()) {
    skip("the model is a context model already");
    return std::nullopt;
  }
  if (const Status status = find(prepared, read); !status.ok()) {
    fail("looking for an entry", status);
    return std::nullopt;
  }
  if (!entry_) return std::nullopt;
  return ModelSource{.path = entry_->model->path(),
                     .file = entry_->model,
                     .signed_description = signed_description(entry_->stated)};
}

Status SessionCache::find(const PreparedModel& prepared, const onnx_io::ImportReport& read) {
  EPHOST_ASSIGN_OR_RETURN(const context::CacheIngredients ingredients,
                          collect_cache_ingredients(prepared, read, config_, host_version_));
  key_ = context::make_cache_key(ingredients);
  use_.key = key_.id;
  provider_lines_.clear();
  for (const context::CacheProvider& provider : ingredients.providers) {
    provider_lines_.push_back(context::provider_lines(provider));
  }
  EPHOST_ASSIGN_OR_RETURN(context::CacheLookup lookup, store_->find(key_));
  entry_ = std::move(lookup.found);
  use_.outcome = entry_ ? Outcome::kHit : Outcome::kMiss;
  use_.reason = lookup.damage.message();
  log_info(formatted("cache store: {} {}", entry_ ? "hit" : "miss", key_.id));
  if (!lookup.damage.ok()) {
    ++rejected_;
    log_warning(
        formatted("cache store: entry {} is quarantined: {}", key_.id, lookup.damage.to_string()));
  }
  return Status::ok_status();
}

void SessionCache::reuse(PreparedModel& prepared) {
  is_compiled_ = false;
  digests_.clear();
  older_entries_.clear();
  if (!store_ || use_.outcome != Outcome::kMiss || has_bad_entry_) return;
  if (const Status status = try_reuse(prepared); !status.ok()) {
    prepared.reused = {};
    older_entries_.clear();
    fail("looking for contexts in older entries", status);
  }
}

Status SessionCache::try_reuse(PreparedModel& prepared) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<context::FoundEntry> related, store_->find_related(key_));
  if (related.empty() || prepared.partition_count() == 0) return Status::ok_status();
  EPHOST_ASSIGN_OR_RETURN(digests_, context_digests(prepared, provider_lines_));
  EPHOST_ASSIGN_OR_RETURN(older_entries_, reuse_contexts(*store_, key_, digests_, config_,
                                                         std::move(related), prepared));
  return Status::ok_status();
}

std::vector<context::FoundEntry> SessionCache::take_entries() {
  std::vector<context::FoundEntry> entries = std::exchange(older_entries_, {});
  if (entry_) entries.push_back(std::move(*entry_));
  entry_.reset();
  return entries;
}

bool SessionCache::blames_entry(const Status& failure) {
  if (is_cancellation(failure)) return false;
  if (is_circumstance(failure)) return gives_up_entries(failure);
  if (!entry_) {
    // What a provider refused before that, it has compiled.
    if (older_entries_.empty() || !is_compiled_) return false;
    log_warning(
        formatted("cache store: the session is created again without contexts of older "
                  "entries: {}",
                  failure.to_string()));
    older_entries_.clear();
    has_bad_entry_ = true;
    if (!store_) return true;
    // What was published may be as bad as what it was made of.
    Result<context::CacheLookup> published = store_->find(key_);
    if (published.ok()) entry_ = std::move(published->found);
    if (!entry_) return true;
  }
  log_warning(formatted("cache store: entry {} is quarantined: {}", key_.id, failure.to_string()));
  const Status quarantined = store_->quarantine(*entry_, failure);
  ++rejected_;
  entry_.reset();
  has_bad_entry_ = true;
  use_.outcome = Outcome::kMiss;
  use_.reason = failure.message();
  if (!quarantined.ok()) fail("quarantining a bad entry", quarantined);
  return true;
}

// Nothing is known against the entries.
bool SessionCache::gives_up_entries(const Status& failure) {
  if (!entry_ && older_entries_.empty()) return false;
  entry_.reset();
  older_entries_.clear();
  skip(failure.to_string());
  return true;
}

void SessionCache::publish(const PreparedModel& prepared) {
  if (use_.outcome != Outcome::kMiss) return;
  if (std::string reason = reason_against(prepared); !reason.empty()) {
    skip(std::move(reason));
  } else if (const Status status = try_publish(prepared); !status.ok()) {
    fail("publishing an entry", status);
  }
}

Status SessionCache::try_publish(const PreparedModel& prepared) {
  EPHOST_ASSIGN_OR_RETURN(context::StagedEntry staged, store_->stage());
  EPHOST_ASSIGN_OR_RETURN(
      const auto generation,
      ContextGeneration::create({.output_path = staged.model_path(),
                                 .external_initializers_file_name = kInitializersName},
                                ContextGeneration::WithoutNodes::kWarn, cancellation_));
  EPHOST_RETURN_IF_ERROR(generation->write(prepared));
  context::CacheEntry entry{.files = context::entry_files(generation->written().files),
                            .model_name = model_name_};
  for (const CompiledPartition& partition : generation->partitions()) {
    entry.partitions.emplace_back(partition.name, partition.nodes);
  }
  if (digests_.empty()) {
    EPHOST_ASSIGN_OR_RETURN(digests_, context_digests(prepared, provider_lines_));
  }
  entry.contexts.assign(digests_.begin(), digests_.end());
  if (config_.signatures != SignaturePolicy::kOff) {
    entry.key_text = key_.text;
    EPHOST_RETURN_IF_ERROR(sign_entry(staged.model_path(), entry));
  }
  EPHOST_RETURN_IF_ERROR(store_->publish(std::move(staged), key_, std::move(entry)));
  ++stored_;
  return Status::ok_status();
}

void SessionCache::count(Metrics* metrics) const {
  if (metrics == nullptr || use_.outcome == Outcome::kOff) return;
  const char* const outcome = use_.outcome == Outcome::kHit    ? "hit"
                              : use_.outcome == Outcome::kMiss ? "miss"
                                                               : "uncached";
  metrics->add(Family::kCacheUses, {outcome});
  metrics->add(Family::kCacheStores, {}, stored_);
  metrics->add(Family::kCacheRejections, {}, rejected_);
  metrics->add(Family::kCacheReusedContexts, {}, use_.reused_contexts);
}

}  // namespace ephost::session
