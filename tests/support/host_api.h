// The classes behind the public API, for tests that look inside. Programs include
// <ephost/ephost.h>, which declares classes of the same names over the C API; a source includes one
// or the other.
#pragma once

#include "host/runtime/values/value.h"
#include "host/session/caching/cache_maintenance.h"
#include "host/session/compile/compile_model.h"
#include "host/session/config/session_options.h"
#include "host/session/environment/environment.h"
#include "host/session/facade/session.h"
#include "host/session/tools/inspect_plugin.h"
#include "host/session/tools/partition_model.h"
#include "host/session/tools/place_buffers.h"
#include "host/session/tools/plan_model.h"
#include "host/session/tools/value_file.h"
#include "host/session/tools/verify_context.h"
