// What all formats have in common.
#include "plugins/image/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/image/encoders.h"

namespace ephost_image::test::decode_test {
namespace {

using ::testing::HasSubstr;

TEST(Decode, RecognisesEachFormatByItsFirstBytes) {
  for (const auto& [name, file] : sample_files()) {
    const Picture picture = decoded(file);
    EXPECT_EQ(picture.width, 13U) << name;
    EXPECT_EQ(picture.height, 9U) << name;
  }
}

TEST(Decode, RefusesDataOfNoFormat) {
  const File long_text(1000, 'x');
  for (const File& file : {File(), File{'B'}, File{0x89, 'P', 'N', 'G'}, File{'P', '7', '\n'},
                           File{'R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'A', 'V', 'E'}, long_text}) {
    EXPECT_THAT(refusal(file), HasSubstr("is not an image file of a known format"));
  }
}

TEST(Decode, NamesTheFormatInItsErrors) {
  EXPECT_EQ(refusal({'P', '5', ' ', '2', ' ', '2', ' ', '2', '5', '5', ' ', 1}),
            "the PNM image is truncated");
}

TEST(Decode, ChecksTheNumberOfPixelsBeforeAnythingIsAllocated) {
  for (const auto& [name, file] : sample_files()) {
    bool is_allocated = false;
    Canvas canvas(13 * 9 - 1, [&](int64_t, int64_t) {
      is_allocated = true;
      return nullptr;
    });
    EXPECT_THROW(decode(file, canvas), TooLarge) << name;
    EXPECT_FALSE(is_allocated) << name;
    EXPECT_THAT(refusal(file, 13 * 9 - 1),
                HasSubstr("has 13 x 9 pixels, more than the 116 of option max_pixels"))
        << name;
    EXPECT_EQ(refusal(file, 13 * 9), "") << name;
  }
}

TEST(Canvas, RefusesSizesWhoseProductOverflows) {
  Canvas canvas(1000, [](int64_t, int64_t) -> uint8_t* { return nullptr; });
  EXPECT_THROW(canvas.start(uint64_t{1} << 33, uint64_t{1} << 33), TooLarge);
  EXPECT_THROW(canvas.start(0, 5), Undecodable);
  EXPECT_THROW(canvas.start(5, 0), Undecodable);
}

TEST(PixelFormats, SwapRedAndBlue) {
  std::vector<uint8_t> pixels = {1, 2, 3, 4, 5, 6};
  swap_to_bgr(pixels.data(), 2);
  EXPECT_EQ(pixels, (std::vector<uint8_t>{3, 2, 1, 6, 5, 4}));
}

TEST(PixelFormats, WeighColorsAsLuminance) {
  const std::vector<uint8_t> pixels = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 10, 20, 30};
  std::vector<uint8_t> gray(5);
  convert_to_gray(pixels.data(), gray.data(), 5);
  // 0.299, 0.587 and 0.114.
  EXPECT_EQ(gray, (std::vector<uint8_t>{76, 150, 29, 255, 18}));
}

TEST(Printable, KeepsOneShortLine) {
  EXPECT_EQ(printable("two\nlines\x01.\n"), "two lines");
  EXPECT_EQ(printable(std::string(1000, 'x').c_str()).size(), 200U);
}

}  // namespace
}  // namespace ephost_image::test::decode_test
