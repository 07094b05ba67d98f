/* Prints the layout of the C API in the form of layout.golden. */
#include "../layout_print.h"

#include <ephost/c_api.h>

int main(void) {
  puts(
      "/* The layout of the C API on 64-bit systems: sizes, offsets and numbers that programs "
      "were");
  puts(
      " * compiled with. A line that changes breaks every program; new lines come with a new minor "
      "version.");
  puts(" * Written by: cmake --build <build> --target update_api_layout */");
#include "api_fields.inc"
  return 0;
}
