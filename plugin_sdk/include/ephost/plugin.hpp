// plugin.hpp: the plugin ABI for C++17 authors. Header only, standard library only.
//
// Views (GraphView, NodeView, ...) read what the host hands over; they own nothing. A provider is a
// class derived from Provider, what it makes are classes derived from Computation, and
// EPH_DEFINE_PLUGIN turns them into tables of C functions. Those functions are noexcept: whatever
// is thrown inside becomes a code and a message. Throw Failure to choose the code.
//
//   class MyProvider : public eph::Provider {
//    public:
//     static constexpr std::string_view kTypeName = "MyExecutionProvider", kName = "my", kVendor =
//     "me"; static void get_devices(eph::Host host, eph::DeviceList& list); static
//     std::unique_ptr<MyProvider> create(eph::Host host, const eph::Options& options); void
//     get_capability(const eph::GraphView& graph, eph::Claims& claims);   // these four are void
//     compile(...); eph::ArrayView<eph_kernel_def> kernels(); ...         // optional
//   };
//   EPH_DEFINE_PLUGIN("com.me.plugin", "1.0.0", MyProvider)
#pragma once

#include <ephost/plugin_abi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace eph {

// ---- Small parts ------------------------------------------------------------------------------

// A borrowed array.
template <class T>
class ArrayView {
 public:
  constexpr ArrayView() = default;
  constexpr ArrayView(const T* data, std::size_t size) : data_(data), size_(size) {}
  ArrayView(const std::vector<T>& items) : data_(items.data()), size_(items.size()) {}

  [[nodiscard]] constexpr const T* data() const { return data_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr const T* begin() const { return data_; }
  [[nodiscard]] constexpr const T* end() const { return data_ + size_; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] std::vector<T> to_vector() const { return std::vector<T>(begin(), end()); }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

[[nodiscard]] inline std::string_view view(eph_string text) {
  return {text.data, static_cast<std::size_t>(text.size)};
}
[[nodiscard]] constexpr eph_string to_abi(std::string_view text) {
  return {text.data(), text.size()};
}

// A failure with its code; anything else that is thrown counts as EPH_FAIL.
class Failure : public std::runtime_error {
 public:
  Failure(int32_t code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] int32_t code() const { return code_; }

 private:
  int32_t code_;
};

// The ABI's number for a C++ element type.
template <class T>
constexpr int32_t element_type_of() {
  if constexpr (std::is_same_v<T, float>)
    return EPH_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return EPH_DOUBLE;
  else if constexpr (std::is_same_v<T, bool>)
    return EPH_BOOL;
  else if constexpr (std::is_same_v<T, int8_t>)
    return EPH_INT8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return EPH_INT16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return EPH_INT32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return EPH_INT64;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return EPH_UINT8;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return EPH_UINT16;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return EPH_UINT32;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return EPH_UINT64;
  else if constexpr (std::is_same_v<T, eph_string>)
    return EPH_STRING_ELEMENT;
  else
    return EPH_UNDEFINED;
}

// The bit of an element type in eph_type_rule::element_types.
[[nodiscard]] constexpr uint64_t type_bit(int32_t element_type) {
  return uint64_t{1} << element_type;
}

namespace detail {

inline void set_message(eph_error* error, std::string_view message) noexcept {
  error->api->set_message(error, to_abi(message));
}

// Runs `body` and turns what it throws into a code and a message.
template <class Body>
int32_t guard(eph_error* error, Body&& body) noexcept {
  try {
    body();
    return EPH_OK;
  } catch (const Failure& failure) {
    set_message(error, failure.what());
    return failure.code();
  } catch (const std::bad_alloc&) {
    set_message(error, "the plugin ran out of memory");
  } catch (const std::exception& exception) {
    set_message(error, exception.what());
  } catch (...) {
    set_message(error, "the plugin failed with an exception of an unknown type");
  }
  return EPH_FAIL;
}

// Collects the message of a host function that fails, and throws it.
class ThrowingError : public eph_error {
 public:
  ThrowingError() : eph_error{&kApi} {}
  void check(int32_t code) const {
    if (code != EPH_OK) throw Failure(code, message_);
  }

 private:
  static void store(eph_error* error, eph_string message) noexcept {
    try {
      static_cast<ThrowingError*>(error)->message_ = view(message);
    } catch (...) {  // without memory the code has to do without its message
    }
  }
  static constexpr eph_error_api kApi = {sizeof(eph_error_api), &ThrowingError::store};
  std::string message_;
};

}  // namespace detail

// ---- Graph views ------------------------------------------------------------------------------

// Elements of a constant or of a run-time tensor. T must be the element type: Failure otherwise.
template <class T>
[[nodiscard]] ArrayView<T> elements(const eph_value& value) {
  if (value.element_type != element_type_of<T>()) {
    throw Failure(EPH_INVALID_GRAPH, "a tensor has element type " +
                                         std::to_string(value.element_type) + ", expected " +
                                         std::to_string(element_type_of<T>()));
  }
  return {static_cast<const T*>(value.data), static_cast<std::size_t>(value.byte_size / sizeof(T))};
}

[[nodiscard]] inline ArrayView<int64_t> shape_of(const eph_value& value) {
  return {value.shape, value.rank};
}

class NodeView {
 public:
  NodeView(uint32_t index, const eph_node_info& info) : index_(index), info_(info) {}

  [[nodiscard]] uint32_t index() const { return index_; }
  [[nodiscard]] std::string_view name() const { return view(info_.name); }
  [[nodiscard]] std::string_view op_type() const { return view(info_.op_type); }
  [[nodiscard]] std::string_view domain() const { return view(info_.domain); }
  [[nodiscard]] int32_t since_version() const { return info_.since_version; }
  [[nodiscard]] bool is_taken() const { return (info_.flags & EPH_NODE_TAKEN) != 0; }
  // Value indices; EPH_NONE where one is left out.
  [[nodiscard]] ArrayView<uint32_t> inputs() const { return {info_.inputs, info_.input_count}; }
  [[nodiscard]] ArrayView<uint32_t> outputs() const { return {info_.outputs, info_.output_count}; }
  // The i-th input, or EPH_NONE where there are fewer.
  [[nodiscard]] uint32_t input(std::size_t i) const {
    return i < info_.input_count ? info_.inputs[i] : EPH_NONE;
  }
  [[nodiscard]] uint32_t output(std::size_t i) const {
    return i < info_.output_count ? info_.outputs[i] : EPH_NONE;
  }
  [[nodiscard]] ArrayView<eph_attribute> attributes() const {
    return {info_.attributes, info_.attribute_count};
  }

  // The attribute, or null.
  [[nodiscard]] const eph_attribute* attribute(std::string_view attribute_name) const {
    for (const eph_attribute& candidate : attributes()) {
      if (view(candidate.name) == attribute_name) return &candidate;
    }
    return nullptr;
  }
  // These give the fallback where the attribute is absent, and throw where it has another kind.
  [[nodiscard]] int64_t get_int(std::string_view attribute_name, int64_t fallback) const {
    const eph_attribute* found = checked(attribute_name, EPH_ATTRIBUTE_INT);
    return found ? *static_cast<const int64_t*>(found->values) : fallback;
  }
  [[nodiscard]] float get_float(std::string_view attribute_name, float fallback) const {
    const eph_attribute* found = checked(attribute_name, EPH_ATTRIBUTE_FLOAT);
    return found ? *static_cast<const float*>(found->values) : fallback;
  }
  [[nodiscard]] std::string_view get_string(std::string_view attribute_name,
                                            std::string_view fallback) const {
    const eph_attribute* found = checked(attribute_name, EPH_ATTRIBUTE_STRING);
    return found ? view(*static_cast<const eph_string*>(found->values)) : fallback;
  }
  [[nodiscard]] ArrayView<int64_t> get_ints(std::string_view attribute_name) const {
    return array<int64_t>(attribute_name, EPH_ATTRIBUTE_INTS);
  }
  [[nodiscard]] ArrayView<float> get_floats(std::string_view attribute_name) const {
    return array<float>(attribute_name, EPH_ATTRIBUTE_FLOATS);
  }
  [[nodiscard]] ArrayView<eph_string> get_strings(std::string_view attribute_name) const {
    return array<eph_string>(attribute_name, EPH_ATTRIBUTE_STRINGS);
  }
  [[nodiscard]] const eph_value* get_tensor(std::string_view attribute_name) const {
    const eph_attribute* found = checked(attribute_name, EPH_ATTRIBUTE_TENSOR);
    return found ? static_cast<const eph_value*>(found->values) : nullptr;
  }

 private:
  [[nodiscard]] const eph_attribute* checked(std::string_view attribute_name, int32_t kind) const {
    const eph_attribute* found = attribute(attribute_name);
    if (found != nullptr && found->kind != kind) {
      throw Failure(EPH_INVALID_GRAPH, std::string(op_type()) + " node '" + std::string(name()) +
                                           "': attribute '" + std::string(attribute_name) +
                                           "' has kind " + std::to_string(found->kind) +
                                           ", expected " + std::to_string(kind));
    }
    return found;
  }
  template <class T>
  [[nodiscard]] ArrayView<T> array(std::string_view attribute_name, int32_t kind) const {
    const eph_attribute* found = checked(attribute_name, kind);
    if (found == nullptr) return {};
    return {static_cast<const T*>(found->values), static_cast<std::size_t>(found->count)};
  }

  uint32_t index_;
  eph_node_info info_;
};

class ValueView {
 public:
  ValueView(uint32_t index, const eph_value_info& info) : index_(index), info_(info) {}

  [[nodiscard]] uint32_t index() const { return index_; }
  [[nodiscard]] std::string_view name() const { return view(info_.name); }
  [[nodiscard]] int32_t kind() const { return info_.kind; }
  [[nodiscard]] int32_t element_type() const { return info_.element_type; }
  [[nodiscard]] bool has_rank() const { return info_.rank >= 0; }
  // Extents, -1 where open; empty where the rank isn't known.
  [[nodiscard]] ArrayView<int64_t> shape() const {
    return {info_.shape, info_.rank > 0 ? static_cast<std::size_t>(info_.rank) : 0};
  }
  [[nodiscard]] bool has_static_shape() const {
    const ArrayView<int64_t> extents = shape();
    return has_rank() &&
           std::all_of(extents.begin(), extents.end(), [](int64_t extent) { return extent >= 0; });
  }
  [[nodiscard]] bool is_graph_input() const { return (info_.flags & EPH_VALUE_GRAPH_INPUT) != 0; }
  [[nodiscard]] bool is_graph_output() const { return (info_.flags & EPH_VALUE_GRAPH_OUTPUT) != 0; }
  [[nodiscard]] uint32_t producer() const { return info_.producer; }
  [[nodiscard]] ArrayView<uint32_t> consumers() const {
    return {info_.consumers, info_.consumer_count};
  }
  // The data, or null where the value is no constant.
  [[nodiscard]] const eph_value* constant() const { return info_.constant; }

 private:
  uint32_t index_;
  eph_value_info info_;
};

class GraphView {
 public:
  explicit GraphView(const eph_graph* graph) : graph_(graph) {
    info_.struct_size = sizeof(info_);
    if (graph->api->get_graph(graph, &info_) != EPH_OK) {
      throw Failure(EPH_FAIL, "the host refused to describe its graph");
    }
  }

  [[nodiscard]] const eph_graph* handle() const { return graph_; }
  [[nodiscard]] std::string_view name() const { return view(info_.name); }
  [[nodiscard]] uint32_t node_count() const { return static_cast<uint32_t>(info_.node_count); }
  [[nodiscard]] uint32_t value_count() const { return static_cast<uint32_t>(info_.value_count); }
  [[nodiscard]] ArrayView<uint32_t> inputs() const { return {info_.inputs, info_.input_count}; }
  [[nodiscard]] ArrayView<uint32_t> outputs() const { return {info_.outputs, info_.output_count}; }

  // Throw where the index is out of range.
  [[nodiscard]] NodeView node(uint32_t index) const {
    eph_node_info info = {};
    info.struct_size = sizeof(info);
    if (graph_->api->get_node(graph_, index, &info) != EPH_OK) {
      throw Failure(EPH_INVALID_ARGUMENT, "the graph has no node " + std::to_string(index));
    }
    return {index, info};
  }
  [[nodiscard]] ValueView value(uint32_t index) const {
    eph_value_info info = {};
    info.struct_size = sizeof(info);
    if (graph_->api->get_value(graph_, index, &info) != EPH_OK) {
      throw Failure(EPH_INVALID_ARGUMENT, "the graph has no value " + std::to_string(index));
    }
    return {index, info};
  }
  // The constant behind input `i` of a node, or null.
  [[nodiscard]] const eph_value* constant_input(const NodeView& of, std::size_t i) const {
    return of.input(i) == EPH_NONE ? nullptr : value(of.input(i)).constant();
  }
  // 0 where the model doesn't import the domain.
  [[nodiscard]] int64_t opset(std::string_view domain) const {
    return graph_->api->get_opset(graph_, to_abi(domain));
  }
  // The graph as a serialised ModelProto; lives as long as the graph.
  [[nodiscard]] std::string_view onnx() const {
    eph_bytes bytes = {};
    detail::ThrowingError error;
    error.check(graph_->api->get_onnx(graph_, &bytes, &error));
    return {static_cast<const char*>(bytes.data), static_cast<std::size_t>(bytes.size)};
  }

 private:
  const eph_graph* graph_;
  eph_graph_info info_ = {};
};

// ---- What a provider answers to ---------------------------------------------------------------

class Claims {
 public:
  explicit Claims(eph_claims* claims) : claims_(claims) {}

  void claim_node(uint32_t node) {
    detail::ThrowingError error;
    error.check(claims_->api->claim_node(claims_, node, &error));
  }
  void claim_fused(ArrayView<uint32_t> nodes, std::string_view name = {}, uint32_t flags = 0) {
    eph_fused_claim claim = {};
    claim.struct_size = sizeof(claim);
    claim.name = to_abi(name);
    claim.nodes = nodes.data();
    claim.node_count = nodes.size();
    claim.flags = flags;
    detail::ThrowingError error;
    error.check(claims_->api->claim_fused(claims_, &claim, &error));
  }
  [[nodiscard]] bool has_kernel(uint32_t node) {
    return claims_->api->has_kernel(claims_, node) != 0;
  }
  void decline(uint32_t node, std::string_view reason) {
    claims_->api->decline(claims_, node, to_abi(reason));
  }

 private:
  eph_claims* claims_;
};

class Host {
 public:
  explicit Host(const eph_host* host) : host_(host) {}
  void log(int32_t severity, std::string_view message) const {
    host_->api->log(host_, severity, to_abi(message));
  }
  // The table of an optional interface, or null.
  template <class Table>
  [[nodiscard]] const Table* extension(std::string_view id) const {
    return static_cast<const Table*>(host_->api->get_extension(host_, to_abi(id)));
  }
  [[nodiscard]] const eph_host* handle() const { return host_; }

 private:
  const eph_host* host_;
};

class DeviceList {
 public:
  explicit DeviceList(eph_device_list* list) : list_(list) {}
  void add(eph_device device) {
    device.struct_size = sizeof(device);
    detail::ThrowingError error;
    error.check(list_->api->add(list_, &device, &error));
  }

 private:
  eph_device_list* list_;
};

class Options {
 public:
  explicit Options(const eph_provider_config* config)
      : options_(config->options, config->option_count) {}

  [[nodiscard]] const eph_option* find(std::string_view name) const {
    for (const eph_option& option : options_) {
      if (view(option.name) == name) return &option;
    }
    return nullptr;
  }
  [[nodiscard]] int64_t get_int(std::string_view name, int64_t fallback) const {
    const eph_option* option = find(name);
    return option ? option->int_value : fallback;
  }
  [[nodiscard]] double get_float(std::string_view name, double fallback) const {
    const eph_option* option = find(name);
    return option ? option->float_value : fallback;
  }
  [[nodiscard]] bool get_bool(std::string_view name, bool fallback) const {
    const eph_option* option = find(name);
    return option ? option->int_value != 0 : fallback;
  }
  [[nodiscard]] std::string_view get_string(std::string_view name,
                                            std::string_view fallback) const {
    const eph_option* option = find(name);
    return option ? view(option->string_value) : fallback;
  }

 private:
  ArrayView<eph_option> options_;
};

// ---- Computations -----------------------------------------------------------------------------

// The arguments of one compute call.
class Run {
 public:
  explicit Run(eph_run* run) : run_(run) {}

  [[nodiscard]] uint32_t input_count() const { return run_->input_count; }
  [[nodiscard]] uint32_t output_count() const { return run_->output_count; }
  // Null where the optional input is left out.
  [[nodiscard]] const eph_value* input(uint32_t i) const {
    return i < run_->input_count ? run_->inputs[i] : nullptr;
  }
  // Null where nobody wants the output.
  [[nodiscard]] eph_value* output(uint32_t i) const {
    return i < run_->output_count ? run_->outputs[i] : nullptr;
  }
  // Data of an input that must be there.
  template <class T>
  [[nodiscard]] const T* input_data(uint32_t i) const {
    return static_cast<const T*>(run_->inputs[i]->data);
  }

  // Output i with that shape and memory; it must be wanted. Costs nothing where the host prepared
  // it.
  eph_value& allocate(uint32_t i, ArrayView<int64_t> shape) {
    eph_value& value = *run_->outputs[i];
    const bool prepared = value.data != nullptr && value.rank == shape.size() &&
                          std::equal(shape.begin(), shape.end(), value.shape);
    if (!prepared) {
      detail::ThrowingError error;
      error.check(run_->api->allocate_output(run_, i, shape.data(),
                                             static_cast<uint32_t>(shape.size()), &error));
    }
    return value;
  }
  template <class T>
  T* allocate_data(uint32_t i, ArrayView<int64_t> shape) {
    return static_cast<T*>(allocate(i, shape).data);
  }
  void set_string(uint32_t i, uint64_t element, std::string_view text) {
    detail::ThrowingError error;
    error.check(run_->api->set_string(run_, i, element, to_abi(text), &error));
  }

  [[nodiscard]] void* workspace() const { return run_->workspace; }
  // Memory until compute returns, aligned to 64.
  [[nodiscard]] void* scratch(uint64_t bytes) {
    void* memory = run_->api->allocate_scratch(run_, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  [[nodiscard]] bool is_cancelled() const { return run_->api->is_cancelled(run_) != 0; }

 private:
  eph_run* run_;
};

// What each concurrent run keeps for itself.
class State {
 public:
  virtual ~State() = default;
};

// A kernel or a compiled partition.
class Computation : public eph_computation {
 public:
  Computation() : eph_computation{&kApi} {}
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;
  virtual ~Computation() = default;

  virtual void compute(Run& run, State* state) = 0;

  // See eph_computation_info; the default can run concurrently and needs nothing.
  virtual void describe(eph_computation_info& info) { info.flags = EPH_COMPUTE_CONCURRENT; }
  virtual std::unique_ptr<State> create_state() { return nullptr; }

 private:
  static Computation* self(eph_computation* handle) { return static_cast<Computation*>(handle); }
  static void do_destroy(eph_computation* handle) noexcept {
    if (handle != nullptr) delete self(handle);
  }
  static int32_t do_compute(eph_computation* handle, void* state, eph_run* run,
                            eph_error* error) noexcept {
    return detail::guard(error, [&] {
      Run wrapped(run);
      self(handle)->compute(wrapped, static_cast<State*>(state));
    });
  }
  static int32_t do_describe(eph_computation* handle, eph_computation_info* out,
                             eph_error* error) noexcept {
    return detail::guard(error, [&] {
      eph_computation_info info = {};
      info.struct_size = std::min<uint64_t>(sizeof(info), out->struct_size);
      self(handle)->describe(info);
      std::copy_n(reinterpret_cast<const char*>(&info), info.struct_size,
                  reinterpret_cast<char*>(out));
    });
  }
  static int32_t do_create_state(eph_computation* handle, void** out_state,
                                 eph_error* error) noexcept {
    *out_state = nullptr;
    return detail::guard(error, [&] { *out_state = self(handle)->create_state().release(); });
  }
  static void do_release_state(eph_computation*, void* state) noexcept {
    delete static_cast<State*>(state);
  }

  static constexpr eph_computation_api kApi = {
      sizeof(eph_computation_api), &Computation::do_destroy,      &Computation::do_compute,
      &Computation::do_describe,   &Computation::do_create_state, &Computation::do_release_state};
};

// ---- Compiling and the context cache ----------------------------------------------------------

// The partitions of one compile call.
class Partitions {
 public:
  Partitions(const eph_partition* first, uint64_t stride, uint64_t count)
      : first_(first), stride_(stride), count_(count) {}
  [[nodiscard]] std::size_t size() const { return count_; }
  const eph_partition& operator[](std::size_t i) const {
    return *reinterpret_cast<const eph_partition*>(reinterpret_cast<const char*>(first_) +
                                                   i * stride_);
  }

 private:
  const eph_partition* first_;
  uint64_t stride_;
  uint64_t count_;
};

class ContextWriter {
 public:
  explicit ContextWriter(eph_context_writer* writer) : writer_(writer) {}

  [[nodiscard]] uint32_t begin_payload() {
    uint32_t payload = EPH_NONE;
    detail::ThrowingError error;
    error.check(writer_->api->begin_payload(writer_, &payload, &error));
    return payload;
  }
  void write(uint32_t payload, const void* data, std::size_t size) {
    detail::ThrowingError error;
    error.check(writer_->api->write(writer_, payload, data, size, &error));
  }
  void add_node(eph_context_node node) {
    node.struct_size = sizeof(node);
    detail::ThrowingError error;
    error.check(writer_->api->add_node(writer_, &node, &error));
  }

 private:
  eph_context_writer* writer_;
};

// ---- Providers --------------------------------------------------------------------------------

// Base of every provider. A derived class declares what it has: a function that it leaves out
// becomes a null slot of the table, with the meaning that plugin_abi.h gives.
class Provider {
 public:
  void get_capability(const GraphView& graph, Claims& claims);
  ArrayView<eph_kernel_def> kernels();
  std::unique_ptr<Computation> create_kernel(const GraphView& graph, uint32_t node);
  // One computation for each partition, in order.
  std::vector<std::unique_ptr<Computation>> compile(const Partitions& partitions);
  void get_ep_context_nodes(ArrayView<Computation*> computations, ContextWriter& writer);
  std::string_view compatibility();
  int32_t validate_compatibility(std::string_view text);
  const void* extension(std::string_view id);
};

namespace detail {

template <class P>
struct ProviderTable {
  static P* self(eph_provider* handle) { return reinterpret_cast<P*>(handle); }

  static int32_t get_devices(const eph_host* host, eph_device_list* list,
                             eph_error* error) noexcept {
    return guard(error, [&] {
      DeviceList wrapped(list);
      P::get_devices(Host(host), wrapped);
    });
  }
  static int32_t create(const eph_host* host, const eph_provider_config* config, eph_provider** out,
                        eph_error* error) noexcept {
    *out = nullptr;
    return guard(error, [&] {
      *out = reinterpret_cast<eph_provider*>(P::create(Host(host), Options(config)).release());
    });
  }
  static void destroy(eph_provider* handle) noexcept { delete self(handle); }

  static int32_t get_capability(eph_provider* handle, const eph_graph* graph, eph_claims* claims,
                                eph_error* error) noexcept {
    return guard(error, [&] {
      Claims wrapped(claims);
      self(handle)->get_capability(GraphView(graph), wrapped);
    });
  }
  static int32_t get_kernels(eph_provider* handle, const eph_kernel_def** out, uint64_t* out_count,
                             eph_error* error) noexcept {
    *out = nullptr;
    *out_count = 0;
    return guard(error, [&] {
      const ArrayView<eph_kernel_def> kernels = self(handle)->kernels();
      *out = kernels.data();
      *out_count = kernels.size();
    });
  }
  static int32_t create_kernel(eph_provider* handle, const eph_graph* graph, uint32_t node,
                               eph_computation** out, eph_error* error) noexcept {
    *out = nullptr;
    return guard(error,
                 [&] { *out = self(handle)->create_kernel(GraphView(graph), node).release(); });
  }
  static int32_t compile(eph_provider* handle, const eph_partition* partitions, uint64_t stride,
                         uint64_t count, eph_computation** out, eph_error* error) noexcept {
    std::fill_n(out, count, nullptr);
    return guard(error, [&] {
      auto computations = self(handle)->compile(Partitions(partitions, stride, count));
      if (computations.size() != count) {
        throw Failure(EPH_FAIL, "compile made " + std::to_string(computations.size()) +
                                    " computations of " + std::to_string(count) + " partitions");
      }
      for (uint64_t i = 0; i < count; ++i) out[i] = computations[i].release();
    });
  }
  static int32_t get_ep_context_nodes(eph_provider* handle, eph_computation* const* computations,
                                      uint64_t count, eph_context_writer* writer,
                                      eph_error* error) noexcept {
    return guard(error, [&] {
      std::vector<Computation*> own;
      for (uint64_t i = 0; i < count; ++i)
        own.push_back(static_cast<Computation*>(computations[i]));
      ContextWriter wrapped(writer);
      self(handle)->get_ep_context_nodes(ArrayView<Computation*>(own), wrapped);
    });
  }
  static int32_t get_compatibility(eph_provider* handle, eph_string* out,
                                   eph_error* error) noexcept {
    *out = {};
    return guard(error, [&] { *out = to_abi(self(handle)->compatibility()); });
  }
  static int32_t validate_compatibility(eph_provider* handle, eph_string text, int32_t* out_level,
                                        eph_error* error) noexcept {
    *out_level = EPH_COMPATIBILITY_UNSUPPORTED;
    return guard(error, [&] { *out_level = self(handle)->validate_compatibility(view(text)); });
  }
  static const void* get_extension(eph_provider* handle, eph_string id) noexcept {
    return self(handle)->extension(view(id));
  }

  static eph_provider_api make() {
    eph_provider_api api = {};
    api.struct_size = sizeof(api);
    api.type_name = to_abi(P::kTypeName);
    api.name = to_abi(P::kName);
    api.vendor = to_abi(P::kVendor);
    api.get_devices = &get_devices;
    api.create = &create;
    api.destroy = &destroy;
    if constexpr (has_capability()) api.get_capability = &get_capability;
    if constexpr (has_kernels()) {
      api.get_kernels = &get_kernels;
      api.create_kernel = &create_kernel;
    }
    if constexpr (has_compile()) api.compile = &compile;
    if constexpr (has_context()) api.get_ep_context_nodes = &get_ep_context_nodes;
    if constexpr (has_compatibility()) {
      api.get_compatibility = &get_compatibility;
      api.validate_compatibility = &validate_compatibility;
    }
    if constexpr (has_extension()) api.get_extension = &get_extension;
    return api;
  }

  // Whether P declares the function itself, and does not merely inherit it.
#define EPH_DETAIL_DECLARES(test, function)                                        \
  static constexpr bool test() {                                                   \
    return !std::is_same_v<decltype(&P::function), decltype(&Provider::function)>; \
  }
  EPH_DETAIL_DECLARES(has_capability, get_capability)
  EPH_DETAIL_DECLARES(has_kernels, kernels)
  EPH_DETAIL_DECLARES(has_compile, compile)
  EPH_DETAIL_DECLARES(has_context, get_ep_context_nodes)
  EPH_DETAIL_DECLARES(has_compatibility, compatibility)
  EPH_DETAIL_DECLARES(has_extension, extension)
#undef EPH_DETAIL_DECLARES
};

// The tables of a plugin. get_api is pure: it fills nothing that an earlier call has handed out.
template <class... Providers>
const eph_plugin_api* plugin_api(uint32_t minor) noexcept {
  static const eph_provider_api tables[] = {ProviderTable<Providers>::make()...};
  static const std::array<const eph_provider_api*, sizeof...(Providers)> pointers = [] {
    std::array<const eph_provider_api*, sizeof...(Providers)> all = {};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = &tables[i];
    return all;
  }();
  static const eph_plugin_api api = {sizeof(eph_plugin_api), pointers.data(), sizeof...(Providers)};
  return minor <= EPH_ABI_MINOR ? &api : nullptr;
}

}  // namespace detail
}  // namespace eph

// Defines the plugin's exported function. Stands once in a library, outside of any namespace.
#define EPH_DEFINE_PLUGIN(plugin_id, plugin_version, ...)                                \
  extern "C" EPH_EXPORT const eph_plugin_preamble* eph_plugin_v1(void) {                 \
    static const eph_plugin_preamble preamble = {sizeof(eph_plugin_preamble),            \
                                                 0,                                      \
                                                 EPH_ABI_MINOR,                          \
                                                 EPH_STRING(plugin_id),                  \
                                                 EPH_STRING(plugin_version),             \
                                                 EPH_BUILD_FLAGS,                        \
                                                 &eph::detail::plugin_api<__VA_ARGS__>}; \
    return &preamble;                                                                    \
  }
