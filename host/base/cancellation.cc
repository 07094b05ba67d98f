#include "host/base/cancellation.h"

#include "host/base/format.h"

namespace ephost {

Status Cancellation::reason() const {
  if (is_flag_set()) return {StatusCode::kCancelled, "cancelled by the application"};
  if (max_seconds_ == 0) return {StatusCode::kDeadlineExceeded, "the deadline of the run passed"};
  return {StatusCode::kDeadlineExceeded,
          formatted("it took more than {} s; raise session.load_timeout_seconds, "
                    "or set it to 0 for no limit",
                    max_seconds_)};
}

}  // namespace ephost
