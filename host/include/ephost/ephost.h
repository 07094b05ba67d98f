// The whole public API of the host.
#pragma once

#include <ephost/cache_store.h>
#include <ephost/check_selection.h>
#include <ephost/compile_model.h>
#include <ephost/element_info.h>
#include <ephost/element_type.h>
#include <ephost/environment.h>
#include <ephost/float16.h>
#include <ephost/fwd.h>
#include <ephost/inspect_plugin.h>
#include <ephost/partition_model.h>
#include <ephost/place_buffers.h>
#include <ephost/plan_model.h>
#include <ephost/plugin_exit.h>
#include <ephost/session.h>
#include <ephost/session_options.h>
#include <ephost/status.h>
#include <ephost/value.h>
#include <ephost/value_file.h>
#include <ephost/verify_context.h>
