/* Asserts the layout of the ABI at compile time, in C and in C++: each line of layout.golden
 * becomes an assertion. */
#include "abi_headers.h"
#include "layout_asserts.h"

/* Element types are numbers of bits in eph_type_rule::element_types, which has 64. */
LAYOUT_ASSERT(EPH_ELEMENT_INT2 < 64, "element types must fit the bits of eph_type_rule");

#include "layout.golden"
