// BMP files by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/image/encoders.h"

namespace ephost_image::test::bmp_test {
namespace {

using ::testing::HasSubstr;

struct Bmp {
  uint32_t width, height;
  uint16_t bits;
  uint32_t compression = 0;
  std::vector<uint8_t> behind = {};  // palette or masks, then pixels
  std::size_t pixels_at = 54;        // in the file
  uint32_t colors = 0;
};

void append(File& file, uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) file.push_back(static_cast<uint8_t>(number >> 8 * i));
}

File write(const Bmp& bmp) {
  File file = {'B', 'M'};
  append(file, 54 + bmp.behind.size(), 4);
  append(file, 0, 4);
  append(file, bmp.pixels_at, 4);
  append(file, 40, 4);
  append(file, bmp.width, 4);
  append(file, bmp.height, 4);
  append(file, 1, 2);
  append(file, bmp.bits, 2);
  append(file, bmp.compression, 4);
  for (int i = 0; i < 3; ++i) append(file, 0, 4);
  append(file, bmp.colors, 4);
  append(file, 0, 4);
  file.insert(file.end(), bmp.behind.begin(), bmp.behind.end());
  return file;
}

using Pixels = std::vector<uint8_t>;

TEST(Bmp, ReadsRowsFromTheBottomOrFromTheTop) {
  const Picture picture = gradient(5, 3);
  EXPECT_EQ(decoded(encode_bmp(picture)), picture);
  const Pixels rows = {3, 2, 1, 0, 6, 5, 4, 0};
  EXPECT_EQ(decoded(write({1, 2, 24, 0, rows})).pixels, (Pixels{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(decoded(write({1, static_cast<uint32_t>(-2), 24, 0, rows})).pixels,
            (Pixels{1, 2, 3, 4, 5, 6}));
}

TEST(Bmp, ReadsPalettes) {
  // Two colours (blue, green, red, 0), then one row each.
  const Pixels palette = {3, 2, 1, 0, 6, 5, 4, 0};
  const auto with = [&](const Pixels& row) {
    Pixels behind = palette;
    behind.insert(behind.end(), row.begin(), row.end());
    return behind;
  };
  const Pixels expected = {4, 5, 6, 1, 2, 3, 4, 5, 6};
  EXPECT_EQ(decoded(write({3, 1, 1, 0, with({0xa0, 0, 0, 0}), 62, 2})).pixels, expected);
  EXPECT_EQ(decoded(write({3, 1, 4, 0, with({0x10, 0x10, 0, 0}), 62, 2})).pixels, expected);
  EXPECT_EQ(decoded(write({3, 1, 8, 0, with({1, 0, 1, 0}), 62, 2})).pixels, expected);
  // Colours beyond those of the palette are black.
  EXPECT_EQ(decoded(write({1, 1, 8, 0, with({7, 0, 0, 0}), 62, 2})).pixels, (Pixels{0, 0, 0}));
}

TEST(Bmp, ReadsSixteenAndThirtyTwoBits) {
  EXPECT_EQ(decoded(write({1, 1, 16, 0, {0x1f, 0x7c, 0, 0}})).pixels, (Pixels{255, 0, 255}));
  EXPECT_EQ(decoded(write({1, 1, 32, 0, {3, 2, 1, 99}})).pixels, (Pixels{1, 2, 3}));
  const Pixels fields565 = {0, 0xf8, 0, 0, 0xe0, 7, 0, 0, 0x1f, 0, 0, 0, 0xe0, 7, 0, 0};
  EXPECT_EQ(decoded(write({1, 1, 16, 3, fields565, 66})).pixels, (Pixels{0, 255, 0}));
  const Pixels swapped = {0xff, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0xff, 0, 1, 2, 3, 0};
  EXPECT_EQ(decoded(write({1, 1, 32, 3, swapped, 66})).pixels, (Pixels{1, 2, 3}));
}

// Two rows of four pixels: three of colour 1; one of 0, 1 and 0; the rest is left out.
TEST(Bmp, ReadsRunLengths) {
  const Pixels palette = {3, 2, 1, 0, 6, 5, 4, 0};
  Pixels runs8 = palette;
  for (const int byte : {3, 1, 0, 0, 0, 3, 0, 1, 0, 0, 0, 1})
    runs8.push_back(static_cast<uint8_t>(byte));
  Pixels runs4 = palette;
  for (const int byte : {3, 0x11, 0, 0, 0, 3, 0x01, 0x00, 0, 1}) {
    runs4.push_back(static_cast<uint8_t>(byte));
  }
  const Pixels expected = {1, 2, 3, 4, 5, 6, 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6, 4, 5, 6, 1, 2, 3};
  EXPECT_EQ(decoded(write({4, 2, 8, 1, runs8, 62, 2})).pixels, expected);
  EXPECT_EQ(decoded(write({4, 2, 4, 2, runs4, 62, 2})).pixels, expected);
}

TEST(Bmp, RefusesRunsThatLeaveTheImage) {
  EXPECT_EQ(refusal(write({4, 1, 8, 1, {3, 2, 1, 0, 5, 0, 0, 1}, 58, 1})),
            "the BMP image has a run that leaves the image");
  EXPECT_EQ(refusal(write({4, 1, 8, 1, {3, 2, 1, 0, 0, 2, 9, 0, 1, 0}, 58, 1})),
            "the BMP image has a run that leaves the image");
}

TEST(Bmp, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal(write({1, 1, 5, 0, {0, 0, 0, 0}})), HasSubstr("has 5 bits for a pixel"));
  EXPECT_THAT(refusal(write({1, 1, 24, 4, {0, 0, 0, 0}})), HasSubstr("in compression 4"));
  EXPECT_THAT(refusal(write({1, 1, 24, 0, {0, 0}})), HasSubstr("is truncated"));
  File header = write({1, 1, 24, 0, {0, 0, 0, 0}});
  header[14] = 20;
  EXPECT_THAT(refusal(header), HasSubstr("has a header of 20 bytes"));
}

}  // namespace
}  // namespace ephost_image::test::bmp_test
