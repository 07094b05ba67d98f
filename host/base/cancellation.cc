#include "host/base/cancellation.h"

#include <string>

namespace ephost {

Status Cancellation::reason() const {
  if (is_flag_set()) return {StatusCode::kModelLoadCanceled, "cancelled by the application"};
  return {StatusCode::kModelLoadCanceled,
          "it took more than " + std::to_string(max_seconds_) +
              " s; raise session.load_timeout_seconds, or set it to 0 for no limit"};
}

}  // namespace ephost
