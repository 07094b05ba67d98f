// pictures.h: small pictures, and what the tests of the decoders do with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/image/decode.h"

namespace ephost_image::test {

using File = std::vector<uint8_t>;

// Pixels of red, green and blue, row by row.
struct Picture {
  std::size_t width = 0, height = 0;
  std::vector<uint8_t> pixels;

  bool operator==(const Picture&) const = default;
};

// Smooth in both directions, with another slope for each colour.
Picture gradient(std::size_t width, std::size_t height);
// The same with equal colours in each pixel.
Picture gray_gradient(std::size_t width, std::size_t height);

// Throws what `decode` throws.
Picture decoded(const File& file, uint64_t max_pixels = 1 << 20);
// The message of the error, "" if there is none.
std::string refusal(const File& file, uint64_t max_pixels = 1 << 20);

// The largest difference of two samples; 256 if the sizes differ.
int distance(const Picture& a, const Picture& b);

// A file of every kind that the encoders write, by a name for messages.
std::vector<std::pair<std::string, File>> sample_files();

}  // namespace ephost_image::test
