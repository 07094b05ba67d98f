/* Asserts the layout of the C API at compile time, in C and in C++: each line of layout.golden
 * becomes an assertion. */
#include <ephost/c_api.h>

#include "../layout_asserts.h"

/* The pointers of the tables. */
LAYOUT_ASSERT(sizeof(void*) == 8, "the layout is that of 64-bit systems");

#include "layout.golden"
