// primitive_cache.h: the library's cache of primitives, which is one for the process. It keeps the
// generated code of primitives after their last owner has gone, so that the next one is made fast.
#pragma once

namespace ephost_dnnl {

// More than any model has; a larger number is treated as a mistake.
inline constexpr int kMaxCachedPrimitives = 1 << 20;

// As long as one lives, the cache holds as many primitives as the largest of the shares that live.
// With the last of them, it is emptied and gets the capacity that it had before the first.
class PrimitiveCacheShare {
 public:
  explicit PrimitiveCacheShare(int capacity);
  ~PrimitiveCacheShare();
  PrimitiveCacheShare(const PrimitiveCacheShare&) = delete;
  PrimitiveCacheShare& operator=(const PrimitiveCacheShare&) = delete;

 private:
  int capacity_;
};

}  // namespace ephost_dnnl
