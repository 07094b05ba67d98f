#include "plugins/dnnl/library/primitive_cache.h"

#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <set>

namespace ephost_dnnl {
namespace {

struct Shares {
  std::mutex mutex;
  std::multiset<int> capacities;
  int capacity_before = 0;
};

Shares& shares() {
  static Shares all;
  return all;
}

}  // namespace

PrimitiveCacheShare::PrimitiveCacheShare(int capacity) : capacity_(capacity) {
  Shares& all = shares();
  const std::lock_guard lock(all.mutex);
  if (all.capacities.empty()) all.capacity_before = dnnl::get_primitive_cache_capacity();
  all.capacities.insert(capacity);
  dnnl::set_primitive_cache_capacity(*all.capacities.rbegin());
}

PrimitiveCacheShare::~PrimitiveCacheShare() {
  Shares& all = shares();
  const std::lock_guard lock(all.mutex);
  all.capacities.erase(all.capacities.find(capacity_));
  // The library's own functions do not throw.
  if (all.capacities.empty()) dnnl_set_primitive_cache_capacity(0);
  dnnl_set_primitive_cache_capacity(all.capacities.empty() ? all.capacity_before
                                                           : *all.capacities.rbegin());
}

}  // namespace ephost_dnnl
