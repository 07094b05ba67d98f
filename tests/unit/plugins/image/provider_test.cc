// The built plugin, through its interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/single_node_graph.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/image/encoders.h"

namespace ephost_image::test::provider_test {
namespace {

using ephost::test::IsOk;
using ephost::test::Outcome;
using ephost::test::PluginSession;
using ephost::test::Shape;
using ephost::test::SingleNodeGraph;
using ::testing::AllOf;
using ::testing::HasSubstr;

Outcome decode_with(PluginSession& session, const File& file, const std::string& pixel_format) {
  SingleNodeGraph node("ImageDecoder", 20);
  node.input(ephost::test::tensor<uint8_t>({static_cast<int64_t>(file.size())}, file)).output();
  if (!pixel_format.empty()) node.attribute("pixel_format", pixel_format);
  return session.run(node);
}

PluginSession& default_session() {
  static PluginSession session(IMAGE_PLUGIN);
  return session;
}

TEST(ImageProvider, DecodesIntoEachPixelFormat) {
  const Picture picture = gradient(7, 5);
  const File file = encode_png(picture, {});
  std::vector<uint8_t> bgr = picture.pixels;
  swap_to_bgr(bgr.data(), 35);
  std::vector<uint8_t> gray(35);
  convert_to_gray(picture.pixels.data(), gray.data(), 35);
  const auto expect = [&](const std::string& format, int64_t channels,
                          const std::vector<uint8_t>& pixels) {
    const Outcome outcome = decode_with(default_session(), file, format);
    ASSERT_THAT(outcome, IsOk());
    EXPECT_EQ(outcome.outputs[0].shape, (Shape{5, 7, channels})) << format;
    EXPECT_EQ(ephost::test::values_of<uint8_t>(outcome.outputs[0]), pixels) << format;
  };
  expect("", 3, picture.pixels);
  expect("RGB", 3, picture.pixels);
  expect("BGR", 3, bgr);
  expect("Grayscale", 1, gray);
}

TEST(ImageProvider, RefusesAnUnknownPixelFormat) {
  const Outcome outcome = decode_with(default_session(), encode_bmp(gradient(2, 2)), "YUV");
  EXPECT_EQ(outcome.code, EPH_INVALID_GRAPH);
  EXPECT_THAT(outcome.message,
              HasSubstr("pixel_format 'YUV' is unknown; use RGB, BGR or Grayscale"));
}

TEST(ImageProvider, SaysWhyAFileCannotBeDecoded) {
  const Outcome outcome = decode_with(default_session(), {1, 2, 3}, "RGB");
  EXPECT_EQ(outcome.code, EPH_INVALID_ARGUMENT);
  EXPECT_THAT(outcome.message, AllOf(HasSubstr("ImageDecoder node"),
                                     HasSubstr("not an image file of a known format")));
}

TEST(ImageProvider, LimitsThePixelsOfAnImage) {
  PluginSession session(IMAGE_PLUGIN, {{"max_pixels", 34}});
  const Outcome outcome = decode_with(session, encode_bmp(gradient(7, 5)), "Grayscale");
  EXPECT_EQ(outcome.code, EPH_INVALID_ARGUMENT);
  EXPECT_THAT(outcome.message, HasSubstr("7 x 5 pixels, more than the 34 of option max_pixels"));
  PluginSession enough(IMAGE_PLUGIN, {{"max_pixels", 35}});
  EXPECT_THAT(decode_with(enough, encode_bmp(gradient(7, 5)), "Grayscale"), IsOk());
}

TEST(ImageProvider, RefusesAnInputThatIsNoList) {
  SingleNodeGraph node("ImageDecoder", 20);
  node.input(ephost::test::tensor<uint8_t>({1, 2}, {1, 2})).output();
  const Outcome outcome = default_session().run(node);
  EXPECT_EQ(outcome.code, EPH_INVALID_ARGUMENT);
  EXPECT_THAT(outcome.message, HasSubstr("the input has rank 2"));
}

}  // namespace
}  // namespace ephost_image::test::provider_test
