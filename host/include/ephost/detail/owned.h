// Owned and SmallArray: what the functions of the C++ API need of std::unique_ptr and std::vector
// for their handles and arguments. Every program that includes the API pays for what its functions
// use, and these take a fraction of the time to compile.
#pragma once

#include <cstddef>

namespace ephost::detail {

// Owns an object, or nothing; `Release()(object)` ends it.
template <class T, class Release>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~Owned() { reset(nullptr); }

  [[nodiscard]] T* get() const { return object_; }
  T* operator->() const { return object_; }
  // Gives the object up; the caller owns it.
  [[nodiscard]] T* release() {
    T* const object = object_;
    object_ = nullptr;
    return object;
  }
  void reset(T* object) {
    T* const previous = object_;
    object_ = object;
    if (previous != nullptr) Release()(previous);
  }

 private:
  T* object_ = nullptr;
};

struct Delete {
  template <class T>
  void operator()(T* object) const {
    delete object;
  }
};

// An array whose size is known when it is made; zeroed. A few elements lie in the
// object itself, so that the usual run allocates no memory.
template <class T>
class SmallArray {
 public:
  explicit SmallArray(size_t size) : size_(size) {
    if (size > kFew) many_ = new T[size]();
  }
  // What `make(item)` gives of each of `items`, a vector or span.
  template <class Items, class Make>
  SmallArray(const Items& items, const Make& make) : SmallArray(items.size()) {
    T* const to = data();
    for (size_t i = 0; i < size_; ++i) to[i] = make(items.data()[i]);
  }
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;
  ~SmallArray() { delete[] many_; }

  [[nodiscard]] T* data() { return many_ == nullptr ? few_ : many_; }
  [[nodiscard]] const T* data() const { return many_ == nullptr ? few_ : many_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] T& operator[](size_t i) { return data()[i]; }

 private:
  static constexpr size_t kFew = 8;
  size_t size_;
  T few_[kFew] = {};
  T* many_ = nullptr;
};

}  // namespace ephost::detail
