// basics.hpp: borrowed arrays and text, failures as exceptions, element types. The other headers of
// the wrapper build on it; it knows nothing of graphs or providers.
#pragma once

#include <ephost/plugin_abi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace eph {

// A borrowed array.
template <class T>
class ArrayView {
 public:
  constexpr ArrayView() = default;
  constexpr ArrayView(const T* data, std::size_t size) : data_(data), size_(size) {}
  ArrayView(const std::vector<T>& items) : data_(items.data()), size_(items.size()) {}

  [[nodiscard]] constexpr const T* data() const { return data_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr const T* begin() const { return data_; }
  [[nodiscard]] constexpr const T* end() const { return data_ + size_; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] std::vector<T> to_vector() const { return std::vector<T>(begin(), end()); }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

[[nodiscard]] inline std::string_view view(eph_string text) {
  return {text.data, static_cast<std::size_t>(text.size)};
}
[[nodiscard]] constexpr eph_string to_abi(std::string_view text) {
  return {text.data(), text.size()};
}

// A failure with its code. std::bad_alloc counts as EPH_OUT_OF_MEMORY, any other exception as
// EPH_FAIL, and so does the code EPH_OK.
class Failure : public std::runtime_error {
 public:
  Failure(int32_t code, const std::string& message)
      : std::runtime_error(message), code_(code == EPH_OK ? int32_t{EPH_FAIL} : code) {}
  [[nodiscard]] int32_t code() const { return code_; }

 private:
  int32_t code_;
};

// The ABI's number for a C++ element type.
template <class T>
constexpr int32_t element_type_of() {
  if constexpr (std::is_same_v<T, float>)
    return EPH_ELEMENT_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return EPH_ELEMENT_DOUBLE;
  else if constexpr (std::is_same_v<T, bool>)
    return EPH_ELEMENT_BOOL;
  else if constexpr (std::is_same_v<T, int8_t>)
    return EPH_ELEMENT_INT8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return EPH_ELEMENT_INT16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return EPH_ELEMENT_INT32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return EPH_ELEMENT_INT64;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return EPH_ELEMENT_UINT8;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return EPH_ELEMENT_UINT16;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return EPH_ELEMENT_UINT32;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return EPH_ELEMENT_UINT64;
  else if constexpr (std::is_same_v<T, eph_string>)
    return EPH_ELEMENT_STRING;
  else
    return EPH_ELEMENT_UNDEFINED;
}

// The bit of an element type in eph_type_rule::element_types.
[[nodiscard]] constexpr uint64_t type_bit(int32_t element_type) {
  return uint64_t{1} << element_type;
}

namespace detail {

inline void set_message(eph_error* error, std::string_view message) noexcept {
  error->api->set_message(error, to_abi(message));
}

// Runs `body` and turns an exception into a code and a message.
template <class Body>
int32_t guard(eph_error* error, Body&& body) noexcept {
  try {
    body();
    return EPH_OK;
  } catch (const Failure& failure) {
    set_message(error, failure.what());
    return failure.code();
  } catch (const std::bad_alloc&) {
    set_message(error, "the plugin ran out of memory");
    return EPH_OUT_OF_MEMORY;
  } catch (const std::exception& exception) {
    set_message(error, exception.what());
  } catch (...) {
    set_message(error, "the plugin failed with an exception of an unknown type");
  }
  return EPH_FAIL;
}

// Lets `describe` fill a record of the other side: hands it a complete one, which holds what the
// other side's struct_size covers of its own and is zero after that, and writes as much back. The
// struct_size becomes the smaller of the two sizes.
template <class Record, class Describe>
void fill_record(Record* out, Describe&& describe) {
  if (out == nullptr || out->struct_size < sizeof(out->struct_size)) {
    throw Failure(EPH_INVALID_ARGUMENT, "the host asks for a record without setting its size");
  }
  const uint64_t size = std::min<uint64_t>(out->struct_size, sizeof(Record));
  Record known = {};
  std::memcpy(&known, out, static_cast<std::size_t>(size));
  describe(known);
  known.struct_size = size;
  std::memcpy(out, &known, static_cast<std::size_t>(size));
}

// Releases what a provider made to the host. Null would be success without a result, which the ABI
// forbids.
template <class T>
T* release_made(std::unique_ptr<T> made, const char* by) {
  if (made == nullptr) throw Failure(EPH_FAIL, std::string(by) + " of the plugin made nothing");
  return made.release();
}

// Receives the message of a failing host function, and throws it.
class ThrowingError : public eph_error {
 public:
  ThrowingError() : eph_error{&kApi} {}
  void check(int32_t code) const {
    if (code != EPH_OK) throw Failure(code, message_);
  }

 private:
  static void store(eph_error* error, eph_string message) noexcept {
    try {
      static_cast<ThrowingError*>(error)->message_ = view(message);
    } catch (...) {  // out of memory: the code goes without its message
    }
  }
  static constexpr eph_error_api kApi = {sizeof(eph_error_api), &ThrowingError::store};
  std::string message_;
};

}  // namespace detail

}  // namespace eph
