#include "tests/unit/plugins/image/pictures.h"

#include <algorithm>
#include <cstdlib>

#include "tests/unit/plugins/image/encoders.h"

namespace ephost_image::test {

Picture gradient(std::size_t width, std::size_t height) {
  Picture made{width, height, {}};
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      made.pixels.push_back(static_cast<uint8_t>(20 + 3 * x + y));
      made.pixels.push_back(static_cast<uint8_t>(200 - 2 * x - 2 * y));
      made.pixels.push_back(static_cast<uint8_t>(90 + x + 4 * y));
    }
  }
  return made;
}

Picture gray_gradient(std::size_t width, std::size_t height) {
  Picture made = gradient(width, height);
  for (std::size_t i = 0; i < made.pixels.size(); i += 3) {
    std::fill_n(made.pixels.begin() + static_cast<std::ptrdiff_t>(i), 3, made.pixels[i]);
  }
  return made;
}

Picture decoded(const File& file, uint64_t max_pixels) {
  Picture made;
  Canvas canvas(max_pixels, [&](int64_t height, int64_t width) {
    made.width = static_cast<std::size_t>(width);
    made.height = static_cast<std::size_t>(height);
    made.pixels.assign(3 * made.width * made.height, 0xa5);
    return made.pixels.data();
  });
  decode(file, canvas);
  return made;
}

std::string refusal(const File& file, uint64_t max_pixels) {
  try {
    static_cast<void>(decoded(file, max_pixels));
  } catch (const Undecodable& error) {
    return error.what();
  } catch (const TooLarge& error) {
    return error.what();
  }
  return "";
}

int distance(const Picture& a, const Picture& b) {
  if (a.width != b.width || a.height != b.height) return 256;
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    largest = std::max(largest, std::abs(int{a.pixels[i]} - int{b.pixels[i]}));
  }
  return largest;
}

std::vector<std::pair<std::string, File>> sample_files() {
  const Picture color = gradient(13, 9);
  const Picture gray = gray_gradient(13, 9);
  return {{"bmp", encode_bmp(color)},
          {"jpeg", encode_jpeg(color, {})},
          {"jpeg_cmyk", encode_jpeg(color, {.colors = 4})},
          {"jpeg_gray", encode_jpeg(gray, {.colors = 1})},
          {"jpeg_progressive", encode_jpeg(color, {.is_progressive = true})},
          {"jpeg2000_boxes", encode_jpeg2000(color, {.has_boxes = true})},
          {"jpeg2000_stream", encode_jpeg2000(gray, {.components = 1})},
          {"pgm", encode_pnm(gray, '5')},
          {"png", encode_png(color, {})},
          {"png_16", encode_png(color, {.bits = 16})},
          {"png_interlaced", encode_png(color, {.has_alpha = true, .is_interlaced = true})},
          {"ppm_text", encode_pnm(color, '3')},
          {"tiff", encode_tiff(color, {})},
          {"tiff_16", encode_tiff(color, {.bits = 16})},
          {"tiff_lzw", encode_tiff(color, {.is_compressed = true})},
          {"webp", encode_webp(color, false)},
          {"webp_lossless", encode_webp(color, true)}};
}

}  // namespace ephost_image::test
