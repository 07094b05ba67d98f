// The whole public API of the host.
#pragma once

#include <ephost/cache_use.h>
#include <ephost/compile_model.h>
#include <ephost/environment.h>
#include <ephost/fallback.h>
#include <ephost/session.h>
#include <ephost/session_options.h>
#include <ephost/status.h>
#include <ephost/value.h>
