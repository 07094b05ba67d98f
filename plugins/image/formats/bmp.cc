// Windows bitmaps: headers of OS/2 and of Windows, 1, 4, 8, 16, 24 and 32 bits, bit fields, and run
// lengths of 4 and 8 bits.
#include <algorithm>
#include <array>
#include <bit>

#include "plugins/image/formats.h"

namespace ephost_image {
namespace {

constexpr std::size_t kFileHeader = 14;
constexpr std::size_t kCoreHeader = 12;  // of OS/2
constexpr std::size_t kInfoHeader = 40;
constexpr uint32_t kMostExtent = 1U << 30;

enum Compression : uint32_t { kPlain = 0, kRuns8 = 1, kRuns4 = 2, kFields = 3, kFieldsAlpha = 6 };

uint32_t read_little_endian(Bytes file, std::size_t at, std::size_t bytes) {
  if (at + bytes > file.size()) throw Undecodable("is truncated");
  uint32_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | file[at + i];
  return value;
}

using Color = std::array<uint8_t, 3>;

// One of the colours in a pixel of 16 or 32 bits.
struct Field {
  uint32_t mask = 0;

  [[nodiscard]] uint8_t of(uint32_t pixel) const {
    if (mask == 0) return 0;
    const int shift = std::countr_zero(mask);
    const uint64_t largest = mask >> shift;
    const uint64_t value = (pixel & mask) >> shift;
    return static_cast<uint8_t>((value * 255 + largest / 2) / largest);
  }
};

struct BmpHeader {
  uint32_t width, height;
  bool is_top_down = false;
  uint32_t bits;
  uint32_t compression = kPlain;
  std::array<Field, 3> fields = {};
  std::size_t palette_at = 0, palette_step = 4, colors = 0;
  std::size_t pixels_at = 0;
};

void read_fields(Bytes file, BmpHeader& header, std::size_t info_size) {
  if (header.bits != 16 && header.bits != 32) return;
  if (header.compression == kPlain) {
    header.fields = header.bits == 16
                        ? std::array<Field, 3>{Field{0x7c00}, Field{0x3e0}, Field{0x1f}}
                        : std::array<Field, 3>{Field{0xff0000}, Field{0xff00}, Field{0xff}};
    return;
  }
  for (std::size_t c = 0; c < 3; ++c) {
    header.fields[c].mask = read_little_endian(file, kFileHeader + kInfoHeader + 4 * c, 4);
  }
  // Behind the short header, the masks stand where a palette would.
  if (info_size == kInfoHeader) {
    header.palette_at += header.compression == kFieldsAlpha ? 16 : 12;
  }
}

// Rows from the bottom to the top, unless the height is negative.
void read_extents(Bytes file, BmpHeader& header, bool is_core) {
  const std::size_t bytes = is_core ? 2 : 4;
  header.width = read_little_endian(file, kFileHeader + 4, bytes);
  header.height = read_little_endian(file, kFileHeader + 4 + bytes, bytes);
  if (!is_core && header.height > 0x7fffffff) {
    header.is_top_down = true;
    header.height = ~header.height + 1;
  }
  if (header.width > kMostExtent || header.height > kMostExtent) {
    throw Undecodable("has an impossible size");
  }
}

void check(const BmpHeader& header) {
  const bool is_paletted = header.bits == 1 || header.bits == 4 || header.bits == 8;
  const bool is_direct = header.bits == 16 || header.bits == 24 || header.bits == 32;
  const bool fits =
      header.compression == kPlain
          ? is_paletted || is_direct
          : (header.compression == kRuns8 && header.bits == 8) ||
                (header.compression == kRuns4 && header.bits == 4) ||
                ((header.compression == kFields || header.compression == kFieldsAlpha) &&
                 (header.bits == 16 || header.bits == 32));
  if (!fits) {
    throw Undecodable("has " + std::to_string(header.bits) + " bits for a pixel in compression " +
                      std::to_string(header.compression) + ", which is not supported");
  }
}

BmpHeader read_bmp_header(Bytes file) {
  const std::size_t info_size = read_little_endian(file, kFileHeader, 4);
  const bool is_core = info_size == kCoreHeader;
  if (!is_core && (info_size < kInfoHeader || info_size > 1024)) {
    throw Undecodable("has a header of " + std::to_string(info_size) +
                      " bytes, which is not supported");
  }
  BmpHeader header = {};
  header.palette_step = is_core ? 3 : 4;
  read_extents(file, header, is_core);
  header.bits = read_little_endian(file, kFileHeader + (is_core ? 10 : 14), 2);
  if (!is_core) header.compression = read_little_endian(file, kFileHeader + 16, 4);
  check(header);
  header.palette_at = kFileHeader + info_size;
  read_fields(file, header, info_size);
  header.pixels_at = read_little_endian(file, 10, 4);
  if (header.bits <= 8) {
    const std::size_t most = std::size_t{1} << header.bits;
    const std::size_t stated = is_core ? 0 : read_little_endian(file, kFileHeader + 32, 4);
    header.colors = stated == 0 ? most : std::min(stated, most);
  }
  return header;
}

// Colours that the file leaves out are black.
std::array<Color, 256> read_palette(Bytes file, const BmpHeader& header) {
  std::array<Color, 256> palette = {};
  for (std::size_t i = 0; i < header.colors; ++i) {
    const std::size_t at = header.palette_at + i * header.palette_step;
    for (std::size_t c = 0; c < 3; ++c) {
      palette[i][c] =
          static_cast<uint8_t>(read_little_endian(file, at + 2 - c, 1));  // blue comes first
    }
  }
  return palette;
}

class Painter {
 public:
  Painter(Bytes file, const BmpHeader& header, Canvas& canvas)
      : file_(file), header_(header), canvas_(canvas), palette_(read_palette(file, header)) {}

  void paint_rows() {
    const std::size_t stride = (canvas_.width() * header_.bits + 31) / 32 * 4;
    for (std::size_t y = 0; y < canvas_.height(); ++y) {
      if (header_.pixels_at > file_.size() || stride > file_.size() - header_.pixels_at ||
          y > (file_.size() - header_.pixels_at - stride) / stride) {
        throw Undecodable("is truncated");
      }
      paint_row(file_.data() + header_.pixels_at + y * stride, row(y));
    }
  }

  void paint_runs() {
    // What the runs leave out has the first colour.
    for (std::size_t y = 0; y < canvas_.height(); ++y) {
      for (std::size_t x = 0; x < canvas_.width(); ++x) put(x, y, 0);
    }
    std::size_t at = header_.pixels_at;
    std::size_t x = 0;
    std::size_t y = 0;
    const auto next = [&] { return read_little_endian(file_, at++, 1); };
    while (y < canvas_.height()) {
      const uint32_t count = next();
      const uint32_t value = next();
      if (count > 0) {
        for (uint32_t i = 0; i < count; ++i) put(x++, y, index_of(value, i));
      } else if (value == 0) {  // end of the row
        x = 0;
        ++y;
      } else if (value == 1) {  // end of the image
        return;
      } else if (value == 2) {  // a step
        x += next();
        y += next();
      } else {  // pixels one by one, in a whole number of 16-bit words
        const std::size_t first = at;
        for (uint32_t i = 0; i < value; ++i) {
          const std::size_t byte = first + (header_.bits == 4 ? i / 2 : i);
          put(x++, y, index_of(read_little_endian(file_, byte, 1), i));
        }
        const std::size_t bytes = header_.bits == 4 ? (value + 1) / 2 : value;
        at = first + (bytes + 1) / 2 * 2;
      }
    }
  }

 private:
  uint8_t* row(std::size_t y) {
    return canvas_.row(header_.is_top_down ? y : canvas_.height() - 1 - y);
  }

  // Pixel `i` of a run; with 4 bits, the upper and the lower half of the byte take turns.
  [[nodiscard]] uint32_t index_of(uint32_t byte, uint32_t i) const {
    if (header_.bits == 8) return byte;
    return i % 2 == 0 ? byte >> 4 : byte & 0xf;
  }

  void put(std::size_t x, std::size_t y, uint32_t index) {
    if (x >= canvas_.width() || y >= canvas_.height()) {
      throw Undecodable("has a run that leaves the image");
    }
    std::copy_n(palette_[index].data(), 3, row(y) + 3 * x);
  }

  void paint_row(const uint8_t* from, uint8_t* to) {
    for (std::size_t x = 0; x < canvas_.width(); ++x, to += 3) {
      if (header_.bits <= 8) {
        const std::size_t bit = x * header_.bits;
        const unsigned shift = 8 - header_.bits - static_cast<unsigned>(bit % 8);
        const unsigned index = from[bit / 8] >> shift & ((1U << header_.bits) - 1);
        std::copy_n(palette_[index].data(), 3, to);
      } else if (header_.bits == 24) {
        for (std::size_t c = 0; c < 3; ++c) to[c] = from[3 * x + 2 - c];
      } else {
        const std::size_t bytes = header_.bits / 8;
        const uint32_t pixel = read_little_endian({from + x * bytes, bytes}, 0, bytes);
        for (std::size_t c = 0; c < 3; ++c) to[c] = header_.fields[c].of(pixel);
      }
    }
  }

  Bytes file_;
  const BmpHeader& header_;
  Canvas& canvas_;
  std::array<Color, 256> palette_;
};

}  // namespace

void decode_bmp(Bytes file, Canvas& canvas) {
  const BmpHeader header = read_bmp_header(file);
  canvas.start(header.width, header.height);
  Painter painter(file, header, canvas);
  if (header.compression == kRuns8 || header.compression == kRuns4) return painter.paint_runs();
  painter.paint_rows();
}

}  // namespace ephost_image
