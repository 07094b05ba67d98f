#include "host/manifest/isolation.h"

#include <string>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/field.h"

namespace ephost::manifest {

Result<Isolation> require_isolation(std::string_view text, std::string_view what) {
  if (const auto level = parse_isolation(text)) return *level;
  return Status(
      StatusCode::kInvalidArgument,
      formatted("{} cannot be {}; write one of none, worker, sandbox", what, quote(text)));
}

Result<Isolation> read_isolation(const Field& field) {
  EPHOST_ASSIGN_OR_RETURN(const std::string text, field.scalar());
  const Result<Isolation> level = require_isolation(text, "the isolation");
  return level.ok() ? level : field.error(level.status().message());
}

}  // namespace ephost::manifest
