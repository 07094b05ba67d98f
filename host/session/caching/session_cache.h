// A session's use of the cache store: looks for its entry before anything is compiled, takes over
// contexts of older entries if there is none, and publishes one afterwards. If anything goes wrong
// with the store, the session continues without it.
#pragma once

#include <ephost/status.h>
#include <ephost/types/cache_use.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "host/context/store/cache_store.h"
#include "host/session/caching/context_reuse.h"
#include "host/session/config/cancellation.h"
#include "host/session/config/session_config.h"
#include "host/session/model/model_source.h"
#include "host/session/pipeline/hooks.h"

namespace ephost::session {

class SessionCache {
 public:
  // An object that does nothing, unless ep.cache_dir is set. `host_version` becomes part of the
  // key. Unless the stricter of `signatures` and session.signatures is `off`, entries are signed
  // (store_signatures.h). The deadline is that of PipelineHooks.
  static SessionCache create(const ModelSource& source, const SessionSettings& settings,
                             std::string host_version, SignaturePolicy signatures,
                             Deadline deadline = {});

  // Continues without the store, for a reason that is not a failure.
  void skip(std::string reason);

  // Adds the store to the hooks of a pipeline. The object must not move until the pipeline has
  // finished. An existing after_compile hook is called first.
  void add_to(PipelineHooks& hooks);

  // To be called after a failure: whether the session used an entry, or was compiled with contexts
  // of older entries. If so, that entry is quarantined, or the one that was made of the older ones,
  // and creating the session again compiles the model. Where memory ran out or a device was lost,
  // that continues without the store.
  [[nodiscard]] bool blames_entry(const Status& failure);

  [[nodiscard]] const CacheUse& use() const { return use_; }
  // Counts what the store did, if there was one and `metrics` is not null. To be called once.
  void count(Metrics* metrics) const;
  // The entry that is used instead of the model; null if there is none.
  [[nodiscard]] const context::FoundEntry* entry() const { return entry_ ? &*entry_ : nullptr; }
  // All entries that the session was made of, to be kept while it exists.
  [[nodiscard]] std::vector<context::FoundEntry> take_entries();

 private:
  SessionCache(SessionConfig config, std::string model_name, std::string host_version,
               const Cancellation& cancellation);

  std::optional<ModelSource> look_up(const PreparedModel& prepared,
                                     const onnx_io::ImportReport& read);
  Status find(const PreparedModel& prepared, const onnx_io::ImportReport& read);
  void reuse(PreparedModel& prepared);
  Status try_reuse(PreparedModel& prepared);
  void publish(const PreparedModel& prepared);
  Status try_publish(const PreparedModel& prepared);
  bool gives_up_entries(const Status& failure);
  void fail(std::string_view doing, const Status& status);

  SessionConfig config_;
  std::string model_name_;
  std::string host_version_;
  Cancellation cancellation_;
  std::optional<context::CacheStore> store_;
  context::CacheKey key_;
  std::vector<std::string> provider_lines_;  // of the key, by provider
  ContextDigests digests_;                   // of the partitioned model; empty until needed
  std::optional<context::FoundEntry> entry_;
  std::vector<context::FoundEntry> older_entries_;  // those that gave contexts
  bool is_compiled_ = false;                        // in the current attempt
  bool has_bad_entry_ = false;  // then everything is compiled, without another lookup
  uint64_t stored_ = 0;         // entries
  uint64_t rejected_ = 0;       // entries that were quarantined
  CacheUse use_;
};

}  // namespace ephost::session
