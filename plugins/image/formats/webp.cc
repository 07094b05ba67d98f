#include <webp/decode.h>

#include "plugins/image/formats.h"

namespace ephost_image {

void decode_webp(Bytes file, Canvas& canvas) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK) {
    throw Undecodable("has a damaged header");
  }
  if (features.has_animation != 0) throw Undecodable("is an animation, which is not supported");
  canvas.start(static_cast<uint64_t>(features.width), static_cast<uint64_t>(features.height));
  const auto stride = static_cast<int>(3 * canvas.width());  // at most 3 * 16383
  if (WebPDecodeRGBInto(file.data(), file.size(), canvas.data(), 3 * canvas.pixels(), stride) ==
      nullptr) {
    throw Undecodable("is damaged or truncated");
  }
}

}  // namespace ephost_image
