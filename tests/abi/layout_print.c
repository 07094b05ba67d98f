/* Prints the layout of the ABI in the form of layout.golden. */
#include "layout_print.h"

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

int main(void) {
  puts(
      "/* The layout of the plugin ABI on 64-bit systems: sizes, offsets and numbers that plugins "
      "were");
  puts(
      " * compiled with. A line that changes breaks every plugin; new lines come with a new minor "
      "version.");
  puts(" * Written by: cmake --build <build> --target update_abi_layout */");
#include "layout_fields.inc"
  return 0;
}
