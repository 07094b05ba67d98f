// encoders.h: pictures as files, by the libraries that the decoders use, and by hand.
#pragma once

#include "tests/unit/plugins/image/pictures.h"

namespace ephost_image::test {

// 24 bits, rows from the bottom to the top.
File encode_bmp(const Picture& picture);

struct JpegKind {
  int colors = 3;  // 1: gray, of the first one; 4: inks, without any key, as Adobe writes them
  bool is_progressive = false;
  bool is_subsampled = false;
};
File encode_jpeg(const Picture& picture, JpegKind kind);

struct Jpeg2000Kind {
  bool has_boxes = false;
  int components = 3;  // 1: gray, of the first colour
  int precinct = 0;    // extent; 0: as large as possible
};
// Without loss.
File encode_jpeg2000(const Picture& picture, Jpeg2000Kind kind);

struct PngKind {
  int bits = 8;  // or 16, whose lower 8 are other than the upper ones
  bool has_alpha = false, is_interlaced = false;
};
File encode_png(const Picture& picture, PngKind kind);
// One sample, the first colour, in 1, 2, 4, 8 or 16 bits: its upper ones.
File encode_gray_png(const Picture& picture, int bits);
// Each pixel is an index into `palette` (red, green, blue); half of it is transparent.
File encode_palette_png(std::size_t width, const std::vector<uint8_t>& indices,
                        const std::vector<uint8_t>& palette);

// 'P' and this digit, from '2' to '6' without '4'; largest sample 255.
File encode_pnm(const Picture& picture, char kind);

struct TiffKind {
  int bits = 8;    // or 16: each sample times 257
  int colors = 3;  // 1: gray, of the first one
  bool is_compressed = false, is_tiled = false;
};
File encode_tiff(const Picture& picture, TiffKind kind);

File encode_webp(const Picture& picture, bool is_lossless);

}  // namespace ephost_image::test
