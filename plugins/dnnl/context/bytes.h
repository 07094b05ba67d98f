// bytes.h: little-endian fields written to and read from a byte string. The reader checks every
// access against the end and throws Malformed; it never reads beyond the end.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace ephost_dnnl {

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the context binary is little-endian; this machine is not"
#endif

// Bytes that do not follow their format.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ByteWriter {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(raw, sizeof(T));
  }
  void text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    bytes_.append(value);
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T number() {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view text() { return take(number<uint32_t>()); }
  // Reads a number of items of at least `least_size` bytes each, which the bytes that are left must
  // be able to hold.
  uint32_t count(std::size_t least_size) {
    const auto value = number<uint32_t>();
    if (value > left() / least_size) fail("a count of " + std::to_string(value) + " items");
    return value;
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  void finish() const {
    if (left() != 0) fail(std::to_string(left()) + " bytes too many");
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Malformed(what + " at byte " + std::to_string(at_));
  }

 private:
  std::string_view take(std::size_t size) {
    if (size > left()) fail("the end where " + std::to_string(size) + " bytes are expected");
    const std::string_view taken = bytes_.substr(at_, size);
    at_ += size;
    return taken;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace ephost_dnnl
