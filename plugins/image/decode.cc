#include "plugins/image/decode.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "plugins/image/formats.h"

namespace ephost_image {
namespace {

bool begins_with(Bytes file, std::string_view magic, std::size_t at = 0) {
  return file.size() >= at + magic.size() &&
         std::equal(
             magic.begin(), magic.end(), file.begin() + static_cast<std::ptrdiff_t>(at),
             [](char expected, uint8_t byte) { return static_cast<uint8_t>(expected) == byte; });
}

bool is_png(Bytes file) { return begins_with(file, "\x89PNG\r\n\x1a\n"); }
bool is_jpeg(Bytes file) { return begins_with(file, "\xff\xd8\xff"); }
bool is_bmp(Bytes file) { return begins_with(file, "BM"); }
bool is_webp(Bytes file) { return begins_with(file, "RIFF") && begins_with(file, "WEBP", 8); }
bool is_tiff(Bytes file) {
  using namespace std::string_view_literals;
  constexpr std::array kMagic = {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv};
  return std::any_of(kMagic.begin(), kMagic.end(),
                     [&](std::string_view magic) { return begins_with(file, magic); });
}
bool is_pnm(Bytes file) {
  return file.size() > 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '6';
}
bool is_jpeg2000(Bytes file) {
  using namespace std::string_view_literals;
  return begins_with(file, "\0\0\0\x0cjP  \r\n\x87\n"sv) || begins_with(file, "\xff\x4f\xff\x51"sv);
}

struct Format {
  const char* name;
  bool (*matches)(Bytes file);
  void (*decode)(Bytes file, Canvas& canvas);
};

constexpr Format kFormats[] = {
    {"PNG", &is_png, &decode_png},    {"JPEG", &is_jpeg, &decode_jpeg},
    {"BMP", &is_bmp, &decode_bmp},    {"WebP", &is_webp, &decode_webp},
    {"TIFF", &is_tiff, &decode_tiff}, {"JPEG 2000", &is_jpeg2000, &decode_jpeg2000},
    {"PNM", &is_pnm, &decode_pnm},
};

}  // namespace

void decode(Bytes file, Canvas& canvas) {
  const auto* const format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                          [&](const Format& known) { return known.matches(file); });
  if (format == std::end(kFormats)) {
    throw Undecodable(
        "the data is not an image file of a known format (BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, "
        "WebP)");
  }
  const std::string prefix = std::string("the ") + format->name + " image ";
  try {
    format->decode(file, canvas);
  } catch (const Undecodable& error) {
    throw Undecodable(prefix + error.what());
  } catch (const TooLarge& error) {
    throw TooLarge(prefix + error.what());
  }
}

void swap_to_bgr(uint8_t* pixels, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) std::swap(pixels[3 * i], pixels[3 * i + 2]);
}

void convert_to_gray(const uint8_t* pixels, uint8_t* gray, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const uint32_t red = pixels[3 * i];
    const uint32_t green = pixels[3 * i + 1];
    const uint32_t blue = pixels[3 * i + 2];
    gray[i] = static_cast<uint8_t>((19595 * red + 38470 * green + 7471 * blue + 0x8000) >> 16);
  }
}

}  // namespace ephost_image
