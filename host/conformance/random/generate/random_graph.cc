#include "host/conformance/random/generate/random_graph.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

namespace ephost::conformance {
namespace {

constexpr int64_t kMaxElements = 6000;
constexpr double kLargestNumber = 1e5;
// Results whose bound is wider, relative to the largest of the tensor, would show little.
constexpr double kWidestBound = 5e-4;
// With special numbers among the inputs, at most one element in this many may lack a close bound.
constexpr std::ptrdiff_t kElementsPerUncertain = 3;

BoundedTensor make_floats(const Dims& dims, const std::vector<float>& floats) {
  BoundedTensor made = zeros(dims);
  for (std::size_t i = 0; i < floats.size(); ++i) made.numbers[i].value = floats[i];
  return made;
}

}  // namespace

// ---- Draft --------------------------------------------------------------------------------------

Draft::Draft(const char* op_type, const std::vector<std::string>& inputs) {
  node.set_op_type(op_type);
  for (const std::string& input : inputs) node.add_input(input);
}

Draft& Draft::read(const std::string& input) {
  node.add_input(input);
  return *this;
}

Draft& Draft::integer(const char* name, int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
  return *this;
}

Draft& Draft::real(const char* name, double value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(static_cast<float>(value));
  return *this;
}

Draft& Draft::text(const char* name, const std::string& value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(value);
  return *this;
}

Draft& Draft::integers(const char* name, const Dims& values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute.add_ints(value);
  return *this;
}

Range Range::weights(int64_t terms) {
  const double largest = 1.8 / std::sqrt(std::fmax(1, static_cast<double>(terms)));
  return {-largest, largest};
}

// ---- The graph ----------------------------------------------------------------------------------

RandomGraph::RandomGraph(uint64_t seed)
    : dice_("graph " + std::to_string(seed)),
      opset_(static_cast<int>(dice_.one_in(3) ? dice_.roll(7, 21) : dice_.roll(11, 18))),
      has_special_numbers_(dice_.one_in(12)) {
  // The open extents, for each set of inputs; none in most of the models.
  extents_ = dice_.one_in(3) ? std::vector<Dims>(3) : std::vector<Dims>(1);
  for (std::size_t i = 0; i < 3 && extents_.size() > 1; ++i) {
    for (Dims& extents : extents_) extents.push_back(dice_.roll(dice_.one_in(15) ? 0 : 1, 6));
  }
  inputs_.resize(variant_count());
  model_.set_ir_version(8);
  onnx::OperatorSetIdProto& opset = *model_.add_opset_import();
  opset.set_domain("");
  opset.set_version(opset_);
  model_.mutable_graph()->set_name("random");
  add_first_inputs();
}

void RandomGraph::add_first_inputs() {
  static const std::vector<int> kExtents = {1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9};
  static const std::vector<int> kChannels = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 33};
  static const std::vector<int> kRanks = {4, 4, 4, 4, 4, 2, 2, 2, 3, 3, 5, 1};
  for (int64_t count = dice_.roll(1, 2); count > 0; --count) {
    std::vector<int> dims(static_cast<std::size_t>(dice_.pick(kRanks)));
    int64_t elements = 1;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const int extent = dice_.pick(i == 1 || dims.size() < 3 ? kChannels : kExtents);
      dims[i] = elements * extent > 1200    ? 2
                : i == 0 && dims.size() > 2 ? (extent + 2) / 3
                                            : extent;
      elements *= dims[i];
      // Negative: the open extent of that number.
      if (variant_count() > 1 && dice_.one_in(i == 0 ? 2 : 4)) {
        dims[i] = -static_cast<int>(dice_.roll(1, 3));
      }
    }
    add_input(dims, {-2, 2});
  }
}

std::string RandomGraph::add_input(const std::vector<int>& dims, Range range) {
  onnx::ValueInfoProto& declared = *model_.mutable_graph()->add_input();
  Known made;
  made.name = fresh("x");
  declared.set_name(made.name);
  onnx::TypeProto::Tensor& type = *declared.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape();
  for (const int extent : dims) {
    onnx::TensorShapeProto::Dimension& dim = *type.mutable_shape()->add_dim();
    if (extent < 0) dim.set_dim_param("n" + std::to_string(-extent));
    if (extent >= 0) dim.set_dim_value(extent);
  }
  for (std::size_t variant = 0; variant < variant_count(); ++variant) {
    Dims of_variant;
    for (const int extent : dims) {
      of_variant.push_back(extent < 0 ? extents_[variant][static_cast<std::size_t>(-extent) - 1]
                                      : extent);
    }
    BoundedTensor tensor = zeros(of_variant);
    for (Bounded& x : tensor.numbers) {
      const bool is_special = has_special_numbers_ && dice_.one_in(40);
      x.value = static_cast<float>(is_special ? draw_special() : draw(range));
    }
    inputs_[variant][made.name] = tensor;
    made.variants.push_back(std::move(tensor));
  }
  values_.push_back(std::move(made));
  return values_.back().name;
}

double RandomGraph::draw(Range range) {
  const double number = dice_.real(range.low, range.high);
  return range.has_both_signs && dice_.one_in(2) ? -number : number;
}

double RandomGraph::draw_special() {
  static const std::vector<double> kNumbers = {HUGE_VAL, -HUGE_VAL, std::nan(""), 3e38, -1e30,
                                               0,        -0.0,      1e-40,        90,   -110};
  return dice_.pick(kNumbers);
}

const RandomGraph::Known& RandomGraph::known(const std::string& name) const {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [&](const Known& value) { return value.name == name; });
  if (found == values_.end()) throw std::logic_error("no value " + name);
  return *found;
}

const BoundedTensor& RandomGraph::first(const std::string& value) const {
  return known(value).variants[0];
}

bool RandomGraph::is_open(const std::string& value, std::size_t axis) const {
  const Known& found = known(value);
  return std::any_of(found.variants.begin(), found.variants.end(), [&](const BoundedTensor& x) {
    return x.dims[axis] != found.variants[0].dims[axis];
  });
}

double RandomGraph::quantile(const std::string& value, double share) const {
  std::vector<double> numbers;
  for (const Bounded& x : first(value).numbers) {
    if (std::isfinite(x.value)) numbers.push_back(x.value);
  }
  if (numbers.empty()) return 0;
  std::sort(numbers.begin(), numbers.end());
  return numbers[static_cast<std::size_t>(share * static_cast<double>(numbers.size() - 1))];
}

std::optional<std::string> RandomGraph::pick(std::size_t least_rank, std::size_t most_rank) {
  std::vector<std::string> fitting;
  for (const Known& value : values_) {
    const std::size_t rank = value.variants[0].dims.size();
    const bool is_float = value.type == onnx::TensorProto::FLOAT;
    if (!value.is_constant && is_float && rank >= least_rank && rank <= most_rank) {
      fitting.push_back(value.name);
    }
  }
  if (fitting.empty()) return std::nullopt;
  return dice_.one_in(5) ? dice_.pick(fitting) : fitting.back();
}

std::optional<std::string> RandomGraph::pick_like(const std::string& value) {
  std::vector<std::string> fitting;
  for (const Known& other : values_) {
    const bool fits =
        std::equal(other.variants.begin(), other.variants.end(), known(value).variants.begin(),
                   [](const BoundedTensor& a, const BoundedTensor& b) { return a.dims == b.dims; });
    const bool is_float = other.type == onnx::TensorProto::FLOAT;
    if (fits && is_float && !other.is_constant && other.name != value) {
      fitting.push_back(other.name);
    }
  }
  if (fitting.empty()) return std::nullopt;
  return dice_.pick(fitting);
}

// ---- Constants and inputs -----------------------------------------------------------------------

std::string RandomGraph::constant(const Dims& dims, Range range) {
  if (dice_.one_in(4)) {
    for (const Known& value : values_) {
      if (!value.is_constant || value.variants[0].dims != dims) continue;
      const auto& numbers = value.variants[0].numbers;
      const bool fits = std::all_of(numbers.begin(), numbers.end(), [&](const Bounded& x) {
        const double number = range.has_both_signs ? std::fabs(x.value) : x.value;
        return number >= range.low && number <= range.high;
      });
      if (fits && !numbers.empty()) return value.name;
    }
  }
  BoundedTensor tensor = zeros(dims);
  for (Bounded& x : tensor.numbers) x.value = static_cast<float>(draw(range));
  values_.push_back({fresh("c"), std::vector<BoundedTensor>(variant_count(), tensor), true});
  return values_.back().name;
}

std::string RandomGraph::scalar(double number) {
  static const std::vector<Dims> kForms = {{}, {}, {1}, {1, 1, 1}};
  const BoundedTensor tensor = make_floats(dice_.pick(kForms), {static_cast<float>(number)});
  values_.push_back({fresh("s"), std::vector<BoundedTensor>(variant_count(), tensor), true});
  return values_.back().name;
}

std::string RandomGraph::ints(const Dims& integers) {
  const BoundedTensor tensor{{std::ssize(integers)}, {}, integers};
  values_.push_back({fresh("i"), std::vector<BoundedTensor>(variant_count(), tensor), true,
                     onnx::TensorProto::INT64});
  return values_.back().name;
}

std::string RandomGraph::int8(const Dims& dims, const std::vector<int64_t>& integers) {
  const BoundedTensor tensor{dims, {}, integers};
  values_.push_back({fresh("q"), std::vector<BoundedTensor>(variant_count(), tensor), true,
                     onnx::TensorProto::INT8});
  return values_.back().name;
}

std::string RandomGraph::input(const Dims& dims, Range range) {
  return add_input({dims.begin(), dims.end()}, range);
}

std::string RandomGraph::weights(const Dims& dims, Range range) {
  if (opset_ >= 13 && range.low == -range.high && dice_.one_in(6)) {
    if (const auto quantized = add_quantized(dims, range.high)) return *quantized;
  }
  return dice_.one_in(8) ? input(dims, range) : constant(dims, range);
}

std::optional<std::string> RandomGraph::add_quantized(const Dims& dims, double largest) {
  std::vector<int64_t> integers(static_cast<std::size_t>(element_count(dims)));
  for (int64_t& integer : integers) integer = dice_.roll(-127, 127);
  const std::string quantized = int8(dims, integers);
  const Range scales{largest / 500, largest / 127};
  if (dims.empty() || dice_.one_in(2)) {
    return add(Draft("DequantizeLinear", {quantized, constant({}, scales)}));
  }
  const int64_t axis = dice_.roll(0, std::ssize(dims) - 1);
  const Dims channels = {dims[static_cast<std::size_t>(axis)]};
  return add(
      Draft("DequantizeLinear", {quantized, constant(channels, scales)}).integer("axis", axis));
}

// ---- Nodes --------------------------------------------------------------------------------------

bool RandomGraph::is_certain(const BoundedTensor& tensor) const {
  if (!tensor.integers.empty()) return std::ssize(tensor.integers) <= kMaxElements;
  if (element_count(tensor.dims) != std::ssize(tensor.numbers)) return false;
  if (std::ssize(tensor.numbers) > kMaxElements) return false;
  double largest = 0;
  std::ptrdiff_t uncertain = 0;
  for (const Bounded& x : tensor.numbers) {
    if (!has_special_numbers_ && (!std::isfinite(x.value) || std::fabs(x.value) > kLargestNumber)) {
      return false;
    }
    if (std::isfinite(x.value)) largest = std::fmax(largest, std::fabs(x.value));
  }
  for (const Bounded& x : tensor.numbers) {
    if (!(x.error <= kWidestBound * largest + 1e-30)) ++uncertain;
  }
  return uncertain == 0 ||
         (has_special_numbers_ && uncertain <= std::ssize(tensor.numbers) / kElementsPerUncertain);
}

std::optional<std::string> RandomGraph::add(Draft draft, int outputs, int unread) {
  std::vector<Known> made(static_cast<std::size_t>(outputs));
  for (Known& output : made) {
    output.name = fresh("v");
    draft.node.add_output(output.name);
  }
  for (; unread > 0; --unread) draft.node.add_output(fresh("u"));
  draft.node.set_name(draft.node.op_type() + "_" + made[0].name);
  try {
    for (std::size_t variant = 0; variant < variant_count(); ++variant) {
      std::vector<const BoundedTensor*> read;
      for (const std::string& name : draft.node.input()) {
        read.push_back(name.empty() ? nullptr : &known(name).variants[variant]);
      }
      Outputs results = evaluate(Invocation(draft.node, opset_, std::move(read)));
      for (const BoundedTensor& result : results) {
        if (!is_certain(result)) return std::nullopt;
      }
      for (std::size_t i = 0; i < made.size(); ++i) {
        // Not told by the integers: a tensor may have no elements.
        if (draft.node.op_type() == "QuantizeLinear") made[i].type = onnx::TensorProto::INT8;
        made[i].variants.push_back(std::move(results.at(i)));
      }
    }
  } catch (const NotEvaluable&) {
    return std::nullopt;
  }
  *model_.mutable_graph()->add_node() = std::move(draft.node);
  const std::string name = made[0].name;
  std::move(made.begin(), made.end(), std::back_inserter(values_));
  return name;
}

void RandomGraph::give_ints(Draft& draft, const char* attribute, const Dims& integers,
                            int version) {
  if (opset_ < version) {
    draft.integers(attribute, integers);
  } else {
    draft.read(ints(integers));
  }
}

Case RandomGraph::grow(int nodes) {
  static const Choices kChoices = [] {
    Choices all;
    for (const Choices* some : {&elementwise_choices(), &layout_choices(), &normalization_choices(),
                                &pattern_choices(), &product_choices(), &window_choices()}) {
      all.insert(all.end(), some->begin(), some->end());
    }
    return all;
  }();
  int64_t total = 0;
  for (const Choice& choice : kChoices) total += choice.weight;
  for (int tries = 4 * nodes; tries > 0 && model_.graph().node_size() < nodes; --tries) {
    int64_t roll = dice_.roll(1, total);
    const auto chosen = std::find_if(kChoices.begin(), kChoices.end(), [&](const Choice& choice) {
      return (roll -= choice.weight) <= 0;
    });
    chosen->add(*this);
  }
  if (model_.graph().node_size() == 0) add(Draft("Relu", {values_.front().name}));
  write_outputs();
  write_constants();
  return {std::move(model_), std::move(inputs_)};
}

// ---- The finished model -------------------------------------------------------------------------

// Values of floats that are not read are outputs, and so are some of the others.
void RandomGraph::write_outputs() {
  std::set<std::string> read;
  onnx::GraphProto& graph = *model_.mutable_graph();
  for (const onnx::NodeProto& node : graph.node()) {
    read.insert(node.input().begin(), node.input().end());
  }
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.output()) {
      const bool is_float = std::any_of(values_.begin(), values_.end(), [&](const Known& value) {
        return value.name == name && value.type == onnx::TensorProto::FLOAT;
      });
      if (!is_float || (read.contains(name) && !dice_.one_in(8))) continue;
      onnx::ValueInfoProto& output = *graph.add_output();
      output.set_name(name);
      onnx::TypeProto::Tensor& type = *output.mutable_type()->mutable_tensor_type();
      type.set_elem_type(onnx::TensorProto::FLOAT);
      if (variant_count() > 1 || dice_.one_in(2)) continue;
      type.mutable_shape();
      for (const int64_t extent : dims(name)) {
        type.mutable_shape()->add_dim()->set_dim_value(extent);
      }
    }
  }
}

void RandomGraph::write_constants() {
  std::set<std::string> read;
  for (const onnx::NodeProto& node : model_.graph().node()) {
    read.insert(node.input().begin(), node.input().end());
  }
  for (const Known& value : values_) {
    if (value.is_constant && read.contains(value.name)) write_constant(value);
  }
  // Nodes that make constants come before their readers.
  auto& nodes = *model_.mutable_graph()->mutable_node();
  std::stable_partition(nodes.pointer_begin(), nodes.pointer_end(),
                        [](const onnx::NodeProto* node) { return node->op_type() == "Constant"; });
}

void RandomGraph::write_constant(const Known& constant) {
  const BoundedTensor& tensor = constant.variants[0];
  onnx::TensorProto made;
  made.set_name(constant.name);
  for (const int64_t extent : tensor.dims) made.add_dims(extent);
  made.set_data_type(constant.type);
  if (constant.type == onnx::TensorProto::INT64) {
    for (const int64_t integer : tensor.integers) made.add_int64_data(integer);
  } else if (constant.type == onnx::TensorProto::INT8) {
    for (const int64_t integer : tensor.integers) {
      made.add_int32_data(static_cast<int32_t>(integer));
    }
  } else {
    std::vector<float> floats;
    for (const Bounded& x : tensor.numbers) floats.push_back(static_cast<float>(x.value));
    std::string bytes(floats.size() * sizeof(float), '\0');
    if (!floats.empty()) std::memcpy(bytes.data(), floats.data(), bytes.size());
    made.set_raw_data(std::move(bytes));
  }
  if (dice_.one_in(10)) {
    onnx::NodeProto& node = *model_.mutable_graph()->add_node();
    node.set_op_type("Constant");
    node.add_output(constant.name);
    onnx::AttributeProto& value = *node.add_attribute();
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    *value.mutable_t() = std::move(made);
    return;
  }
  if (constant.type == onnx::TensorProto::FLOAT && dice_.one_in(25)) make_constant_default(made);
  *model_.mutable_graph()->add_initializer() = std::move(made);
}

// The caller may replace an initializer that is also an input, so it is not a constant.
void RandomGraph::make_constant_default(const onnx::TensorProto& tensor) {
  onnx::ValueInfoProto& input = *model_.mutable_graph()->add_input();
  input.set_name(tensor.name());
  onnx::TypeProto::Tensor& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(tensor.data_type());
  type.mutable_shape();
  for (const int64_t extent : tensor.dims()) {
    type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
}

Case make_random_case(uint64_t seed) {
  RandomGraph graph(seed);
  return graph.grow(static_cast<int>(graph.dice().roll(2, 12)));
}

}  // namespace ephost::conformance
