/* Asserts the layout of the ABI at compile time, in C and in C++: each line of layout.golden
 * becomes an assertion. */
#include <ephost/ext/constants.h>
#include <ephost/ext/device_memory.h>
#include <ephost/ext/graph_wishes.h>
#include <ephost/ext/layer.h>
#include <ephost/ext/operators.h>
#include <ephost/ext/profiling.h>
#include <ephost/ext/progress.h>
#include <ephost/ext/run.h>
#include <ephost/ext/shapes.h>
#include <ephost/ext/shared_contexts.h>
#include <ephost/ext/thread_pool.h>
#include <ephost/plugin_abi.h>

#include "layout_asserts.h"

/* Element types are numbers of bits in eph_type_rule::element_types, which has 64. */
LAYOUT_ASSERT(EPH_ELEMENT_INT2 < 64, "element types must fit the bits of eph_type_rule");

#include "layout.golden"
