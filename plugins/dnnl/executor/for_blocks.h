// for_blocks.h: division of a loop over elements among the threads of OpenMP.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ephost_dnnl {

// Calls body(first, count) for blocks of that many elements, on the threads of the caller.
template <class Body>
void for_blocks(int64_t elements, const Body& body) {
  constexpr int64_t kBlock = 1 << 14;  // elements of one share of a thread
  const int64_t blocks = (elements + kBlock - 1) / kBlock;
#pragma omp parallel for if (blocks > 1)
  for (int64_t i = 0; i < blocks; ++i) body(i * kBlock, std::min(kBlock, elements - i * kBlock));
}

}  // namespace ephost_dnnl
