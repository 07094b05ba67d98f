#include "tests/unit/plugins/dnnl/net.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "tests/unit/plugins/dnnl/guarded_library.h"

namespace ephost::test {
namespace {

// since_version of the operators in operator set 17, if it is not 13.
int32_t version_in_17(const std::string& op_type) {
  static const std::map<std::string, int32_t> versions = {{"Conv", 11},
                                                          {"AveragePool", 11},
                                                          {"MaxPool", 12},
                                                          {"GlobalMaxPool", 1},
                                                          {"GlobalAveragePool", 1},
                                                          {"BatchNormalization", 15},
                                                          {"Add", 14},
                                                          {"Sub", 14},
                                                          {"Mul", 14},
                                                          {"Div", 14},
                                                          {"Pow", 15},
                                                          {"Relu", 14},
                                                          {"LeakyRelu", 16},
                                                          {"Elu", 6},
                                                          {"HardSwish", 14},
                                                          {"Identity", 16},
                                                          {"LayerNormalization", 17},
                                                          {"Reshape", 14}};
  const auto found = versions.find(op_type);
  return found == versions.end() ? 13 : found->second;
}

constexpr float kRootTwo = 1.41421356F;

}  // namespace

std::vector<float> Net::draw(const Shape& shape, double low, double high) {
  std::vector<float> data(count(shape));
  for (float& value : data) {
    value =
        static_cast<float>(low + (high - low) * (static_cast<double>(random_()) / 4294967295.0));
  }
  return data;
}

uint32_t Net::remember(uint32_t index, Array value) {
  values_.resize(index + 1);
  integers_.resize(index + 1);
  values_[index] = std::move(value);
  return index;
}

uint32_t Net::input(const Shape& shape, double low, double high) {
  return input_of(shape, draw(shape, low, high));
}

uint32_t Net::input_of(const Shape& shape, const std::vector<float>& data) {
  const uint32_t index = graph_.add_input("in" + std::to_string(values_.size()), shape);
  return remember(index, {shape, {data.begin(), data.end()}});
}

uint32_t Net::constant(const Shape& shape, const std::vector<float>& data) {
  const uint32_t index = graph_.add_constant("c" + std::to_string(values_.size()), shape, data);
  return remember(index, {shape, {data.begin(), data.end()}});
}

uint32_t Net::weights(const Shape& shape, double low, double high) {
  return constant(shape, draw(shape, low, high));
}

uint32_t Net::ints(const std::vector<int64_t>& data) {
  const uint32_t index = graph_.add_integers("i" + std::to_string(values_.size()), data);
  remember(index, {});
  integers_[index] = data;
  return index;
}

uint32_t Net::integers(const Shape& shape, int32_t type, const std::vector<int64_t>& data) {
  std::vector<int8_t> bytes;
  for (const int64_t value : data) {
    for (int i = 0; i < (type == EPH_ELEMENT_INT32 ? 4 : 1); ++i) {
      bytes.push_back(static_cast<int8_t>(value >> (8 * i)));
    }
  }
  const uint32_t index = graph_.add_bytes("q" + std::to_string(values_.size()), shape, type, bytes);
  return remember(index, {shape, {data.begin(), data.end()}});
}

uint32_t Net::add_dequantization(uint32_t integers, uint32_t scale, uint32_t zero_point,
                                 const FakeAttributes& attributes, Array result) {
  const uint32_t output = graph_.add_value("v" + std::to_string(values_.size()), result.shape);
  graph_.add_node("DequantizeLinear", {integers, scale, zero_point}, {output}, attributes);
  return remember(output, std::move(result));
}

uint32_t Net::round_trip(uint32_t x, float scale, int64_t zero_point, int32_t type) {
  const double least = type == EPH_ELEMENT_INT8 ? -128 : 0;
  const uint32_t scale_value = constant({}, {scale});
  const uint32_t zero_value = integers({}, type, {zero_point});
  const auto offset = static_cast<double>(zero_point);
  const Array quantized = map(value(x), [&](double element) {
    const double number = std::isnan(element) ? 0 : element;
    return std::clamp(std::nearbyint(number / scale) + offset, least, least + 255);
  });
  const uint32_t stored =
      graph_.add_value("v" + std::to_string(values_.size()), quantized.shape, type);
  graph_.add_node("QuantizeLinear", {x, scale_value, zero_value}, {stored});
  remember(stored, quantized);
  return add_dequantization(
      stored, scale_value, zero_value, {},
      map(quantized, [&](double element) { return (element - offset) * scale; }));
}

uint32_t Net::dequantized(uint32_t stored, const std::vector<float>& scales,
                          const std::vector<int64_t>& zero_points, int64_t axis) {
  const bool is_one = scales.size() == 1;
  const Shape parameters = is_one ? Shape{} : Shape{static_cast<int64_t>(scales.size())};
  const uint32_t scale = constant(parameters, scales);
  const uint32_t zero_point = integers(parameters, graph_.value_type(stored), zero_points);
  const Array& from = value(stored);
  Array result = generate(from.shape, [&](const Index& index) {
    const std::size_t i =
        is_one ? 0 : static_cast<std::size_t>(index[static_cast<std::size_t>(axis)]);
    return (at(from, index) - static_cast<double>(zero_points[i])) * scales[i];
  });
  return add_dequantization(stored, scale, zero_point, {{"axis", axis}}, std::move(result));
}

Array Net::evaluated(const Record& record, const std::vector<Array>& values) {
  OperatorCall call = record.call;
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    const uint32_t input = record.inputs[i];
    const bool is_float = input != EPH_NONE && call.ints[i].empty();
    call.inputs.push_back(is_float ? &values[input] : nullptr);
  }
  return evaluate(call);
}

uint32_t Net::add(const std::string& op_type, const std::vector<uint32_t>& inputs,
                  const FakeAttributes& attributes, int32_t since_version) {
  Record record;
  record.call.op_type = op_type;
  record.call.since_version = since_version == 0 ? version_in_17(op_type) : since_version;
  record.call.attributes = attributes;
  record.inputs = inputs;
  for (const uint32_t input : inputs) {
    record.call.ints.push_back(input == EPH_NONE ? std::vector<int64_t>() : integers_[input]);
  }
  Array result = evaluated(record, values_);
  record.output = graph_.add_value("v" + std::to_string(values_.size()), result.shape);
  graph_.add_node(op_type, inputs, {record.output}, attributes, record.call.since_version);
  records_.push_back(record);
  return remember(record.output, std::move(result));
}

std::vector<uint32_t> Net::add_known(const std::string& op_type,
                                     const std::vector<uint32_t>& inputs,
                                     const FakeAttributes& attributes,
                                     const std::vector<Array>& values, const std::string& domain,
                                     int32_t since_version) {
  std::vector<uint32_t> outputs;
  for (const Array& value : values) {
    if (value.shape.empty()) {
      outputs.push_back(EPH_NONE);
      continue;
    }
    const uint32_t index = graph_.add_value("v" + std::to_string(values_.size()), value.shape);
    outputs.push_back(remember(index, value));
  }
  graph_.set_domain(graph_.add_node(op_type, inputs, outputs, attributes, since_version), domain);
  return outputs;
}

Array Net::value_if(uint32_t index, uint32_t other, Array different) const {
  std::vector<Array> values = values_;
  values[other] = std::move(different);
  for (const Record& record : records_) {
    if (record.output > other) values[record.output] = evaluated(record, values);
  }
  return values[index];
}

const Array& Net::by_name(const std::string& name) const {
  uint32_t index = 0;
  while (graph_.value_name(index) != name) ++index;
  return values_[index];
}

uint32_t Net::conv(uint32_t data, int64_t channels, int64_t kernel,
                   const FakeAttributes& attributes, int64_t groups) {
  Shape weight_shape(shape(data).size(), kernel);
  weight_shape[0] = channels;
  weight_shape[1] = shape(data)[1] / groups;
  FakeAttributes all = attributes;
  if (groups != 1) all["group"] = groups;
  return add("Conv", {data, weights(weight_shape)}, all);
}

uint32_t Net::batch_norm(uint32_t data) {
  const Shape channels = {shape(data)[1]};
  const uint32_t scale = weights(channels, 0.5, 1.5), bias = weights(channels);
  const uint32_t mean = weights(channels), variance = weights(channels, 0.5, 1.5);
  return add("BatchNormalization", {data, scale, bias, mean, variance});
}

uint32_t Net::linear(uint32_t data, int64_t width, bool has_bias) {
  const uint32_t product = add("MatMul", {data, weights({shape(data).back(), width})});
  return has_bias ? add("Add", {product, weights({width})}) : product;
}

uint32_t Net::gelu(uint32_t data) {
  const uint32_t erf = add("Erf", {add("Div", {data, scalar(kRootTwo)})});
  const uint32_t product = add("Mul", {data, add("Add", {erf, scalar(1)})});
  return add("Mul", {product, scalar(0.5F)});
}

uint32_t Net::layer_norm(uint32_t data) {
  const FakeAttributes last = {{"axes", std::vector<int64_t>{-1}}};
  const uint32_t centred = add("Sub", {data, add("ReduceMean", {data}, last)});
  const uint32_t variance = add("ReduceMean", {add("Pow", {centred, scalar(2)})}, last);
  const uint32_t deviation = add("Sqrt", {add("Add", {variance, scalar(1e-5F)})});
  const Shape width = {shape(data).back()};
  const uint32_t scaled = add("Mul", {add("Div", {centred, deviation}), weights(width, 0.5, 1.5)});
  return add("Add", {scaled, weights(width)});
}

Partition::Partition(eph_computation* made, std::unique_ptr<FakeGraph> from)
    : computation(made), graph(std::move(from)) {
  FakeError error;
  info.struct_size = sizeof(info);
  EXPECT_EQ(computation->api->describe(computation, &info, &error), EPH_OK) << error.message;
  EXPECT_EQ(computation->api->create_state(computation, &state_, &error), EPH_OK) << error.message;
}

Partition::~Partition() {
  computation->api->release_state(computation, state_);
  computation->api->destroy(computation);
}

int32_t Partition::run_with(std::vector<FloatTensor*> inputs, std::vector<FloatTensor*> outputs,
                            FakeError& error, bool cancelled) {
  FakeRun run(std::move(inputs), std::move(outputs), info.workspace_bytes);
  run.cancelled = cancelled;
  return computation->api->compute(computation, state_, &run, &error);
}

std::vector<std::vector<float>> Partition::run(const Net& net) {
  std::vector<FloatTensor> inputs, outputs;
  for (const uint32_t input : graph->inputs()) {
    const Array& array = net.by_name(graph->value_name(input));
    inputs.emplace_back(array.shape, to_floats(array));
  }
  for (const uint32_t output : graph->outputs()) outputs.emplace_back(graph->value_shape(output));
  std::vector<FloatTensor*> input_pointers, output_pointers;
  for (FloatTensor& input : inputs) input_pointers.push_back(&input);
  for (FloatTensor& output : outputs) output_pointers.push_back(&output);
  FakeError error;
  const GuardedLibrary library;
  EXPECT_EQ(run_with(input_pointers, output_pointers, error), EPH_OK) << error.message;
  EXPECT_THAT(library.touches(), ::testing::IsEmpty());
  std::vector<std::vector<float>> results;
  for (const FloatTensor& output : outputs) results.push_back(output.values());
  return results;
}

ProviderSession::ProviderSession(int64_t threads, int64_t least_open_rows, const char* nan) {
  const eph_plugin_api* plugin = get_api(eph_plugin_v1());
  api = plugin->providers[0];
  eph_option options[3] = {};
  options[0].name = EPH_STRING("num_threads");
  options[0].int_value = threads;
  options[1].name = EPH_STRING("least_open_rows");
  options[1].int_value = least_open_rows;
  for (eph_option& option : options) option.kind = EPH_OPTION_INT;
  options[2].name = EPH_STRING("nan");
  options[2].kind = EPH_OPTION_STRING;
  options[2].string_value = {nan, std::strlen(nan)};
  const eph_provider_config config = {sizeof(config), options, 3};
  FakeError error;
  EXPECT_EQ(api->create(api, &host_, &config, &provider, &error), EPH_OK) << error.message;
}

ProviderSession::~ProviderSession() { api->destroy(provider); }

FakeClaims ProviderSession::claims(FakeGraph& graph) {
  FakeClaims claims;
  FakeError error;
  EXPECT_EQ(api->get_capability(provider, &graph, &claims, &error), EPH_OK) << error.message;
  EXPECT_TRUE(claims.nodes.empty()) << "the provider has no kernels";
  return claims;
}

std::vector<std::unique_ptr<Partition>> ProviderSession::compile(FakeGraph& graph) {
  FakeError error;
  int32_t code = EPH_OK;
  auto partitions = compile(graph, error, code);
  EXPECT_EQ(code, EPH_OK) << error.message;
  return partitions;
}

std::vector<std::unique_ptr<Partition>> ProviderSession::compile(FakeGraph& graph, FakeError& error,
                                                                 int32_t& code) {
  const FakeClaims claimed = claims(graph);
  std::vector<std::unique_ptr<FakeGraph>> graphs;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < claimed.fused.size(); ++i) {
    graphs.push_back(graph.extract(claimed.fused[i]));
    names.push_back("part" + std::to_string(i));
  }
  std::vector<eph_partition> partitions;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    partitions.push_back(
        {sizeof(eph_partition), graphs[i].get(), {names[i].data(), names[i].size()}, nullptr});
  }
  std::vector<eph_computation*> computations(graphs.size(), nullptr);
  code = api->compile(provider, partitions.data(), sizeof(eph_partition), partitions.size(),
                      computations.data(), &error);
  std::vector<std::unique_ptr<Partition>> compiled;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    if (computations[i] == nullptr) return {};
    compiled.push_back(std::make_unique<Partition>(computations[i], std::move(graphs[i])));
  }
  return compiled;
}

FakeContextWriter ProviderSession::write(
    const std::vector<std::unique_ptr<Partition>>& partitions) {
  std::vector<eph_computation*> computations;
  for (const auto& partition : partitions) computations.push_back(partition->computation);
  FakeContextWriter writer;
  FakeError error;
  EXPECT_EQ(api->get_ep_context_nodes(provider, computations.data(), computations.size(), &writer,
                                      &error),
            EPH_OK)
      << error.message;
  return writer;
}

std::unique_ptr<Partition> ProviderSession::restore(const AlignedBytes& payload,
                                                    const std::string& name, const FakeGraph& graph,
                                                    FakeError& error, int32_t& code) {
  payloads_.push_back(payload);
  std::unique_ptr<FakeGraph> node = graph.as_context_node();
  eph_ep_context context = {};
  context.struct_size = sizeof(context);
  context.payload = {payload.data(), payload.size()};
  context.partition_name = {name.data(), name.size()};
  context.main_context = 1;
  const eph_partition partition = {
      sizeof(partition), node.get(), {name.data(), name.size()}, &context};
  eph_computation* computation = nullptr;
  code = api->compile(provider, &partition, sizeof(partition), 1, &computation, &error);
  if (computation == nullptr) return nullptr;
  return std::make_unique<Partition>(computation, std::move(node));
}

void expect_reference(const Net& net, Partition& partition) {
  const std::vector<std::vector<float>> results = partition.run(net);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string name = partition.graph->value_name(partition.graph->outputs()[i]);
    const Array& expected = net.by_name(name);
    ASSERT_EQ(results[i].size(), expected.data.size());
    for (std::size_t k = 0; k < results[i].size(); ++k) {
      const double tolerance = 1e-4 + 1e-3 * std::abs(expected.data[k]);
      ASSERT_NEAR(results[i][k], expected.data[k], tolerance)
          << "element " << k << " of output '" << name << "'";
    }
  }
}

void expect_one_partition(Net& net, int64_t threads) {
  ProviderSession session(threads);
  const FakeClaims claims = session.claims(net.graph());
  for (const auto& [node, reason] : claims.declined) {
    ADD_FAILURE() << net.graph().op_type(node) << " was declined: " << reason;
  }
  ASSERT_EQ(claims.fused.size(), 1U);
  ASSERT_EQ(claims.fused[0].size(), net.graph().node_count());
  const auto partitions = session.compile(net.graph());
  ASSERT_EQ(partitions.size(), 1U);
  expect_reference(net, *partitions[0]);
  expect_reference(net, *partitions[0]);  // with other addresses and the same state
}

}  // namespace ephost::test
