// The cache store as a session uses it: looks for the session's entry before anything is compiled,
// publishes one after. Whatever goes wrong with the store, the session goes on without it.
#pragma once

#include <ephost/cache_use.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <atomic>
#include <optional>
#include <string>

#include "host/context/store/cache_store.h"
#include "host/session/model_source.h"
#include "host/session/pipeline/pipeline.h"
#include "host/session/session_config.h"

namespace ephost::session {

class SessionCache {
 public:
  // Does nothing without ep.cache_dir. INVALID_ARGUMENT for entries that cannot be.
  static Result<SessionCache> create(const ModelSource& source, const SessionOptions& options);

  // Goes on without the store, for a reason that isn't its fault.
  void skip(std::string reason);

  // Connects the store with a way through the pipeline, during which this object stays in place;
  // a hook that is there already is called before it.
  void add_to(PipelineHooks& hooks);

  // To be asked after a failure: whether the session came from an entry. That one is quarantined
  // then, and creating the session again compiles the model.
  [[nodiscard]] bool blames_entry(const Status& failure);

  [[nodiscard]] const CacheUse& use() const { return use_; }
  // The entry that took the model's place; null if there was none.
  [[nodiscard]] const context::FoundEntry* entry() const { return entry_ ? &*entry_ : nullptr; }
  // The same, for as long as the session lives.
  [[nodiscard]] std::optional<context::FoundEntry> take_entry() { return std::move(entry_); }

 private:
  SessionCache(SessionConfig config, std::string model_name, const Cancellation& cancellation);

  std::optional<ModelSource> look_up(const PreparedModel& prepared,
                                     const onnx_io::ImportReport& read);
  Status find(const PreparedModel& prepared, const onnx_io::ImportReport& read);
  void publish(const PreparedModel& prepared);
  Status try_publish(const PreparedModel& prepared);
  void fail(std::string_view doing, const Status& status);

  SessionConfig config_;
  std::string model_name_;
  Cancellation cancellation_;
  std::optional<context::CacheStore> store_;
  context::CacheKey key_;
  std::optional<context::FoundEntry> entry_;
  bool has_bad_entry_ = false;  // the model is compiled then, without another look
  CacheUse use_;
};

}  // namespace ephost::session
