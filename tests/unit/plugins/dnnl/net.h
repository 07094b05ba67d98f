// net.h: a small model for tests, built node by node. Each value is computed with the reference as
// soon as it is added, so shapes and expected results are known without a model file. A
// ProviderSession then acts as its host through the C ABI.
#pragma once

#include <ephost/plugin_abi.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/support/fake_claims.h"
#include "tests/support/fake_context_writer.h"
#include "tests/support/fake_graph.h"
#include "tests/support/fake_host.h"
#include "tests/support/fake_run.h"
#include "tests/unit/plugins/dnnl/reference.h"

namespace ephost::test {

class Net {
 public:
  explicit Net(uint32_t seed = 1) : random_(seed) {}

  // Adds a value of numbers uniform between low and high. Each function returns the value's index.
  uint32_t input(const Shape& shape, double low = -1, double high = 1);
  uint32_t input_of(const Shape& shape, const std::vector<float>& data);
  uint32_t weights(const Shape& shape, double low = -0.5, double high = 0.5);
  uint32_t constant(const Shape& shape, const std::vector<float>& data);
  uint32_t scalar(float value) { return constant({}, {value}); }
  uint32_t ints(const std::vector<int64_t>& data);
  // A constant of integers of 8 or 32 bits.
  uint32_t integers(const Shape& shape, int32_t type, const std::vector<int64_t>& data);

  // Adds a node and returns its output. Version 0 means the operator's version in operator set 17.
  uint32_t add(const std::string& op_type, const std::vector<uint32_t>& inputs,
               const FakeAttributes& attributes = {}, int32_t since_version = 0);
  // Adds a node that the reference does not know, with the values of its outputs; those without a
  // shape are left out. Returns the outputs.
  std::vector<uint32_t> add_known(const std::string& op_type, const std::vector<uint32_t>& inputs,
                                  const FakeAttributes& attributes,
                                  const std::vector<Array>& values,
                                  const std::string& domain = "com.microsoft",
                                  int32_t since_version = 1);
  void output(uint32_t value) { graph_.mark_output(value); }

  // x through QuantizeLinear and DequantizeLinear. value_if doesn't follow these two.
  uint32_t round_trip(uint32_t x, float scale, int64_t zero_point, int32_t type);
  // Dequantised constants; more than one scale belong to the axis.
  uint32_t dequantized(uint32_t integers, const std::vector<float>& scales,
                       const std::vector<int64_t>& zero_points, int64_t axis = 0);

  // Convolution with random weights; no bias.
  uint32_t conv(uint32_t data, int64_t channels, int64_t kernel,
                const FakeAttributes& attributes = {}, int64_t groups = 1);
  // BatchNormalization with random statistics.
  uint32_t batch_norm(uint32_t data);
  // Product with random weights, and with bias if requested.
  uint32_t linear(uint32_t data, int64_t width, bool has_bias = true);
  uint32_t gelu(uint32_t data);
  uint32_t layer_norm(uint32_t data);

  [[nodiscard]] FakeGraph& graph() { return graph_; }
  [[nodiscard]] const Array& value(uint32_t index) const { return values_[index]; }
  [[nodiscard]] const Array& by_name(const std::string& name) const;
  [[nodiscard]] const Shape& shape(uint32_t index) const { return values_[index].shape; }
  // The value that would result if an earlier value were different.
  [[nodiscard]] Array value_if(uint32_t index, uint32_t other, Array different) const;

 private:
  std::vector<float> draw(const Shape& shape, double low, double high);
  uint32_t remember(uint32_t index, Array value);
  uint32_t add_dequantization(uint32_t integers, uint32_t scale, uint32_t zero_point,
                              const FakeAttributes& attributes, Array result);

  // A node, to be evaluated again.
  struct Record {
    OperatorCall call;  // without its inputs
    std::vector<uint32_t> inputs;
    uint32_t output = 0;
  };
  [[nodiscard]] static Array evaluated(const Record& record, const std::vector<Array>& values);

  std::mt19937 random_;
  FakeGraph graph_;
  std::vector<Record> records_;
  std::vector<Array> values_;                   // by value
  std::vector<std::vector<int64_t>> integers_;  // by value; of integer constants
};

// A computation with the objects that the host keeps for it.
class Partition {
 public:
  Partition(eph_computation* computation, std::unique_ptr<FakeGraph> graph);
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  // Runs on the net's values, with every primitive in guarded memory, and returns the outputs in
  // the graph's order.
  std::vector<std::vector<float>> run(const Net& net);
  // The status code of one call, for calls that fail.
  int32_t run_with(std::vector<FloatTensor*> inputs, std::vector<FloatTensor*> outputs,
                   FakeError& error, bool cancelled = false);

  eph_computation* computation;
  std::unique_ptr<FakeGraph> graph;
  eph_computation_info info = {};

 private:
  void* state_ = nullptr;
};

// A dnnl provider behind its C table.
class ProviderSession {
 public:
  explicit ProviderSession(int64_t threads = 0, int64_t least_open_rows = 1,
                           const char* nan = "propagate");
  ~ProviderSession();
  ProviderSession(const ProviderSession&) = delete;
  ProviderSession& operator=(const ProviderSession&) = delete;

  FakeClaims claims(FakeGraph& graph);
  // Compiles every claim of the graph, named part0, part1, ...
  std::vector<std::unique_ptr<Partition>> compile(FakeGraph& graph);
  // The same for graphs that are refused: returns nothing, and sets a code and a message.
  std::vector<std::unique_ptr<Partition>> compile(FakeGraph& graph, FakeError& error,
                                                  int32_t& code);
  FakeContextWriter write(const std::vector<std::unique_ptr<Partition>>& partitions);
  // Restores a partition from a payload, which the session then keeps; null with a message if the
  // provider refuses. `graph` is what the partition was compiled from.
  std::unique_ptr<Partition> restore(const AlignedBytes& payload, const std::string& name,
                                     const FakeGraph& graph, FakeError& error, int32_t& code);

  [[nodiscard]] std::vector<std::string> log() const { return host_.logged(); }

  const eph_provider_api* api = nullptr;
  eph_provider* provider = nullptr;

 private:
  FakeHost host_{{{EPH_EXT_THREAD_POOL, &kFakeThreadPool}}};
  std::vector<AlignedBytes> payloads_;
};

// Expects each output of the partition to match the reference.
void expect_reference(const Net& net, Partition& partition);

// Claims, compiles and runs a net whose every node is expected to be in one partition.
void expect_one_partition(Net& net, int64_t threads = 1);

}  // namespace ephost::test
