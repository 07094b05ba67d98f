// Reasons for another attempt after a failure, and the loop that asks them. All attempts of this
// module are repeated here, each reason a bounded number of times. From inside out:
//
// - ProviderFailed: others may claim the partitions and kernels that a provider cannot compile.
// - WrongChecksum: a checksum of a model that was compared late is wrong.
// - ReplacedModel: the files of a model were replaced while it was read.
// - DamagedEntry: an entry of the cache store cannot be used.
// - LostWorker: the process of a provider ended.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/context/read/replacement_watch.h"
#include "host/context/write/writer.h"
#include "host/session/caching/session_cache.h"
#include "host/session/model/model_source.h"
#include "host/session/model/prepared_model.h"
#include "host/session/plugins/provider_workers.h"

namespace ephost::session {

inline const Status& status_of(const Status& status) { return status; }
template <class T>
Status status_of(const Result<T>& result) {
  return result.status();
}

// Calls `attempt()`, which returns a Status or a Result, until no reason asks for another attempt.
// The reasons are asked in their order, up to the first that asks; one that fails ends the loop
// with its failure.
template <class Attempt, class... Reasons>
auto with_retries(const Attempt& attempt, Reasons&... reasons) -> decltype(attempt()) {
  for (;;) {
    auto made = attempt();
    const Status outcome = status_of(made);
    Result<bool> again = false;
    const auto decides = [&](auto& reason) {
      again = reason.asks_again(outcome);
      return !again.ok() || *again;
    };
    static_cast<void>((decides(reasons) || ...));
    if (!again.ok()) return std::move(again).status();
    if (!*again) return made;
  }
}

// A provider failed to compile, or to restore, some nodes. Each may fail twice at what the ones
// before it left, and once at what it restores.
class ProviderFailed {
 public:
  // Borrowed: its `failures` are those of the attempts.
  explicit ProviderFailed(const PreparedModel& prepared)
      : prepared_(prepared), max_rounds_(3 * prepared.providers.size() + 1) {}

  // To be called as an attempt begins to compile. Returns the failures since the last call.
  [[nodiscard]] std::span<const CompileFailure> begin_round();
  // Whether the model has to be partitioned again before the next attempt. Otherwise a provider
  // only compiles what it could not restore.
  [[nodiscard]] bool wants_other_partitions() const { return wants_other_partitions_; }
  [[nodiscard]] Result<bool> asks_again(const Status& outcome);

 private:
  const PreparedModel& prepared_;
  const size_t max_rounds_;
  size_t round_ = 1;
  size_t failures_ = 0;
  size_t reused_ = 0;
  bool wants_other_partitions_ = false;
};

// How far one reading of a model came.
struct Reading {
  bool is_cancelled = false;
  bool has_loaded = false;  // all files of the model were read
  bool has_wrong_checksum = false;
};

// A checksum that was compared late is wrong: the model is read once more, with checksums first. A
// superseded file may be the right one, or the message says more.
class WrongChecksum {
 public:
  explicit WrongChecksum(const Reading& reading) : reading_(reading) {}  // borrowed

  // Whether the attempt may compare checksums late.
  [[nodiscard]] bool may_defer() const { return may_defer_; }
  [[nodiscard]] Result<bool> asks_again(const Status& outcome);

 private:
  const Reading& reading_;
  bool may_defer_ = true;
};

// The model was replaced by another process while it was read: it is read again, a few times.
class ReplacedModel {
 public:
  ReplacedModel(const Reading& reading, std::filesystem::path model)  // the reading is borrowed
      : reading_(reading), model_(std::move(model)), watch_(model_) {}

  [[nodiscard]] Result<bool> asks_again(const Status& outcome);

 private:
  const Reading& reading_;
  const std::filesystem::path model_;
  context::ReplacementWatch watch_;
  int readings_ = 1;
};

// An entry of the cache store cannot be used: everything is made without it, once.
class DamagedEntry {
 public:
  // Both borrowed; once `is_too_late`, which may be null, is true, a failure is final.
  explicit DamagedEntry(SessionCache& cache, const bool* is_too_late = nullptr)
      : cache_(cache), is_too_late_(is_too_late) {}

  [[nodiscard]] Result<bool> asks_again(const Status& outcome);

 private:
  SessionCache& cache_;
  const bool* const is_too_late_;
  bool has_asked_ = false;
};

// What may be done about lost providers in one run or creation: each may be restarted once.
class LossPolicy {
 public:
  // EP_FAIL, with the reason of the loss, if nothing can be done about one of them: it was
  // restarted already, or it is the CPU provider, which no session does without.
  [[nodiscard]] Status check(const std::vector<LostProvider>& dead);

 private:
  std::vector<std::string> restarted_;
};

// Logs what follows for each, and adds those whose policy is `fallback` to `lost`.
void note_losses(const std::vector<LostProvider>& dead, std::vector<LostProvider>& lost);

// The worker of a provider ended: all is made with another worker, or without the provider, as
// session.on_crash says. Without that entry, no attempt follows.
class LostWorker {
 public:
  // Borrows `policy` and `lost`: providers that are left out, which become more.
  LostWorker(OnCrashConfig config, LossPolicy& policy, std::vector<LostProvider>& lost)
      : config_(std::move(config)), policy_(policy), lost_(lost) {
    renew();
  }

  // Where the attempt notes the workers of providers (PipelineHooks::workers).
  [[nodiscard]] const std::shared_ptr<ProviderWorkers>& workers() const { return workers_; }
  [[nodiscard]] Result<bool> asks_again(const Status& outcome);

 private:
  void renew() {
    if (config_.recovers()) workers_ = std::make_shared<ProviderWorkers>(config_);
  }

  const OnCrashConfig config_;
  LossPolicy& policy_;
  std::vector<LostProvider>& lost_;
  std::shared_ptr<ProviderWorkers> workers_;
};

// What one attempt at creating a session or compiling a model has of the earlier ones.
struct Attempt {
  std::shared_ptr<ProviderWorkers> workers;  // see PipelineHooks
  std::vector<LostProvider> lost;            // the same
  // The files that the attempts wrote, borrowed: a later one may replace those of an earlier one.
  std::vector<context::WrittenFile>& written;
};

}  // namespace ephost::session
