#include "host/manifest/isolation.h"

#include <string>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/field.h"

namespace ephost::manifest {

Result<Isolation> read_isolation(const Field& field) {
  EPHOST_ASSIGN_OR_RETURN(const std::string text, field.scalar());
  if (const auto level = parse_isolation(text)) return *level;
  return field.error(
      formatted("the isolation {} is not known; write one of none, worker, sandbox", quote(text)));
}

}  // namespace ephost::manifest
