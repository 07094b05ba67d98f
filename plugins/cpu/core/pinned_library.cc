#include "plugins/cpu/core/pinned_library.h"

#include <dlfcn.h>

namespace ephost_cpu {

void pin_library_of(void* function) {
  Dl_info info = {};
  if (dladdr(function, &info) != 0) {
    dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

}  // namespace ephost_cpu
