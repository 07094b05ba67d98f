// PNM files by hand.
#include <gtest/gtest.h>

#include "tests/unit/plugins/image/encoders.h"

namespace ephost_image::test::pnm_test {
namespace {

using Pixels = std::vector<uint8_t>;

File file_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST(Pnm, ReadsBitmaps) {
  const Pixels expected = {255, 255, 255, 0, 0, 0, 0, 0, 0, 255, 255, 255};
  EXPECT_EQ(decoded(file_of("P1 2 2 01\n1 0")).pixels, expected);
  EXPECT_EQ(decoded(file_of("P1\n# a comment\n2 2\n0 1 # another\n1 0\n")).pixels, expected);
  EXPECT_EQ(decoded(file_of("P4 2 2\n\x7f\x80")).pixels, expected);
}

TEST(Pnm, ReadsGraymapsAndPixmaps) {
  const Picture color = gradient(5, 4);
  const Picture gray = gray_gradient(5, 4);
  EXPECT_EQ(decoded(encode_pnm(gray, '2')), gray);
  EXPECT_EQ(decoded(encode_pnm(color, '3')), color);
  EXPECT_EQ(decoded(encode_pnm(gray, '5')), gray);
  EXPECT_EQ(decoded(encode_pnm(color, '6')), color);
}

TEST(Pnm, ScalesSamplesToBytes) {
  EXPECT_EQ(decoded(file_of("P3 1 1 3 0 1 2")).pixels, (Pixels{0, 85, 170}));
  EXPECT_EQ(decoded(file_of("P3 1 1 65535 65535 257 40000")).pixels, (Pixels{255, 1, 156}));
  EXPECT_EQ(decoded(file_of(std::string("P6 1 1 1000 \x03\xe8\x01\xf4\x00\x02", 18))).pixels,
            (Pixels{255, 128, 1}));
  EXPECT_EQ(decoded(file_of("P2 1 1 10 99")).pixels, (Pixels{255, 255, 255}))
      << "beyond the largest";
}

TEST(Pnm, RefusesDamagedFiles) {
  EXPECT_EQ(refusal(file_of("P2 1")), "the PNM image is truncated");
  EXPECT_EQ(refusal(file_of("P2 1 x")), "the PNM image has text instead of a number");
  EXPECT_EQ(refusal(file_of("P2 1 1 0 0")), "the PNM image gives 0 as its largest sample");
  EXPECT_EQ(refusal(file_of("P5 1 1 65536 00")), "the PNM image gives 65536 as its largest sample");
  EXPECT_EQ(refusal(file_of("P2 99999999999 1 1 0")),
            "the PNM image has a number that is too large");
  EXPECT_EQ(refusal(file_of("P1 1 1 2")), "the PNM image has a pixel that is neither 0 nor 1");
  EXPECT_EQ(refusal(file_of("P5 1 1 255#")), "the PNM image has no blank behind its header");
  EXPECT_EQ(refusal(file_of("P6 1 1 255 ab")), "the PNM image is truncated");
  EXPECT_EQ(refusal(file_of("P6 0 1 255 ab")), "the PNM image has no pixels");
}

}  // namespace
}  // namespace ephost_image::test::pnm_test
