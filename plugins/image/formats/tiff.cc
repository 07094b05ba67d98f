#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "plugins/image/formats.h"

namespace ephost_image {
namespace {

// What libtiff's callbacks get: the file, and the first error.
struct TiffSource {
  Bytes file;
  uint64_t at = 0;
  std::array<char, 256> message = {};
};

TiffSource& source_of(thandle_t handle) { return *static_cast<TiffSource*>(handle); }

tmsize_t read_file(thandle_t handle, void* to, tmsize_t count) {
  TiffSource& source = source_of(handle);
  if (count <= 0 || source.at >= source.file.size()) return 0;
  const std::size_t taken = std::min(static_cast<std::size_t>(count),
                                     source.file.size() - static_cast<std::size_t>(source.at));
  std::memcpy(to, source.file.data() + source.at, taken);
  source.at += taken;
  return static_cast<tmsize_t>(taken);
}

tmsize_t write_nothing(thandle_t, void*, tmsize_t) { return 0; }

toff_t seek_in_file(thandle_t handle, toff_t offset, int origin) {
  TiffSource& source = source_of(handle);
  const uint64_t base = origin == SEEK_SET   ? 0
                        : origin == SEEK_CUR ? source.at
                                             : source.file.size();
  source.at = base + offset;  // wraps for a negative offset; read_file checks what comes of it
  return source.at;
}

int close_nothing(thandle_t) { return 0; }
toff_t size_of(thandle_t handle) { return source_of(handle).file.size(); }
// libtiff does not write into what it maps for reading. Mapped, it also takes what Debian 12's
// version refuses otherwise: tiles without compression whose size is not a multiple of 1024 bytes.
int map_file(thandle_t handle, void** data, toff_t* size) {
  const Bytes file = source_of(handle).file;
  *data = const_cast<uint8_t*>(file.data());
  *size = file.size();
  return 1;
}
void unmap_nothing(thandle_t, void*, toff_t) {}

// Both say that the message has been dealt with.
int take_tiff_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  TiffSource& source = *static_cast<TiffSource*>(user);
  if (source.message[0] == '\0') {
    std::vsnprintf(source.message.data(), source.message.size(), format, arguments);
  }
  return 1;
}
int ignore_tiff_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct Close {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
struct Free {
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};

[[noreturn]] void fail(const TiffSource& source, const char* otherwise) {
  const char* message = source.message[0] != '\0' ? source.message.data() : otherwise;
  throw Undecodable("is damaged: " + printable(message));
}

std::unique_ptr<TIFF, Close> open(TiffSource& source, uint64_t max_pixels) {
  const std::unique_ptr<TIFFOpenOptions, Free> options(TIFFOpenOptionsAlloc());
  if (options == nullptr) throw std::bad_alloc();
  constexpr uint64_t kLeast = 1 << 20;  // bytes, of directories
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(),
                                      static_cast<tmsize_t>(std::max(kLeast, 8 * max_pixels)));
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), &take_tiff_error, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), &ignore_tiff_warning, nullptr);
  std::unique_ptr<TIFF, Close> tiff(
      TIFFClientOpenExt("image", "r", &source, &read_file, &write_nothing, &seek_in_file,
                        &close_nothing, &size_of, &map_file, &unmap_nothing, options.get()));
  if (tiff == nullptr) fail(source, "it has no directory");
  return tiff;
}

struct TiledGray {
  uint16_t channels = 1;
  bool white_is_zero = false;
};

// Whether the image has tiles of gray with 16 bits, of which some reach beyond the right edge.
// libtiff decodes such tiles wrongly: it continues with a wrong element in each row.
bool is_tiled_gray(TIFF* tiff, uint32_t width, TiledGray& found) {
  uint16_t bits = 1;
  uint16_t photometric = PHOTOMETRIC_RGB;
  uint16_t planes = PLANARCONFIG_CONTIG;
  uint16_t orientation = ORIENTATION_TOPLEFT;
  uint32_t tile_width = 0;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &found.channels);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planes);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  if (TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric) != 1 ||
      TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &tile_width) != 1) {
    return false;
  }
  found.white_is_zero = photometric == PHOTOMETRIC_MINISWHITE;
  return TIFFIsTiled(tiff) != 0 && bits == 16 && found.channels != 0 && tile_width != 0 &&
         width % tile_width != 0 && planes == PLANARCONFIG_CONTIG &&
         orientation == ORIENTATION_TOPLEFT &&
         (photometric == PHOTOMETRIC_MINISBLACK || found.white_is_zero);
}

void read_tiled_gray(TIFF* tiff, const TiffSource& source, const TiledGray& kind, Canvas& canvas) {
  uint32_t tile_width = 0;
  uint32_t tile_height = 0;
  TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &tile_width);
  const tmsize_t bytes = TIFFTileSize(tiff);
  if (TIFFGetField(tiff, TIFFTAG_TILELENGTH, &tile_height) != 1 || tile_height == 0 || bytes <= 0 ||
      static_cast<uint64_t>(bytes) > 8 * canvas.max_pixels() ||
      static_cast<uint64_t>(bytes) / 2 / kind.channels / tile_width < tile_height) {
    fail(source, "its tiles have an impossible size");
  }
  std::vector<uint16_t> tile(static_cast<std::size_t>(bytes) / 2);
  for (std::size_t top = 0; top < canvas.height(); top += tile_height) {
    for (std::size_t left = 0; left < canvas.width(); left += tile_width) {
      if (TIFFReadTile(tiff, tile.data(), static_cast<uint32_t>(left), static_cast<uint32_t>(top),
                       0, 0) < 0) {
        fail(source, "its pixels cannot be read");
      }
      const std::size_t rows = std::min<std::size_t>(tile_height, canvas.height() - top);
      const std::size_t columns = std::min<std::size_t>(tile_width, canvas.width() - left);
      for (std::size_t y = 0; y < rows; ++y) {
        uint8_t* const to = canvas.row(top + y) + 3 * left;
        for (std::size_t x = 0; x < columns; ++x) {
          const auto sample = static_cast<uint8_t>(tile[(y * tile_width + x) * kind.channels] >> 8);
          std::fill_n(to + 3 * x, 3,
                      kind.white_is_zero ? static_cast<uint8_t>(255 - sample) : sample);
        }
      }
    }
  }
}

}  // namespace

void decode_tiff(Bytes file, Canvas& canvas) {
  TiffSource source;
  source.file = file;
  const std::unique_ptr<TIFF, Close> tiff = open(source, canvas.max_pixels());
  uint32_t width = 0;
  uint32_t height = 0;
  if (TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) != 1 ||
      TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) != 1) {
    fail(source, "it does not give its size");
  }
  std::array<char, 1024> reason = {};
  if (TIFFRGBAImageOK(tiff.get(), reason.data()) != 1) {
    throw Undecodable("is not supported: " + printable(reason.data()));
  }
  canvas.start(width, height);
  if (TiledGray kind; is_tiled_gray(tiff.get(), width, kind)) {
    return read_tiled_gray(tiff.get(), source, kind, canvas);
  }
  const std::unique_ptr<uint32_t[]> raster(new uint32_t[canvas.pixels()]);
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.get(), ORIENTATION_TOPLEFT, 1) !=
          1 ||
      source.message[0] != '\0') {
    fail(source, "its pixels cannot be read");
  }
  uint8_t* to = canvas.data();
  for (std::size_t i = 0; i < canvas.pixels(); ++i, to += 3) {
    to[0] = static_cast<uint8_t>(TIFFGetR(raster[i]));
    to[1] = static_cast<uint8_t>(TIFFGetG(raster[i]));
    to[2] = static_cast<uint8_t>(TIFFGetB(raster[i]));
  }
}

}  // namespace ephost_image
