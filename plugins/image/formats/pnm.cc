// Portable bitmaps (P1, P4), graymaps (P2, P5) and pixmaps (P3, P6), as text or binary.
#include <algorithm>

#include "plugins/image/formats.h"

namespace ephost_image {
namespace {

constexpr uint32_t kMostNumber = 1U << 31;

class Reader {
 public:
  explicit Reader(Bytes file) : rest_(file) {}

  // A number in a header or in a file of text: blanks and comments, then digits.
  uint32_t number() {
    skip_blanks();
    uint32_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && is_digit(rest_[digits]); ++digits) {
      value = value * 10 + (rest_[digits] - '0');
      if (value >= kMostNumber / 10) throw Undecodable("has a number that is too large");
    }
    if (digits == 0)
      throw Undecodable(rest_.empty() ? "is truncated" : "has text instead of a number");
    rest_ = rest_.subspan(digits);
    return value;
  }

  // A digit of a bitmap as text, which needs no blank behind it.
  uint32_t bit() {
    skip_blanks();
    if (rest_.empty()) throw Undecodable("is truncated");
    const uint8_t digit = rest_[0];
    if (digit != '0' && digit != '1') throw Undecodable("has a pixel that is neither 0 nor 1");
    rest_ = rest_.subspan(1);
    return digit - '0';
  }

  // The one blank between header and binary pixels.
  void separator() {
    if (rest_.empty() || !is_blank(rest_[0])) throw Undecodable("has no blank behind its header");
    rest_ = rest_.subspan(1);
  }

  Bytes take(std::size_t count) {
    if (count > rest_.size()) throw Undecodable("is truncated");
    const Bytes taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

 private:
  static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
  static bool is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  void skip_blanks() {
    bool in_comment = false;
    std::size_t count = 0;
    for (; count < rest_.size(); ++count) {
      const uint8_t c = rest_[count];
      if (c == '#') in_comment = true;
      if (c == '\n' || c == '\r') in_comment = false;
      if (!in_comment && !is_blank(c)) break;
    }
    rest_ = rest_.subspan(count);
  }

  Bytes rest_;
};

struct PnmHeader {
  bool is_text, is_bitmap;
  std::size_t channels;
  uint32_t largest;  // sample
};

uint8_t scaled(uint32_t sample, uint32_t largest) {
  const uint64_t bounded = std::min(sample, largest);
  return static_cast<uint8_t>((bounded * 255 + largest / 2) / largest);
}

void read_bitmap_row(Reader& reader, const PnmHeader& header, uint8_t* row, std::size_t width) {
  const Bytes packed = header.is_text ? Bytes() : reader.take((width + 7) / 8);
  for (std::size_t x = 0; x < width; ++x) {
    const uint32_t bit =
        header.is_text ? reader.bit() : uint32_t{packed[x / 8]} >> (7 - x % 8) & 1U;
    std::fill_n(row + 3 * x, 3, bit != 0 ? uint8_t{0} : uint8_t{255});  // 1 is black
  }
}

void read_row(Reader& reader, const PnmHeader& header, uint8_t* row, std::size_t width) {
  const std::size_t bytes = header.largest > 255 ? 2 : 1;
  const std::size_t samples = width * header.channels;
  const Bytes packed = header.is_text ? Bytes() : reader.take(samples * bytes);
  for (std::size_t i = 0; i < samples; ++i) {
    const uint32_t sample = header.is_text ? reader.number()
                            : bytes == 1   ? packed[i]
                                           : packed[2 * i] * 256U + packed[2 * i + 1];
    const uint8_t value = scaled(sample, header.largest);
    std::fill_n(row + (header.channels == 1 ? 3 * i : i), header.channels == 1 ? 3 : 1, value);
  }
}

}  // namespace

void decode_pnm(Bytes file, Canvas& canvas) {
  const uint8_t kind = file[1];
  PnmHeader header = {kind <= '3', kind == '1' || kind == '4',
                      kind == '3' || kind == '6' ? std::size_t{3} : std::size_t{1}, 1};
  Reader reader(file.subspan(2));
  const uint32_t width = reader.number();
  const uint32_t height = reader.number();
  if (!header.is_bitmap) header.largest = reader.number();
  if (header.largest == 0 || header.largest > 65535) {
    throw Undecodable("gives " + std::to_string(header.largest) + " as its largest sample");
  }
  if (!header.is_text) reader.separator();
  canvas.start(width, height);
  for (std::size_t y = 0; y < canvas.height(); ++y) {
    if (header.is_bitmap) {
      read_bitmap_row(reader, header, canvas.row(y), canvas.width());
    } else {
      read_row(reader, header, canvas.row(y), canvas.width());
    }
  }
}

}  // namespace ephost_image
