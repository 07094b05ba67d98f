#include "host/plugin/calls/call.h"

#include <exception>
#include <string>

#include "host/base/format.h"
#include "host/base/log.h"

namespace ephost::plugin {
namespace {

Status threw(const CallSite& site, const std::string& what) {
  return Status(
      StatusCode::kEpFail,
      formatted(
          "{} threw {}, though no exception may leave a plugin; report this to the plugin's vendor",
          describe(site), what));
}

}  // namespace

Status thrown_by(const CallSite& site) noexcept {
  try {
    throw;
  } catch (const std::exception& exception) {
    return threw(site, formatted("an exception ({})", exception.what()));
  } catch (...) {
    return threw(site, "an exception of an unknown type");
  }
}

void log_failure(const Status& status) noexcept { log_error(status.message()); }

}  // namespace ephost::plugin
