#include "plugins/image/canvas.h"

namespace ephost_image {

std::string printable(const char* message) {
  constexpr std::size_t kMost = 200;
  std::string text;
  for (; *message != '\0' && text.size() < kMost; ++message) {
    const bool is_printable = *message >= ' ' && *message <= '~';
    text.push_back(is_printable ? *message : ' ');
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

void Canvas::start(uint64_t width, uint64_t height) {
  if (width == 0 || height == 0) throw Undecodable("has no pixels");
  if (width > max_pixels_ || height > max_pixels_ / width) {
    throw TooLarge("has " + std::to_string(width) + " x " + std::to_string(height) +
                   " pixels, more than the " + std::to_string(max_pixels_) +
                   " of option max_pixels");
  }
  width_ = static_cast<std::size_t>(width);
  height_ = static_cast<std::size_t>(height);
  data_ = allocate_(static_cast<int64_t>(height), static_cast<int64_t>(width));
}

}  // namespace ephost_image
