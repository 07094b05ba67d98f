#include "tests/unit/plugins/dnnl/arrays.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ephost::test {

std::size_t count(const Shape& shape) {
  return static_cast<std::size_t>(
      std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
}

void for_each_index(const Shape& shape, const std::function<void(const Index&)>& body) {
  Index index(shape.size(), 0);
  for (std::size_t left = count(shape); left > 0; --left) {
    body(index);
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
}

double at(const Array& array, const Index& index) {
  const std::size_t skip = index.size() - array.shape.size();
  int64_t offset = 0;
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    offset = offset * array.shape[i] + (array.shape[i] == 1 ? 0 : index[skip + i]);
  }
  return array.data[static_cast<std::size_t>(offset)];
}

Array generate(Shape shape, const std::function<double(const Index&)>& element) {
  Array array{std::move(shape), {}};
  array.data.reserve(count(array.shape));
  for_each_index(array.shape, [&](const Index& index) { array.data.push_back(element(index)); });
  return array;
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    out[out.size() - 1 - i] = std::max(left, right);
  }
  return out;
}

Array map(const Array& x, const Unary& f) {
  Array out = x;
  std::transform(x.data.begin(), x.data.end(), out.data.begin(), f);
  return out;
}

Array combine(const Array& a, const Array& b, const Pair& f) {
  return generate(broadcast(a.shape, b.shape),
                  [&](const Index& index) { return f(at(a, index), at(b, index)); });
}

}  // namespace ephost::test
