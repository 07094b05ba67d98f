/* Prints the layout of the ABI in the form of layout.golden. */
#include "layout_print.h"

#include "abi_headers.h"

int main(void) {
  puts(
      "/* The layout of the plugin ABI on 64-bit systems: sizes, offsets and numbers that plugins "
      "were");
  puts(
      " * compiled with. A line that changes breaks every plugin; new lines come with a new minor "
      "version.");
  puts(" * Written by: cmake --build <build> --target update_abi_layout */");
#include "abi_fields.inc"
  return 0;
}
