#include "plugins/cpu/kernels/random/random.h"

#include <bit>
#include <random>

namespace ephost_cpu {

RandomSource::RandomSource(const NodeContext& context) {
  if (context.node().attribute("seed") != nullptr) {
    seed_ = std::bit_cast<uint32_t>(context.node().get_float("seed", 0));
    return;
  }
  std::random_device device;
  next_seed_ = uint64_t{device()} << 32 | device();
}

}  // namespace ephost_cpu
