// JPEG, JPEG 2000, PNG, TIFF and WebP, against the pictures that the libraries' encoders were
// given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/image/encoders.h"

namespace ephost_image::test::libraries_test {
namespace {

using ::testing::HasSubstr;
using Pixels = std::vector<uint8_t>;

TEST(Png, KeepsEveryPixel) {
  const Picture picture = gradient(21, 10);
  for (const int bits : {8, 16}) {
    for (const bool has_alpha : {false, true}) {
      for (const bool is_interlaced : {false, true}) {
        if (bits == 16 && has_alpha) continue;
        EXPECT_EQ(decoded(encode_png(picture, {bits, has_alpha, is_interlaced})), picture)
            << bits << has_alpha << is_interlaced;
      }
    }
  }
}

TEST(Png, SpreadsGrayOverAllBits) {
  const Picture picture = gray_gradient(11, 5);
  for (const int bits : {1, 2, 4, 8, 16}) {
    Picture expected = picture;
    for (uint8_t& sample : expected.pixels) {
      const int levels = (1 << std::min(bits, 8)) - 1;
      const int level = bits >= 8 ? sample : sample >> (8 - bits);
      sample = static_cast<uint8_t>(level * 255 / levels);
    }
    EXPECT_EQ(decoded(encode_gray_png(picture, bits)), expected) << bits;
  }
}

TEST(Png, LooksUpPalettesWithoutTheirTransparency) {
  const Pixels palette = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(decoded(encode_palette_png(2, {3, 0, 1, 2}, palette)).pixels,
            (Pixels{10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Png, SaysWhatIsDamaged) {
  File file = encode_png(gradient(8, 8), {});
  file[20] ^= 1;  // the height, which the checksum covers
  EXPECT_EQ(refusal(file), "the PNG image is damaged: IHDR: CRC error");
  file.resize(30);
  EXPECT_EQ(refusal(file), "the PNG image is damaged: the file ends too early");
}

TEST(Jpeg, ComesCloseToThePicture) {
  const Picture picture = gradient(40, 24);
  EXPECT_LE(distance(decoded(encode_jpeg(picture, {})), picture), 3);
  EXPECT_LE(distance(decoded(encode_jpeg(picture, {.is_progressive = true})), picture), 3);
  EXPECT_LE(distance(decoded(encode_jpeg(picture, {.is_subsampled = true})), picture), 8);
  const Picture gray = gray_gradient(40, 24);
  EXPECT_LE(distance(decoded(encode_jpeg(gray, {.colors = 1})), gray), 1);
}

TEST(Jpeg, TurnsInksIntoColors) {
  const Picture picture = gradient(16, 16);
  EXPECT_LE(distance(decoded(encode_jpeg(picture, {.colors = 4})), picture), 3);
}

// Black pixels beside red ones, at half the resolution of colour: it is interpolated between the
// centres of its pixels, a quarter and three quarters of the way.
TEST(Jpeg, InterpolatesColors) {
  Picture picture{32, 8, {}};
  for (std::size_t i = 0; i < 32 * 8; ++i) {
    const bool is_right = i % 32 >= 16;
    for (const int sample : {is_right ? 254 : 0, 0, 0}) {
      picture.pixels.push_back(static_cast<uint8_t>(sample));
    }
  }
  const Picture found = decoded(encode_jpeg(picture, {.is_subsampled = true}));
  const auto red_minus_green = [&](std::size_t x) {
    return int{found.pixels[3 * x]} - int{found.pixels[3 * x + 1]};
  };
  EXPECT_GT(red_minus_green(15), red_minus_green(13) + 20);
  EXPECT_LT(red_minus_green(16), red_minus_green(18) - 20);
}

TEST(Jpeg, RefusesMissingData) {
  File file = encode_jpeg(gradient(40, 24), {});
  file.resize(file.size() * 3 / 4);
  EXPECT_EQ(refusal(file), "the JPEG image is damaged: Premature end of JPEG file");
}

TEST(Jpeg, RefusesMoreScansThanAnImageHas) {
  const File file = encode_jpeg(gradient(8, 8), {.is_progressive = true});
  // The first scan, from its marker to the next one, again and again.
  std::size_t begin = 0;
  while (file[begin] != 0xff || file[begin + 1] != 0xda) ++begin;
  std::size_t end = begin + 2;
  while (file[end] != 0xff || file[end + 1] == 0) ++end;
  const auto at = [&](std::size_t i) { return file.begin() + static_cast<std::ptrdiff_t>(i); };
  File bomb(at(0), at(end));
  for (int i = 0; i < 600; ++i) bomb.insert(bomb.end(), at(begin), at(end));
  bomb.insert(bomb.end(), at(end), file.end());
  EXPECT_EQ(refusal(bomb), "the JPEG image is damaged: more than 500 scans");
}

TEST(Jpeg2000, KeepsEveryPixel) {
  const Picture picture = gradient(21, 10);
  const Picture gray = gray_gradient(21, 10);
  for (const bool has_boxes : {false, true}) {
    EXPECT_EQ(decoded(encode_jpeg2000(picture, {has_boxes, 3})), picture) << has_boxes;
    EXPECT_EQ(decoded(encode_jpeg2000(gray, {has_boxes, 1})), gray) << has_boxes;
  }
}

TEST(Tiff, KeepsEveryPixel) {
  const Picture picture = gradient(37, 21);
  const Picture gray = gray_gradient(37, 21);
  for (const int bits : {8, 16}) {
    for (const bool is_compressed : {false, true}) {
      for (const bool is_tiled : {false, true}) {
        EXPECT_EQ(decoded(encode_tiff(picture, {bits, 3, is_compressed, is_tiled})), picture)
            << bits << is_compressed << is_tiled;
        EXPECT_EQ(decoded(encode_tiff(gray, {bits, 1, is_compressed, is_tiled})), gray)
            << bits << is_compressed << is_tiled;
      }
    }
  }
}

TEST(Tiff, SaysWhatIsMissing) {
  EXPECT_THAT(refusal({'I', 'I', '*', 0}), HasSubstr("the TIFF image is damaged: "));
  EXPECT_THAT(refusal({'M', 'M', 0, '*', 0, 0, 0, 8}), HasSubstr("the TIFF image is damaged: "));
}

TEST(WebP, KeepsEveryPixelWithoutLoss) {
  const Picture picture = gradient(21, 10);
  EXPECT_EQ(decoded(encode_webp(picture, true)), picture);
  EXPECT_LE(distance(decoded(encode_webp(picture, false)), picture), 20);
}

TEST(WebP, RefusesAnimations) {
  const File file = {'R', 'I', 'F', 'F', 22, 0, 0, 0, 'W', 'E', 'B', 'P', 'V', 'P', '8',
                     'X', 10,  0,   0,   0,  2, 0, 0, 0,   3,   0,   0,   3,   0,   0};
  EXPECT_EQ(refusal(file), "the WebP image is an animation, which is not supported");
}

}  // namespace
}  // namespace ephost_image::test::libraries_test
