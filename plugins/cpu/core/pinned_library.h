// Libraries that cannot be unloaded together with the plugin: their threads live on, or what they
// keep in static pointers would be lost with each unloading.
#pragma once

namespace ephost_cpu {

// Keeps the shared library that holds this function loaded for the rest of the process.
void pin_library_of(void* function);

}  // namespace ephost_cpu
