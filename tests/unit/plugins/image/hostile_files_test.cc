// Damaged files: each fails with one error, or becomes a picture; the sanitizers watch how.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/plugins/image/encoders.h"

namespace ephost_image::test::hostile_files_test {
namespace {

// Whether the picture depends on the bytes from `size` on: formats have trailers that do not
// matter.
bool is_whole(const File& file, const Picture& picture, std::size_t size) {
  const File part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
  try {
    return decoded(part) == picture;
  } catch (const Undecodable&) {
    return false;
  }
}

TEST(HostileFiles, OfWhichAPartIsMissingAreRefused) {
  for (const auto& [name, file] : sample_files()) {
    if (name == "ppm_text") continue;  // a number without its last digit is a number
    const Picture picture = decoded(file);
    bool was_whole = false;
    for (std::size_t size = 0; size < file.size(); ++size) {
      const File part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      if (is_whole(file, picture, size)) {
        was_whole = true;
      } else {
        EXPECT_NE(refusal(part), "") << name << " of " << size << " bytes";
        EXPECT_FALSE(was_whole) << name << " of " << size << " bytes";
      }
    }
  }
}

TEST(HostileFiles, WithDamagedBytesDoNoHarm) {
  std::mt19937 engine(7);
  for (const auto& [name, file] : sample_files()) {
    for (std::size_t at = 0; at < file.size(); ++at) {
      for (const uint8_t byte : {uint8_t{0}, uint8_t{0xff}, static_cast<uint8_t>(engine())}) {
        File damaged = file;
        damaged[at] = byte;
        // A message, or a picture of some size below the limit.
        static_cast<void>(refusal(damaged, 1 << 16));
      }
    }
  }
}

TEST(HostileFiles, OfRandomBytesBehindAHeaderDoNoHarm) {
  std::mt19937 engine(11);
  for (const auto& [name, file] : sample_files()) {
    for (int round = 0; round < 20; ++round) {
      File damaged = file;
      const std::size_t first = engine() % damaged.size();
      for (std::size_t at = first; at < damaged.size(); ++at) {
        damaged[at] = static_cast<uint8_t>(engine());
      }
      static_cast<void>(refusal(damaged, 1 << 16));
    }
  }
}

TEST(HostileFiles, OfHugeSizeAreRefusedAtTheirHeader) {
  // Width and height of 2^31 - 1 and the like, in headers of which nothing follows.
  File png = encode_png(gradient(4, 4), {});
  std::fill_n(png.begin() + 16, 8, uint8_t{0x7f});
  EXPECT_NE(refusal(png), "");
  File bmp = encode_bmp(gradient(4, 4));
  std::fill_n(bmp.begin() + 18, 2, uint8_t{0xff});
  std::fill_n(bmp.begin() + 22, 2, uint8_t{0xff});
  EXPECT_EQ(refusal(bmp),
            "the BMP image has 65535 x 65535 pixels, more than the 1048576 of option max_pixels");
  const File pnm = {'P', '6', ' ', '9', '9', '9', '9', '9', ' ', '9',
                    '9', '9', '9', '9', ' ', '2', '5', '5', ' '};
  EXPECT_EQ(refusal(pnm),
            "the PNM image has 99999 x 99999 pixels, more than the 1048576 of option max_pixels");
}

TEST(HostileFiles, OfJpeg2000WithTinyPrecinctsAreRefused) {
  const Picture picture = gradient(100, 100);
  const File file = encode_jpeg2000(picture, {.precinct = 16});
  EXPECT_EQ(decoded(file), picture);
  const std::vector<uint8_t> sizes = {0x44, 0x44, 0x44};
  const auto found = std::search(file.begin(), file.end(), sizes.begin(), sizes.end());
  ASSERT_NE(found, file.end());
  File tiny = file;
  tiny[static_cast<std::size_t>(found - file.begin()) + 2] = 0x42;
  EXPECT_EQ(refusal(tiny), "the JPEG 2000 image has precincts that are too small");
}

TEST(HostileFiles, OfJpeg2000WithTooManyTilesOrComponentsAreRefused) {
  const File file = encode_jpeg2000(gradient(100, 100), {});
  File tiles = file;
  std::fill_n(tiles.begin() + 24, 8, uint8_t{0});  // tiles of one pixel
  tiles[27] = tiles[31] = 1;
  EXPECT_EQ(refusal(tiles),
            "the JPEG 2000 image has 10000 tiles, more than the 4096 that are supported");
  File components = file;
  components[40] = 1;
  EXPECT_EQ(refusal(components), "the JPEG 2000 image has 259 components instead of 1 to 4");
}

}  // namespace
}  // namespace ephost_image::test::hostile_files_test
