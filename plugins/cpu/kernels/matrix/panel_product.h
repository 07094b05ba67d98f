// Products of float by panels of B, for processors with AVX2 and without AVX-512. Each element of Y
// adds its terms one by one in the order of k, so equal rows and columns give equal numbers
// wherever they lie. oneDNN's products with AVX2 do not: the order there depends on the place.
#pragma once

#include <cstdint>

namespace ephost_cpu {

struct ProductShape;

// Columns of a panel. B is [panels][k][kPanelColumns], with zeros behind the last column.
inline constexpr int64_t kPanelColumns = 16;

// As Products::multiply; the panels of all matrices of a batch follow each other. Only on
// processors with AVX2 and FMA.
void multiply_panels(const ProductShape& shape, const float* a, const float* panels,
                     const float* bias, float* y);

}  // namespace ephost_cpu
