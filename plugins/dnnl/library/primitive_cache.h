// primitive_cache.h: the library's cache of primitives, of which a process has one.
#pragma once

#include <mutex>

namespace ephost_dnnl {

// Makes room for several large models at once; a cached primitive saves half a millisecond.
void enlarge_primitive_cache();

// While it lives, the cache is empty and off, and the library can be asked for its implementations
// one after the other: with a cache that knows the first one, oneDNN 2.6.3 gives that again for the
// others. One at a time in a process; more wait.
class WithoutPrimitiveCache {
 public:
  WithoutPrimitiveCache();
  ~WithoutPrimitiveCache();
  WithoutPrimitiveCache(const WithoutPrimitiveCache&) = delete;
  WithoutPrimitiveCache& operator=(const WithoutPrimitiveCache&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  int capacity_;
};

}  // namespace ephost_dnnl
