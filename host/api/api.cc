#include <cstdlib>
#include <memory>

#include "host/api/report.h"
#include "host/api/tables.h"

namespace ephost::api {
namespace {

void release_report(const void* report) {
  if (report == nullptr) return;
  // Read first: the head lies in the arena.
  Arena* const arena = (static_cast<const ReportHead*>(report) - 1)->arena;
  delete arena;
}

void release_text(char* text) { std::free(text); }

constexpr ephost_api kApi = {
    .struct_size = sizeof(ephost_api),
    .minor = EPHOST_API_MINOR,
    .reserved = 0,
    .version = EPHOST_VERSION,
    .status = &kStatusApi,
    .value = &kValueApi,
    .environment = &kEnvironmentApi,
    .session_options = &kSessionOptionsApi,
    .session = &kSessionApi,
    .model = &kModelApi,
    .plugin = &kPluginApi,
    .cache = &kCacheApi,
    .placement = &kPlacementApi,
    .release_report = release_report,
    .release_text = release_text,
};

}  // namespace
}  // namespace ephost::api

const ephost_api* ephost_api_v1(void) { return &ephost::api::kApi; }
