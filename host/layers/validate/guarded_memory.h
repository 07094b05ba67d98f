// Memory for a value that a plugin gets, with zones around it that nobody may write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ephost::layers {

enum class Guard {
  kZones,  // a pattern on both sides, which is compared afterwards
  kPages   // besides, a page without access behind the memory: who reads or writes there crashes
};

class GuardedMemory {
 public:
  // Aligned to `alignment`, a power of two of at least 64, and filled with `fill`. Throws
  // std::bad_alloc if memory runs out.
  GuardedMemory(size_t size, size_t alignment, Guard guard, std::byte fill);
  GuardedMemory(GuardedMemory&&) noexcept = default;
  GuardedMemory& operator=(GuardedMemory&&) noexcept = default;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

  // How far beyond its ends the memory was written; zeros if nowhere.
  struct Damage {
    size_t before = 0;  // in bytes, from the start downwards
    size_t behind = 0;  // from the end upwards
  };
  [[nodiscard]] Damage damage() const;

 private:
  struct Unmap {
    size_t size;
    void operator()(std::byte* mapping) const;
  };

  std::unique_ptr<std::byte, Unmap> mapping_{nullptr, Unmap{0}};
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  size_t usable_ = 0;  // of the mapping, without the page that has no access
};

}  // namespace ephost::layers
