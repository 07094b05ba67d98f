// Any bytes as an image file. What decodes has written every pixel, and none beyond: the canvas is
// of its size, with a sanitizer behind it.
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "plugins/image/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kMaxPixels = 1 << 16;
  std::unique_ptr<uint8_t[]> pixels;
  ephost_image::Canvas canvas(kMaxPixels, [&](int64_t height, int64_t width) {
    if (pixels != nullptr) std::abort();  // started twice
    pixels = std::make_unique<uint8_t[]>(3 * static_cast<size_t>(height * width));
    return pixels.get();
  });
  try {
    ephost_image::decode({data, size}, canvas);
    if (pixels == nullptr) std::abort();
    ephost_image::swap_to_bgr(canvas.data(), canvas.pixels());
  } catch (const ephost_image::Undecodable&) {
  } catch (const ephost_image::TooLarge&) {
  }
  return 0;
}
