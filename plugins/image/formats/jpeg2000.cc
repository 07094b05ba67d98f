#include <openjpeg.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>

#include "plugins/image/formats.h"

namespace ephost_image {
namespace {

// More is refused before the library allocates something for each tile and component.
constexpr uint64_t kMostTiles = 4096;
constexpr uint32_t kMostComponents = 4;
constexpr uint32_t kMostBits = 16;
constexpr uint64_t kLeastPrecinct = 3;  // as an exponent of two

uint64_t read_big_endian(Bytes data, std::size_t at, std::size_t bytes) {
  if (bytes > data.size() || at > data.size() - bytes) throw Undecodable("is truncated");
  uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | data[at + i];
  return value;
}

// The codestream in the boxes of a file, or the file itself if it has no boxes.
Bytes find_codestream(Bytes file) {
  if (read_big_endian(file, 0, 2) == 0xff4f) return file;
  constexpr uint64_t kCodestream = 0x6a703263;  // "jp2c"
  while (!file.empty()) {
    uint64_t size = read_big_endian(file, 0, 4);
    uint64_t header = 8;
    const uint64_t type = read_big_endian(file, 4, 4);
    if (size == 1) {
      size = read_big_endian(file, 8, 8);
      header = 16;
    }
    if (size == 0) size = file.size();  // up to the end
    if (size < header || header > file.size()) throw Undecodable("has a box of an impossible size");
    if (type == kCodestream) return file.subspan(static_cast<std::size_t>(header));
    if (size > file.size()) break;
    file = file.subspan(static_cast<std::size_t>(size));
  }
  throw Undecodable("has no codestream");
}

struct Size {
  uint64_t width, height;
};

// What the first segment of a codestream says, checked.
Size read_size(Bytes codestream) {
  if (read_big_endian(codestream, 0, 4) != 0xff4fff51) {
    throw Undecodable("does not begin with its size");
  }
  const auto field = [&](std::size_t i) { return read_big_endian(codestream, 8 + 4 * i, 4); };
  std::array<uint64_t, 2> extents = {};
  uint64_t tiles = 1;
  for (std::size_t d = 0; d < 2; ++d) {
    const uint64_t end = field(d);
    const uint64_t begin = field(2 + d);
    const uint64_t tile = field(4 + d);
    const uint64_t first_tile = field(6 + d);
    if (end <= begin || tile == 0 || first_tile > begin) {
      throw Undecodable("has an impossible size");
    }
    extents[d] = end - begin;
    tiles *= (end - first_tile + tile - 1) / tile;
  }
  if (tiles > kMostTiles) {
    throw Undecodable("has " + std::to_string(tiles) + " tiles, more than the " +
                      std::to_string(kMostTiles) + " that are supported");
  }
  const uint64_t components = read_big_endian(codestream, 40, 2);
  if (components == 0 || components > kMostComponents) {
    throw Undecodable("has " + std::to_string(components) + " components instead of 1 to 4");
  }
  return {extents[0], extents[1]};
}

// Precincts of one pixel take far more memory than the image, so tiny ones are refused. `levels_at`
// is where a segment on coding has the number of decompositions, `has_precincts` whether the
// sizes of precincts follow, one byte for each resolution.
void check_precincts(Bytes codestream, std::size_t levels_at, bool has_precincts) {
  if (!has_precincts) return;
  const uint64_t levels = read_big_endian(codestream, levels_at, 1);
  for (std::size_t i = 0; i <= levels; ++i) {
    const uint64_t exponents = read_big_endian(codestream, levels_at + 5 + i, 1);
    if ((exponents & 15) < kLeastPrecinct || exponents >> 4 < kLeastPrecinct) {
      throw Undecodable("has precincts that are too small");
    }
  }
}

// Looks at the segments of all headers: of the codestream, and of the parts of its tiles.
void check_headers(Bytes codestream) {
  constexpr uint64_t kCoding = 0xff52;
  constexpr uint64_t kComponentCoding = 0xff53;
  constexpr uint64_t kTilePart = 0xff90;
  constexpr uint64_t kData = 0xff93;
  constexpr uint64_t kEnd = 0xffd9;
  std::size_t tile_part = 0;
  uint64_t tile_part_size = 0;
  std::size_t at = 2;
  while (at + 4 <= codestream.size()) {
    const uint64_t marker = read_big_endian(codestream, at, 2);
    if (marker == kEnd) return;
    if (marker == kData) {
      // A size of 0 is that of the last part.
      if (tile_part_size == 0 || tile_part_size > codestream.size() - tile_part) return;
      if (tile_part + tile_part_size <= at) throw Undecodable("has a tile of an impossible size");
      at = tile_part + static_cast<std::size_t>(tile_part_size);
      continue;
    }
    if (marker == kTilePart) {
      tile_part = at;
      tile_part_size = read_big_endian(codestream, at + 6, 4);
    }
    if (marker == kCoding) {
      check_precincts(codestream, at + 9, (read_big_endian(codestream, at + 4, 1) & 1) != 0);
    }
    if (marker == kComponentCoding) {
      check_precincts(codestream, at + 6, (read_big_endian(codestream, at + 5, 1) & 1) != 0);
    }
    at += 2 + static_cast<std::size_t>(read_big_endian(codestream, at + 2, 2));
  }
}

// What openjpeg's callbacks get.
struct OpenjpegSource {
  Bytes file;
  std::size_t at = 0;
};

constexpr auto kEnd = static_cast<OPJ_SIZE_T>(-1);

OPJ_SIZE_T read_source(void* to, OPJ_SIZE_T count, void* user) {
  OpenjpegSource& source = *static_cast<OpenjpegSource*>(user);
  const std::size_t taken = std::min(count, source.file.size() - source.at);
  if (taken == 0) return kEnd;
  std::memcpy(to, source.file.data() + source.at, taken);
  source.at += taken;
  return taken;
}

OPJ_OFF_T skip_in_source(OPJ_OFF_T count, void* user) {
  OpenjpegSource& source = *static_cast<OpenjpegSource*>(user);
  if (count < 0) return -1;
  const std::size_t skipped =
      std::min(static_cast<std::size_t>(count), source.file.size() - source.at);
  source.at += skipped;
  return static_cast<OPJ_OFF_T>(skipped);
}

OPJ_BOOL seek_in_source(OPJ_OFF_T to, void* user) {
  OpenjpegSource& source = *static_cast<OpenjpegSource*>(user);
  if (to < 0 || static_cast<std::size_t>(to) > source.file.size()) return OPJ_FALSE;
  source.at = static_cast<std::size_t>(to);
  return OPJ_TRUE;
}

using Message = std::array<char, 256>;

void take_openjpeg_error(const char* text, void* user) {
  Message& message = *static_cast<Message*>(user);
  if (message[0] == '\0') std::snprintf(message.data(), message.size(), "%s", text);
}
void ignore_openjpeg_message(const char*, void*) {}

// openjpeg's types of codecs and streams are one.
using Handle = std::unique_ptr<void*, void (*)(void**)>;
struct Release {
  void operator()(opj_image_t* image) const { opj_image_destroy(image); }
};
using Image = std::unique_ptr<opj_image_t, Release>;

Image read_image(Bytes file) {
  const bool has_boxes = file[0] == 0;
  const Handle codec(opj_create_decompress(has_boxes ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K),
                     &opj_destroy_codec);
  const Handle stream(opj_stream_default_create(OPJ_TRUE), &opj_stream_destroy);
  if (codec == nullptr || stream == nullptr) throw std::bad_alloc();
  OpenjpegSource source = {file};
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.size());
  opj_stream_set_read_function(stream.get(), &read_source);
  opj_stream_set_skip_function(stream.get(), &skip_in_source);
  opj_stream_set_seek_function(stream.get(), &seek_in_source);
  Message message = {};
  opj_set_error_handler(codec.get(), &take_openjpeg_error, &message);
  opj_set_warning_handler(codec.get(), &ignore_openjpeg_message, nullptr);
  opj_set_info_handler(codec.get(), &ignore_openjpeg_message, nullptr);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* found = nullptr;
  const bool is_read = opj_setup_decoder(codec.get(), &parameters) != OPJ_FALSE &&
                       opj_decoder_set_strict_mode(codec.get(), OPJ_TRUE) != OPJ_FALSE &&
                       opj_read_header(stream.get(), codec.get(), &found) != OPJ_FALSE;
  Image image(found);
  if (!is_read || opj_decode(codec.get(), stream.get(), image.get()) == OPJ_FALSE) {
    const char* const reason = message[0] != '\0' ? message.data() : "its pixels cannot be read";
    throw Undecodable("is damaged: " + printable(reason));
  }
  return image;
}

// One of the three colours of an image, or its only one.
class Plane {
 public:
  explicit Plane(const opj_image_comp_t& component) : component_(component) {
    if (component.data == nullptr || component.w == 0 || component.h == 0 || component.dx == 0 ||
        component.dy == 0) {
      throw Undecodable("is damaged: a component has no pixels");
    }
    if (component.prec == 0 || component.prec > kMostBits) {
      throw Undecodable("has samples of " + std::to_string(component.prec) +
                        " bits, which is not supported");
    }
    largest_ = (1 << component.prec) - 1;
    offset_ = component.sgnd != 0 ? 1 << (component.prec - 1) : 0;
  }

  // The sample in 8 bits. Components of a lower resolution are repeated.
  [[nodiscard]] int at(std::size_t x, std::size_t y) const {
    const std::size_t column = std::min<std::size_t>(x / component_.dx, component_.w - 1);
    const std::size_t row = std::min<std::size_t>(y / component_.dy, component_.h - 1);
    const int64_t sample = int64_t{component_.data[row * component_.w + column]} + offset_;
    const int value = static_cast<int>(std::clamp<int64_t>(sample, 0, largest_));
    return component_.prec >= 8 ? value >> (component_.prec - 8)
                                : (value * 255 + largest_ / 2) / largest_;
  }

 private:
  const opj_image_comp_t& component_;
  int largest_ = 0;
  int offset_ = 0;
};

uint8_t to_byte(double value) { return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

// From luminance and the differences of blue and red, as in JPEG.
void convert_to_rgb(int luminance, int blue, int red, uint8_t* to) {
  to[0] = to_byte(luminance + 1.402 * (red - 128));
  to[1] = to_byte(luminance - 0.344136 * (blue - 128) - 0.714136 * (red - 128));
  to[2] = to_byte(luminance + 1.772 * (blue - 128));
}

}  // namespace

void decode_jpeg2000(Bytes file, Canvas& canvas) {
  const Bytes codestream = find_codestream(file);
  const Size size = read_size(codestream);
  canvas.start(size.width, size.height);
  check_headers(codestream);
  const Image image = read_image(file);
  if (image->x1 - image->x0 != size.width || image->y1 - image->y0 != size.height ||
      image->numcomps == 0) {
    throw Undecodable("is damaged: its header contradicts its size");
  }
  const bool is_gray = image->numcomps < 3;
  const bool is_ycc = image->color_space == OPJ_CLRSPC_SYCC && !is_gray;
  if (image->color_space == OPJ_CLRSPC_CMYK || image->color_space == OPJ_CLRSPC_EYCC) {
    throw Undecodable("has a colour space that is not supported");
  }
  const std::array<Plane, 3> planes = {Plane(image->comps[0]), Plane(image->comps[is_gray ? 0 : 1]),
                                       Plane(image->comps[is_gray ? 0 : 2])};
  uint8_t* to = canvas.data();
  for (std::size_t y = 0; y < canvas.height(); ++y) {
    for (std::size_t x = 0; x < canvas.width(); ++x, to += 3) {
      const std::array<int, 3> colors = {planes[0].at(x, y), planes[1].at(x, y),
                                         planes[2].at(x, y)};
      if (is_ycc) {
        convert_to_rgb(colors[0], colors[1], colors[2], to);
      } else {
        for (std::size_t c = 0; c < 3; ++c) to[c] = static_cast<uint8_t>(colors[c]);
      }
    }
  }
}

}  // namespace ephost_image
