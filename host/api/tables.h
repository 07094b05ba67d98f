// The tables of the C API, each in the source of its name.
#pragma once

#include <ephost/c_api.h>

namespace ephost::api {

extern const ephost_status_api kStatusApi;
extern const ephost_value_api kValueApi;
extern const ephost_environment_api kEnvironmentApi;
extern const ephost_session_options_api kSessionOptionsApi;
extern const ephost_session_api kSessionApi;
extern const ephost_model_api kModelApi;
extern const ephost_plugin_api kPluginApi;
extern const ephost_cache_api kCacheApi;
extern const ephost_placement_api kPlacementApi;

}  // namespace ephost::api
