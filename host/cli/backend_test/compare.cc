#include "host/cli/backend_test/compare.h"

#include "host/cli/values/elements.h"

namespace ephost::cli {

std::optional<std::string> find_difference(const Value& actual, const Value& expected,
                                           const Tolerance& tolerance) {
  return ephost::find_difference(view_of(actual), view_of(expected), tolerance);
}

}  // namespace ephost::cli
