// Memory for arrays and records that are read from messages: they live as long as the object.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>

namespace ephost::worker {

// Not thread-safe.
class Storage {
 public:
  Storage() = default;
  // `size`: the bytes that are expected, for one allocation.
  explicit Storage(size_t size) : memory_(size) {}

  // `count` elements that are zero; null where there are none.
  template <class T>
  [[nodiscard]] T* array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count == 0) return nullptr;
    T* const made = static_cast<T*>(memory_.allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(made, count);
    return made;
  }
  template <class T>
  [[nodiscard]] T* keep(const T& value) {
    T* const made = array<T>(1);
    *made = value;
    return made;
  }
  [[nodiscard]] void* bytes(size_t size) {
    return memory_.allocate(size == 0 ? 1 : size, kAlignment);
  }

 private:
  static constexpr size_t kAlignment = 64;
  std::pmr::monotonic_buffer_resource memory_;
};

}  // namespace ephost::worker
