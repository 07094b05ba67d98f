// plain_attention.h: attention by plain loops in double, to compare kernels with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "tests/unit/plugins/cpu/microsoft/microsoft_node.h"

namespace ephost::test {

inline constexpr double kHidden = -std::numeric_limits<double>::infinity();

// A tensor of rank 4 in double.
struct Array {
  int64_t a, b, c, d;
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(a * b * c * d));

  double& at(int64_t i, int64_t j, int64_t k, int64_t l) {
    return values[static_cast<std::size_t>(((i * b + j) * c + k) * d + l)];
  }
  [[nodiscard]] double at(int64_t i, int64_t j, int64_t k, int64_t l) const {
    return values[static_cast<std::size_t>(((i * b + j) * c + k) * d + l)];
  }
};

// [batch, length, heads * size] as [batch, heads, length, size], with a bias for each element.
inline Array split(const Tensor& x, int64_t heads, const std::vector<double>& bias = {}) {
  const int64_t size = x.shape[2] / heads;
  Array y = {x.shape[0], heads, x.shape[1], size};
  const std::vector<double> from = as_doubles(x);
  for (int64_t i = 0; i < std::ssize(from); ++i) {
    const int64_t element = i % x.shape[2];
    const double added = bias.empty() ? 0 : bias[static_cast<std::size_t>(element)];
    y.at(i / x.shape[2] / x.shape[1], element / size, i / x.shape[2] % x.shape[1], element % size) =
        from[static_cast<std::size_t>(i)] + added;
  }
  return y;
}

inline Array append(const Array& past, const Array& added) {
  Array y = {added.a, added.b, past.c + added.c, added.d};
  for (int64_t b = 0; b < y.a; ++b) {
    for (int64_t h = 0; h < y.b; ++h) {
      for (int64_t t = 0; t < y.c; ++t) {
        for (int64_t e = 0; e < y.d; ++e) {
          y.at(b, h, t, e) = t < past.c ? past.at(b, h, t, e) : added.at(b, h, t - past.c, e);
        }
      }
    }
  }
  return y;
}

inline Array from_tensor(const Tensor& x) {
  Array y = {x.shape[0], x.shape[1], x.shape[2], x.shape[3]};
  y.values = as_doubles(x);
  return y;
}
inline Tensor to_tensor(const Array& x) { return from_doubles({x.a, x.b, x.c, x.d}, x.values); }

// What is added to a score, by member of the batch, head, query and key.
using Mask = std::function<double(int64_t, int64_t, int64_t, int64_t)>;

// [batch, queries, heads * size of V].
inline Tensor attend(const Array& q, const Array& k, const Array& v, double scale, const Mask& mask,
                     double softcap = 0) {
  const int64_t shared = q.b / k.b;
  std::vector<double> y;
  for (int64_t b = 0; b < q.a; ++b) {
    for (int64_t t = 0; t < q.c; ++t) {
      for (int64_t h = 0; h < q.b; ++h) {
        std::vector<double> scores;
        for (int64_t j = 0; j < k.c; ++j) {
          double score = 0;
          for (int64_t e = 0; e < q.d; ++e) score += q.at(b, h, t, e) * k.at(b, h / shared, j, e);
          score *= scale;
          if (softcap > 0) score = softcap * std::tanh(score / softcap);
          scores.push_back(score + mask(b, h, t, j));
        }
        const double top = *std::max_element(scores.begin(), scores.end());
        double sum = 0;
        for (double& score : scores) sum += score = std::exp(score - top);
        for (int64_t e = 0; e < v.d; ++e) {
          double value = 0;
          for (int64_t j = 0; j < k.c; ++j) {
            value += scores[static_cast<std::size_t>(j)] / sum * v.at(b, h / shared, j, e);
          }
          y.push_back(value);
        }
      }
    }
  }
  return from_doubles({q.a, q.c, q.b * v.d}, y);
}

inline double no_mask(int64_t, int64_t, int64_t, int64_t) { return 0; }

inline void expect_equal(const Tensor& actual, const Tensor& expected) {
  EXPECT_EQ(difference(actual, expected, 1e-4, 1e-5), "");
}

}  // namespace ephost::test
