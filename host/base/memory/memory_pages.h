// Memory in whole pages, whose access can be taken away.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace ephost {

class MemoryPages {
 public:
  [[nodiscard]] static size_t page_size();

  MemoryPages() = default;
  // At least `size` bytes, all zero. Throws std::bad_alloc if memory runs out.
  explicit MemoryPages(size_t size);

  [[nodiscard]] std::byte* data() const { return mapping_.get(); }
  [[nodiscard]] size_t size() const { return mapping_.get_deleter().size; }

  enum class Access { kNone, kRead, kReadWrite };
  // Changes the access to whole pages. False if the system refuses.
  static bool set_access(std::span<std::byte> pages, Access access) noexcept;
  // From now on any access to any page crashes, and they occupy no memory. False, and nothing has
  // changed, if the system refuses.
  bool retire() noexcept;

 private:
  struct Unmap {
    size_t size;
    void operator()(std::byte* mapping) const noexcept;
  };
  std::unique_ptr<std::byte, Unmap> mapping_{nullptr, Unmap{0}};
};

}  // namespace ephost
