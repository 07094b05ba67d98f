// single_node_graph.h: one node as a plugin sees it, with tensors of any element type, and a
// session that runs its kernel through the C ABI of a plugin's library. For tests of kernels,
// without any part of the host; fake_graph.h is for tests of partitions.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <ephost/sdk/basics.hpp>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "tests/support/fake_host.h"
#include "tests/support/fill_record.h"
#include "tests/support/tensor_memory.h"

namespace ephost::test {

// A tensor with memory of its own: bytes, or strings for EPH_ELEMENT_STRING.
struct Tensor {
  int32_t type = EPH_ELEMENT_UNDEFINED;
  Shape shape;
  std::vector<char> bytes;
  std::vector<std::string> strings;
};

// The bytes of `count` elements of any type but strings.
[[nodiscard]] std::size_t storage_bytes(int32_t type, std::size_t count);

// `values` in row-major order.
template <class T>
Tensor tensor(Shape shape, const std::vector<T>& values) {
  Tensor made = {eph::element_type_of<T>(), std::move(shape), {}, {}};
  made.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}
inline Tensor floats(Shape shape, const std::vector<float>& values) {
  return tensor<float>(std::move(shape), values);
}
inline Tensor ints(const std::vector<int64_t>& values) {
  return tensor<int64_t>({static_cast<int64_t>(values.size())}, values);
}
Tensor bools(Shape shape, const std::vector<int>& values);
Tensor strings(Shape shape, std::vector<std::string> values);

template <class T>
std::vector<T> values_of(const Tensor& from) {
  std::vector<T> values(from.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), from.bytes.data(), from.bytes.size());
  return values;
}

// What the graph says about its values before the run.
enum class Stated { kTypesAndShapes, kTypes, kNothing };

using NodeAttribute = std::variant<int64_t, float, std::string, std::vector<int64_t>,
                                   std::vector<float>, std::vector<std::string>, Tensor>;

class SingleNodeGraph : public eph_graph {
 public:
  explicit SingleNodeGraph(std::string op_type, int32_t since_version = 13);
  SingleNodeGraph(const SingleNodeGraph&) = delete;
  SingleNodeGraph& operator=(const SingleNodeGraph&) = delete;

  // In the order of the operator's inputs and outputs. The result allows chaining.
  SingleNodeGraph& input(Tensor value);
  SingleNodeGraph& constant(Tensor value);
  SingleNodeGraph& skip_input();
  SingleNodeGraph& output();  // nothing is stated about it
  SingleNodeGraph& output(
      const Tensor& like);  // its type and shape are stated, as far as `state` says
  SingleNodeGraph& skip_output();
  SingleNodeGraph& attribute(const std::string& name, NodeAttribute value);
  SingleNodeGraph& state(Stated stated);
  // Clears the records of constants that were handed out: those of a real host are gone as well
  // once the kernel is made, while the elements stay.
  void take_records_back() const {
    for (auto& [index, record] : records_) record = {};
  }
  // For runs of a kernel that was made before: another tensor than it was told of.
  void replace_input(std::size_t i, Tensor value) { values_[inputs_[i]].tensor = std::move(value); }
  SingleNodeGraph& domain(std::string name);  // ai.onnx if nothing is said

  // Null where the input is left out.
  [[nodiscard]] const Tensor* input_tensor(std::size_t i) const;
  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  [[nodiscard]] std::size_t output_count() const { return outputs_.size(); }
  // The type and shape stated for an output, or null.
  [[nodiscard]] const Tensor* stated_output(std::size_t i) const;
  [[nodiscard]] bool is_wanted(std::size_t i) const { return outputs_[i] != EPH_NONE; }

 private:
  struct NodeValue {
    Tensor tensor;
    bool is_constant = false;
    bool is_stated = false;
    std::vector<eph_string> texts;
    eph_value constant = {};
  };
  struct Attribute {
    std::string name;
    NodeAttribute value;
    std::vector<eph_string> texts;
    eph_value tensor = {};
  };

  static const SingleNodeGraph& self(const eph_graph* graph) {
    return *static_cast<const SingleNodeGraph*>(graph);
  }
  static int32_t get_graph(const eph_graph* graph, eph_graph_info* out, eph_error* error) noexcept;
  static int32_t get_node(const eph_graph* graph, uint32_t index, eph_node_info* out,
                          eph_error* error) noexcept;
  static int32_t get_value(const eph_graph* graph, uint32_t index, eph_value_info* out,
                           eph_error* error) noexcept;
  static int32_t find_value(const eph_graph* graph, eph_string name, uint32_t* out_value,
                            eph_error* error) noexcept;
  static int64_t get_opset(const eph_graph* graph, eph_string) noexcept {
    return self(graph).since_version_;
  }
  static int32_t get_onnx(const eph_graph*, uint64_t, eph_bytes* out, eph_error* error) noexcept {
    *out = {};
    return refuse(error, EPH_NOT_IMPLEMENTED, "the fake host has no ONNX bytes");
  }
  static const eph_graph_api kApi;

  uint32_t add(NodeValue value);

  std::string op_type_;
  std::string domain_;
  int32_t since_version_;
  Stated stated_ = Stated::kTypesAndShapes;
  std::deque<NodeValue> values_;
  mutable std::map<uint32_t, eph_value> records_;  // of constants, by value, as handed out
  std::deque<Attribute> attributes_;
  std::vector<eph_attribute> attribute_views_;
  std::vector<uint32_t> inputs_, outputs_;
};

// What a kernel gave, or why it failed.
struct Outcome {
  int32_t code = EPH_OK;
  std::string message;
  std::vector<Tensor> outputs;  // of type EPH_ELEMENT_UNDEFINED where not wanted

  [[nodiscard]] bool ok() const { return code == EPH_OK; }

  friend void PrintTo(const Outcome& outcome, std::ostream* out) {  // for GoogleTest
    *out << "code " << outcome.code << ": " << outcome.message;
  }
};

// A kernel, one state, and the node whose inputs it runs on.
class KernelSession {
 public:
  // Destroys the computation in the end, unless it is only borrowed: sessions in several threads
  // may share one.
  KernelSession(eph_computation* computation, const SingleNodeGraph& graph, bool owns = true);
  KernelSession(const KernelSession&) = delete;
  KernelSession& operator=(const KernelSession&) = delete;
  ~KernelSession();

  // Runs on the graph's inputs. With `shared`, that output lies in the memory of (a copy of) that
  // input; both must have the same number of bytes.
  Outcome run(std::optional<eph_slot_pair> shared = std::nullopt);

  [[nodiscard]] const eph_computation_info& info() const { return info_; }
  // Scratch memory that the last run asked for.
  [[nodiscard]] uint64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  eph_computation* computation_;
  const SingleNodeGraph& graph_;
  bool owns_;
  eph_computation_info info_ = {};
  void* state_ = nullptr;
  uint64_t scratch_bytes_ = 0;
};

// A provider of a plugin's library; the first one that the library offers.
class PluginSession {
 public:
  // Throws where the library cannot be loaded. Integer options are passed as the host would.
  explicit PluginSession(const std::string& library, std::map<std::string, int64_t> options = {});
  PluginSession(const PluginSession&) = delete;
  PluginSession& operator=(const PluginSession&) = delete;
  ~PluginSession();

  // Null with the code and the message in *outcome where the provider refuses.
  std::unique_ptr<KernelSession> create(const SingleNodeGraph& graph, Outcome* outcome);
  // Makes the kernel and runs it once.
  Outcome run(const SingleNodeGraph& graph);

  [[nodiscard]] const eph_provider_api& api() const { return *api_; }
  [[nodiscard]] eph_provider* provider() const { return provider_; }

 private:
  FakeHost host_{{{EPH_EXT_THREAD_POOL, &kFakeThreadPool}}};
  void* library_ = nullptr;
  const eph_provider_api* api_ = nullptr;
  eph_provider* provider_ = nullptr;
};

}  // namespace ephost::test
