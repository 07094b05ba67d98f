// Einsum against a simple loop over all labels.
#include <algorithm>
#include <map>

#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::einsum_test {
namespace {

struct EinsumCase {
  std::string equation;  // with letters only, for the loop
  std::vector<Shape> shapes;
  std::string given;  // the node's equation, if it is not `equation`
};
void PrintTo(const EinsumCase& test, std::ostream* stream) { *stream << test.equation; }

struct Walk {
  std::vector<std::string> terms;
  std::string output;
};

Walk split(const std::string& equation) {
  Walk walk;
  const std::size_t arrow = equation.find("->");
  std::string term;
  for (const char c : equation.substr(0, arrow) + ",") {
    if (c == ',') {
      walk.terms.push_back(term);
      term.clear();
    } else {
      term += c;
    }
  }
  walk.output = equation.substr(arrow + 2);
  return walk;
}

std::size_t offset(const std::string& term, const Shape& shape,
                   const std::map<char, int64_t>& index) {
  int64_t at = 0;
  for (std::size_t d = 0; d < term.size(); ++d) {
    at = at * shape[d] + (shape[d] == 1 ? 0 : index.at(term[d]));
  }
  return static_cast<std::size_t>(at);
}

Tensor expected(const Walk& walk, const std::vector<Tensor>& inputs) {
  std::map<char, int64_t> extents;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t d = 0; d < walk.terms[i].size(); ++d) {
      int64_t& extent = extents.try_emplace(walk.terms[i][d], 1).first->second;
      if (inputs[i].shape[d] != 1) extent = inputs[i].shape[d];
    }
  }
  Shape shape;
  for (const char c : walk.output) shape.push_back(extents.at(c));
  std::vector<double> sums(static_cast<std::size_t>(count_of(shape)), 0);
  int64_t points = 1;
  for (const auto& [label, extent] : extents) points *= extent;
  for (int64_t point = 0; point < points; ++point) {
    std::map<char, int64_t> index;
    int64_t rest = point;
    for (const auto& [label, extent] : extents) {
      index[label] = rest % extent;
      rest /= extent;
    }
    double product = 1;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      product *= as_doubles(inputs[i])[offset(walk.terms[i], inputs[i].shape, index)];
    }
    sums[offset(walk.output, shape, index)] += product;
  }
  return from_doubles(shape, sums);
}

class Einsums : public ::testing::TestWithParam<EinsumCase> {};

TEST_P(Einsums, AgreeWithASimpleLoop) {
  const EinsumCase& test = GetParam();
  std::vector<Tensor> inputs;
  for (const Shape& shape : test.shapes) {
    inputs.push_back(random_floats(shape, static_cast<uint32_t>(inputs.size() + 1)));
  }
  const Attributes attributes = {{"equation", test.given.empty() ? test.equation : test.given}};
  const Tensor wanted = expected(split(test.equation), inputs);
  EXPECT_EQ(difference(run_one("Einsum", 12, inputs, attributes), wanted, 1e-4, 1e-5), "");

  for (Tensor& input : inputs) input = to_double_tensor(input);
  const Tensor wide = run_one("Einsum", 12, inputs, attributes);
  EXPECT_EQ(difference(wide, to_double_tensor(wanted), 1e-4, 1e-5), "");
}

INSTANTIATE_TEST_SUITE_P(
    Equations, Einsums,
    ::testing::Values(
        EinsumCase{"ij,jk->ik", {{3, 4}, {4, 5}}, ""},
        EinsumCase{"ij,jk->ki", {{3, 4}, {4, 5}}, " ij , jk -> ki "},
        EinsumCase{"ij,kj->ik", {{9, 8}, {7, 8}}, ""},
        EinsumCase{"ji,jk->ik", {{8, 9}, {8, 7}}, ""},
        EinsumCase{"bhqd,bhkd->bhqk", {{2, 3, 5, 4}, {2, 3, 6, 4}}, ""},
        EinsumCase{"bqhd,bkhd->bhqk", {{2, 5, 3, 4}, {2, 6, 3, 4}}, ""},
        EinsumCase{"ii->i", {{4, 4}}, ""}, EinsumCase{"iij,jk->ik", {{3, 3, 4}, {4, 2}}, ""},
        EinsumCase{"ijk->", {{2, 3, 4}}, ""}, EinsumCase{"ij->ji", {{2, 3}}, ""},
        EinsumCase{"i,i->", {{7}, {7}}, ""}, EinsumCase{"i,j->ij", {{3}, {4}}, ""},
        EinsumCase{"ij,ij->ij", {{30, 40}, {30, 40}}, ""},
        EinsumCase{"ab,bc,cd->ad", {{2, 3}, {3, 4}, {4, 5}}, ""},
        EinsumCase{"ab,cb,b->ca", {{2, 3}, {4, 3}, {3}}, ""},
        EinsumCase{"abc,cd->ab", {{2, 3, 4}, {4, 5}}, ""},
        EinsumCase{"ij,jk->ik", {{3, 1}, {4, 5}}, ""}, EinsumCase{"ij,j->i", {{3, 4}, {4}}, "ij,j"},
        EinsumCase{"ba->ab", {{2, 3}}, "ba"},
        EinsumCase{"xyij,xyjk->xyik", {{2, 3, 4, 5}, {2, 3, 5, 6}}, "...ij,...jk->...ik"},
        EinsumCase{"xyij,yjk->xyik", {{2, 3, 4, 5}, {3, 5, 6}}, "...ij,...jk->...ik"},
        EinsumCase{"ijxy->xyi", {{2, 3, 4, 5}}, "ij...->...i"},
        EinsumCase{"xyij,yjk->xyik", {{2, 1, 4, 5}, {3, 5, 6}}, "...ij,...jk"},
        EinsumCase{"xi->i", {{2, 3}}, "...i->i"}, EinsumCase{"i->i", {{3}}, "...i->...i"}));

TEST(Einsum, WrapsIntegersAround) {
  const auto bytes = [](const std::vector<uint8_t>& values) {
    return tensor<uint8_t>({static_cast<int64_t>(values.size())}, values);
  };
  const Attributes inner = {{"equation", std::string("i,i->")}};
  EXPECT_THAT(run_node("Einsum", 12, {bytes({255, 16}), bytes({2, 16})}, inner),
              Gives(std::vector{tensor<uint8_t>({}, {254})}));
  EXPECT_THAT(run_node("Einsum", 12, {ints({-3, 5}), ints({7, -2})}, inner),
              Gives(std::vector{tensor<int64_t>({}, {-31})}));
}

TEST(Einsum, SumsNothingToZero) {
  EXPECT_THAT(run_node("Einsum", 12, {floats({2, 0}, {}), floats({0, 1}, {})},
                       {{"equation", std::string("ij,jk->ik")}}),
              Gives(std::vector{floats({2, 1}, {0, 0})}));
}

struct Broken {
  std::string equation, message;
};
class BrokenEinsums : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenEinsums, AreRefused) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(run_node("Einsum", 12, {x, x}, {{"equation", GetParam().equation}}),
              Refuses(EPH_INVALID_ARGUMENT, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Equations, BrokenEinsums,
    ::testing::Values(Broken{"ij,jk->ik", "has extent 2 where another dimension"},
                      Broken{"ij->ij", "1 terms for 2 inputs"},
                      Broken{"ijk,ij->ij", "input 0 has rank 2"},
                      Broken{"ij,ij->iq", "'q' in the output is unknown"},
                      Broken{"ij,ij->ii", "'i' in the output is unknown or appears twice"},
                      Broken{"i2,ij->ij", "'i2' is not a term"},
                      Broken{"..i,ij->i", "'..i' is not a term"},
                      Broken{"......,ij->i", "'......' is not a term"}));

}  // namespace
}  // namespace ephost::test::einsum_test
