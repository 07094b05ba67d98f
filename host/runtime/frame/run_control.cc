#include "host/runtime/frame/run_control.h"

#include "host/base/format.h"

namespace ephost::runtime {

Status RunControl::check() const {
  if (is_cancelled()) return {StatusCode::kCancelled, "the run was cancelled"};
  if (is_past_deadline()) return {StatusCode::kDeadlineExceeded, "the deadline of the run passed"};
  return Status::ok_status();
}

Status RunControl::judge(Status failure) const {
  if (failure.ok() || failure.code() == StatusCode::kDeviceLost) return failure;
  const Status end = check();
  if (end.ok() || end.code() == failure.code()) return failure;
  return {end.code(), formatted("{}: {}", end.message(), failure.message())};
}

}  // namespace ephost::runtime
