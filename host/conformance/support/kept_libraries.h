// The libraries of the system stay loaded while a plugin is loaded and unloaded again and again:
// what they leave behind when they are unloaded, as libgomp of GCC 14 does, is not the plugin's.
#pragma once

#include <vector>

namespace ephost::conformance {

// Holds the system's libraries (host/plugin/loading/system_libraries.h) that are loaded when it is
// made.
class KeptSystemLibraries {
 public:
  KeptSystemLibraries();
  KeptSystemLibraries(const KeptSystemLibraries&) = delete;
  KeptSystemLibraries& operator=(const KeptSystemLibraries&) = delete;
  ~KeptSystemLibraries();

 private:
  std::vector<void*> handles_;
};

}  // namespace ephost::conformance
