// The destination of a decoder's image, and the errors of decoders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

namespace ephost_image {

using Bytes = std::span<const uint8_t>;

// The file is damaged, or uses what is not supported. The message is a clause: "... is damaged".
class Undecodable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The image has more pixels than are allowed.
class TooLarge : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A library's message as one line of printable text, without what follows its first 200 characters.
[[nodiscard]] std::string printable(const char* message);

// Rows of pixels from top to bottom, of three bytes each: red, green and blue.
class Canvas {
 public:
  using Allocate = std::function<uint8_t*(int64_t height, int64_t width)>;
  // `allocate` returns memory for the whole image, which lives as long as the canvas.
  Canvas(uint64_t max_pixels, Allocate allocate)
      : max_pixels_(max_pixels), allocate_(std::move(allocate)) {}

  // Called once, before a decoder allocates anything that depends on the size of the image. Throws
  // Undecodable if there is no pixel, and TooLarge. The decoder then writes every pixel.
  void start(uint64_t width, uint64_t height);

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t height() const { return height_; }
  [[nodiscard]] std::size_t pixels() const { return width_ * height_; }
  [[nodiscard]] uint64_t max_pixels() const { return max_pixels_; }
  [[nodiscard]] uint8_t* data() { return data_; }
  [[nodiscard]] uint8_t* row(std::size_t y) { return data_ + y * width_ * 3; }

 private:
  uint64_t max_pixels_;
  Allocate allocate_;
  std::size_t width_ = 0, height_ = 0;
  uint8_t* data_ = nullptr;
};

}  // namespace ephost_image
