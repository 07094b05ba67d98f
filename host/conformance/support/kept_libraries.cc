#include "host/conformance/support/kept_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <string>

#include "host/plugin/loading/system_libraries.h"

namespace ephost::conformance {
namespace {

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* list) {
        static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

}  // namespace

KeptSystemLibraries::KeptSystemLibraries() {
  for (const std::string& path : loaded_libraries()) {
    if (path.empty() || !plugin::is_system_library(path)) continue;
    void* const handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr) handles_.push_back(handle);
  }
}

KeptSystemLibraries::~KeptSystemLibraries() {
  for (void* const handle : handles_) ::dlclose(handle);
}

}  // namespace ephost::conformance
