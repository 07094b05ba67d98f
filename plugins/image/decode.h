// Image files in memory to pixels.
#pragma once

#include "plugins/image/canvas.h"

namespace ephost_image {

// Decodes the first image of a file, whose format follows from its first bytes. 16 bits of a sample
// become the upper 8, transparency is left out, and orientation and colour profiles are not
// applied. Throws Undecodable or TooLarge; the message begins with the name of the format.
void decode(Bytes file, Canvas& canvas);

// Swaps red and blue.
void swap_to_bgr(uint8_t* pixels, std::size_t count);

// (19595 red + 38470 green + 7471 blue) / 65536, rounded: the weights of ITU-R BT.601, as ONNX's
// reference (Pillow's mode L) has them.
void convert_to_gray(const uint8_t* pixels, uint8_t* gray, std::size_t count);

}  // namespace ephost_image
