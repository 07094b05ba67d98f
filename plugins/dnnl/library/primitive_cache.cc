#include "plugins/dnnl/library/primitive_cache.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace ephost_dnnl {
namespace {

constexpr int kCapacity = 8192;

// Of the library's setting, which belongs to the process.
std::mutex& mutex() {
  static std::mutex instance;
  return instance;
}

}  // namespace

void enlarge_primitive_cache() {
  const std::lock_guard lock(mutex());
  if (dnnl::get_primitive_cache_capacity() < kCapacity) {
    dnnl::set_primitive_cache_capacity(kCapacity);
  }
}

WithoutPrimitiveCache::WithoutPrimitiveCache()
    : lock_(mutex()), capacity_(dnnl::get_primitive_cache_capacity()) {
  dnnl::set_primitive_cache_capacity(0);
}

WithoutPrimitiveCache::~WithoutPrimitiveCache() { dnnl::set_primitive_cache_capacity(capacity_); }

}  // namespace ephost_dnnl
