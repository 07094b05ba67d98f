// The decoders, each over a file whose first bytes say that it is of that format. They throw
// Undecodable and TooLarge. Internal to decode.cc.
#pragma once

#include "plugins/image/canvas.h"

namespace ephost_image {

void decode_bmp(Bytes file, Canvas& canvas);
void decode_jpeg(Bytes file, Canvas& canvas);
void decode_jpeg2000(Bytes file, Canvas& canvas);
void decode_png(Bytes file, Canvas& canvas);
void decode_pnm(Bytes file, Canvas& canvas);
void decode_tiff(Bytes file, Canvas& canvas);
void decode_webp(Bytes file, Canvas& canvas);

}  // namespace ephost_image
