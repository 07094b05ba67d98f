#include "plugins/dnnl/library/primitive_cache.h"

#include <gtest/gtest.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

namespace ephost_dnnl::primitive_cache_test {
namespace {

TEST(PrimitiveCacheShare, SetsTheCapacityToTheLargestShareThatLives) {
  const int before = dnnl::get_primitive_cache_capacity();
  std::optional<PrimitiveCacheShare> small(10), large(300), other(300);
  EXPECT_EQ(dnnl::get_primitive_cache_capacity(), 300);
  large.reset();
  EXPECT_EQ(dnnl::get_primitive_cache_capacity(), 300);
  other.reset();
  EXPECT_EQ(dnnl::get_primitive_cache_capacity(), 10);
  small.reset();
  EXPECT_EQ(dnnl::get_primitive_cache_capacity(), before);
}

}  // namespace
}  // namespace ephost_dnnl::primitive_cache_test
