#include "host/session/creation/retries.h"

#include <ephost/types/session_options.h>

#include <algorithm>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/status_kinds.h"
#include "host/base/text.h"

namespace ephost::session {

std::span<const CompileFailure> ProviderFailed::begin_round() {
  const std::span<const CompileFailure> all(prepared_.failures);
  const std::span<const CompileFailure> since = all.subspan(failures_);
  failures_ = all.size();
  reused_ = prepared_.reused.partitions.size();
  return since;
}

Result<bool> ProviderFailed::asks_again(const Status& outcome) {
  if (!outcome.ok()) return false;
  wants_other_partitions_ = prepared_.failures.size() != failures_;
  if (!wants_other_partitions_) {
    ++round_;
    return prepared_.reused.partitions.size() < reused_;
  }
  if (round_ >= max_rounds_) {
    return Status(prepared_.failures.back().reason)
        .with_context(formatted("falling back, attempt {}", round_));
  }
  ++round_;
  return true;
}

Result<bool> WrongChecksum::asks_again(const Status& outcome) {
  const bool asks =
      !outcome.ok() && may_defer_ && reading_.has_wrong_checksum && !reading_.is_cancelled;
  may_defer_ = !asks;
  return asks;
}

Result<bool> ReplacedModel::asks_again(const Status& outcome) {
  const bool may_be_mixed = !outcome.ok() && !reading_.is_cancelled && !reading_.has_loaded &&
                            watch_.has_changed() && !is_cancellation(outcome);
  if (!may_be_mixed || readings_ == context::kMaxReadings) return false;
  log_info(formatted("the model {} was replaced while it was read ({}); reading it again",
                     quote(model_.native()), outcome.message()));
  ++readings_;
  watch_ = context::ReplacementWatch(model_);
  return true;
}

Result<bool> DamagedEntry::asks_again(const Status& outcome) {
  if (outcome.ok() || (is_too_late_ != nullptr && *is_too_late_) || has_asked_) return false;
  has_asked_ = cache_.blames_entry(outcome);
  return has_asked_;
}

Status LossPolicy::check(const std::vector<LostProvider>& dead) {
  for (const LostProvider& one : dead) {
    if (one.policy == OnCrash::kFallback) {
      if (one.name != kCpuProvider) continue;
      return Status(StatusCode::kEpFail,
                    formatted("{}; nodes of {}, which every session has, cannot fall back; use "
                              "session.on_crash.{}=restart",
                              one.reason.message(), one.name, one.short_name));
    }
    if (std::ranges::find(restarted_, one.name) != restarted_.end()) {
      return Status(StatusCode::kEpFail,
                    formatted("{}; it had been started again once before", one.reason.message()));
    }
    restarted_.push_back(one.name);
  }
  return Status::ok_status();
}

void note_losses(const std::vector<LostProvider>& dead, std::vector<LostProvider>& lost) {
  for (const LostProvider& one : dead) {
    if (one.policy == OnCrash::kRestart) {
      log_warning(formatted("{}; {} gets a new one", one.reason.message(), one.name));
      continue;
    }
    log_warning(
        formatted("{}; the session continues without {}, and the next providers get its nodes",
                  one.reason.message(), one.name));
    if (std::ranges::find(lost, one.name, &LostProvider::name) == lost.end()) lost.push_back(one);
  }
}

Result<bool> LostWorker::asks_again(const Status& outcome) {
  if (workers_ == nullptr) return false;
  const std::vector<LostProvider> dead = workers_->lost();
  const bool is_over = dead.empty() || is_cancellation(outcome);
  Status status = is_over ? Status::ok_status() : policy_.check(dead);
  if (!is_over && status.ok()) {
    note_losses(dead, lost_);
    renew();
    return true;
  }
  workers_->forget_idle();
  // Where the dead have no nodes, others run these.
  if (is_over || (outcome.ok() && workers_->lost().empty())) return false;
  return status;
}

}  // namespace ephost::session
