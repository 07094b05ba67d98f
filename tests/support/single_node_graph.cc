#include "tests/support/single_node_graph.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "tests/support/fill_record.h"

namespace ephost::test {
namespace {

std::vector<eph_string> views_of(const std::vector<std::string>& texts) {
  std::vector<eph_string> views;
  for (const std::string& text : texts) views.push_back(eph::to_abi(text));
  return views;
}

// `texts` are the views of the tensor's strings.
eph_value as_value(const Tensor& tensor, const std::vector<eph_string>& texts) {
  const bool holds_strings = tensor.type == EPH_ELEMENT_STRING;
  const void* data = holds_strings ? static_cast<const void*>(texts.data()) : tensor.bytes.data();
  eph_value value = {};
  value.data = const_cast<void*>(data);
  value.shape = tensor.shape.data();
  value.byte_size = holds_strings ? texts.size() * sizeof(eph_string) : tensor.bytes.size();
  value.rank = static_cast<uint32_t>(tensor.shape.size());
  value.element_type = tensor.type;
  value.kind = EPH_KIND_TENSOR;
  return value;
}

std::size_t element_bytes(int32_t type) {
  switch (type) {
    case EPH_ELEMENT_INT8:
    case EPH_ELEMENT_UINT8:
    case EPH_ELEMENT_BOOL:
    case EPH_ELEMENT_FLOAT8E4M3FN:
    case EPH_ELEMENT_FLOAT8E4M3FNUZ:
    case EPH_ELEMENT_FLOAT8E5M2:
    case EPH_ELEMENT_FLOAT8E5M2FNUZ:
    case EPH_ELEMENT_FLOAT8E8M0:
      return 1;
    case EPH_ELEMENT_INT16:
    case EPH_ELEMENT_UINT16:
    case EPH_ELEMENT_FLOAT16:
    case EPH_ELEMENT_BFLOAT16:
      return 2;
    case EPH_ELEMENT_FLOAT:
    case EPH_ELEMENT_INT32:
    case EPH_ELEMENT_UINT32:
      return 4;
    case EPH_ELEMENT_COMPLEX128:
      return 16;
    default:
      return 8;
  }
}

// The functions of eph_run_api that make values all refuse: there are only tensors.
int32_t refuse_make_tensor(eph_run*, int32_t, const int64_t*, uint32_t, eph_value** out,
                           eph_error*) noexcept {
  *out = nullptr;
  return EPH_NOT_IMPLEMENTED;
}
int32_t refuse_set_element(eph_run*, eph_value*, uint64_t, eph_string, eph_error*) noexcept {
  return EPH_NOT_IMPLEMENTED;
}
int32_t refuse_make_sequence(eph_run*, const eph_value*, uint64_t, uint64_t,
                             const eph_value* const*, uint64_t, const eph_value** out,
                             eph_error*) noexcept {
  *out = nullptr;
  return EPH_NOT_IMPLEMENTED;
}
int32_t refuse_make_map(eph_run*, const eph_value*, const eph_value*, const eph_value** out,
                        eph_error*) noexcept {
  *out = nullptr;
  return EPH_NOT_IMPLEMENTED;
}
int32_t refuse_set_output(eph_run*, uint32_t, const eph_value*, eph_error*) noexcept {
  return EPH_NOT_IMPLEMENTED;
}

// One call of compute: tensors bound, everything it writes to filled with garbage before.
class SingleRun : public eph_run {
 public:
  SingleRun(const SingleNodeGraph& graph, uint64_t workspace_bytes,
            std::optional<eph_slot_pair> shared);

  std::vector<Tensor> take_outputs() { return {outputs_.begin(), outputs_.end()}; }
  [[nodiscard]] uint64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  static SingleRun& self(eph_run* run) { return *static_cast<SingleRun*>(run); }
  static int32_t allocate_output(eph_run* run, uint32_t index, int32_t type, const int64_t* shape,
                                 uint32_t rank, eph_error* error) noexcept;
  static int32_t set_string(eph_run* run, uint32_t index, uint64_t element, eph_string text,
                            eph_error* error) noexcept;
  static void* allocate_scratch(eph_run* run, uint64_t size) noexcept;
  static int32_t is_cancelled(const eph_run*) noexcept { return 0; }
  static const eph_run_api kApi;

  void prepare(std::size_t output, int32_t type, Shape shape);

  static constexpr char kGarbage = '\x7e';

  std::deque<std::vector<eph_string>> texts_;
  std::deque<eph_value> input_values_, output_values_;
  std::vector<const eph_value*> input_pointers_;
  std::vector<eph_value*> output_pointers_;
  std::vector<Tensor> outputs_;
  std::optional<eph_slot_pair> shared_;
  std::vector<char> shared_bytes_;  // the input's, and afterwards the output's
  AlignedBytes workspace_;
  std::vector<AlignedBytes> scratch_;
  uint64_t scratch_bytes_ = 0;

 public:
  // The shared memory is the output's; copies it into the tensor.
  void finish();
};

const eph_run_api SingleRun::kApi = {sizeof(eph_run_api),      &SingleRun::allocate_output,
                                     &SingleRun::set_string,   &SingleRun::allocate_scratch,
                                     &SingleRun::is_cancelled, &refuse_make_tensor,
                                     &refuse_set_element,      &refuse_make_sequence,
                                     &refuse_make_map,         &refuse_set_output};

SingleRun::SingleRun(const SingleNodeGraph& graph, uint64_t workspace_bytes,
                     std::optional<eph_slot_pair> shared)
    : shared_(shared), workspace_(workspace_bytes) {
  if (workspace_bytes > 0) std::memset(workspace_.data(), kGarbage, workspace_bytes);
  for (std::size_t i = 0; i < graph.input_count(); ++i) {
    const Tensor* tensor = graph.input_tensor(i);
    input_pointers_.push_back(nullptr);
    if (tensor == nullptr) continue;
    texts_.push_back(views_of(tensor->strings));
    input_values_.push_back(as_value(*tensor, texts_.back()));
    input_pointers_.back() = &input_values_.back();
    if (shared && shared->input == i) {
      shared_bytes_ = tensor->bytes;
      input_values_.back().data = shared_bytes_.data();
    }
  }
  outputs_.resize(graph.output_count());
  for (std::size_t i = 0; i < graph.output_count(); ++i) {
    output_values_.emplace_back();
    output_values_.back().kind = EPH_KIND_TENSOR;
    output_pointers_.push_back(graph.is_wanted(i) ? &output_values_.back() : nullptr);
    const Tensor* stated = graph.stated_output(i);
    if (graph.is_wanted(i) && stated != nullptr) prepare(i, stated->type, stated->shape);
  }
  struct_size = sizeof(eph_run);
  api = &kApi;
  inputs = input_pointers_.data();
  outputs = output_pointers_.data();
  input_count = static_cast<uint32_t>(input_pointers_.size());
  output_count = static_cast<uint32_t>(output_pointers_.size());
  workspace = workspace_bytes == 0 ? nullptr : workspace_.data();
}

void SingleRun::prepare(std::size_t output, int32_t type, Shape shape) {
  Tensor& tensor = outputs_[output];
  tensor.type = type;
  tensor.shape = std::move(shape);
  const std::size_t count = element_count(tensor.shape);
  if (type == EPH_ELEMENT_STRING) {
    tensor.strings.assign(count, "garbage");
  } else {
    tensor.bytes.assign(storage_bytes(type, count), kGarbage);
  }
  // A reserve, so that there is an address even where there are no elements.
  tensor.bytes.reserve(1);
  eph_value& value = output_values_[output];
  value = as_value(tensor, {});
  value.data = tensor.bytes.data();
  if (shared_ && shared_->output == output && shared_bytes_.size() == tensor.bytes.size()) {
    value.data = shared_bytes_.data();
  }
}

// What kernels get, so that senseless sizes do not take the machine's memory.
constexpr uint64_t kMaxBytes = uint64_t{1} << 28;

// An element is 16 bytes at most.
bool is_affordable(const Shape& shape) {
  uint64_t bytes = 16;
  for (const int64_t extent : shape) {
    if (extent == 0) return true;
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes) ||
        bytes > kMaxBytes) {
      return std::find(shape.begin(), shape.end(), 0) != shape.end();
    }
  }
  return true;
}

int32_t SingleRun::allocate_output(eph_run* run, uint32_t index, int32_t type, const int64_t* shape,
                                   uint32_t rank, eph_error* error) noexcept {
  SingleRun& own = self(run);
  if (index >= own.outputs_.size()) return EPH_INVALID_ARGUMENT;
  const Tensor& known = own.outputs_[index];
  const Shape wanted(shape, shape + rank);
  if (known.type != EPH_ELEMENT_UNDEFINED && (known.shape != wanted || known.type != type)) {
    error->api->set_message(error, EPH_STRING("the model declares another type or shape"));
    return EPH_INVALID_GRAPH;
  }
  if (!is_affordable(wanted)) {
    error->api->set_message(error, EPH_STRING("more memory than a test has"));
    return EPH_FAIL;
  }
  own.prepare(index, type, wanted);
  return EPH_OK;
}

int32_t SingleRun::set_string(eph_run* run, uint32_t index, uint64_t element, eph_string text,
                              eph_error*) noexcept {
  self(run).outputs_.at(index).strings.at(element) = eph::view(text);
  return EPH_OK;
}

void* SingleRun::allocate_scratch(eph_run* run, uint64_t size) noexcept {
  SingleRun& own = self(run);
  if (size > kMaxBytes) return nullptr;
  own.scratch_.emplace_back(static_cast<std::size_t>(size));
  std::memset(own.scratch_.back().data(), kGarbage, own.scratch_.back().size());
  own.scratch_bytes_ += size;
  return own.scratch_.back().data();
}

void SingleRun::finish() {
  if (!shared_ || shared_->output >= outputs_.size()) return;
  Tensor& output = outputs_[shared_->output];
  if (output_values_[shared_->output].data == shared_bytes_.data()) output.bytes = shared_bytes_;
}

}  // namespace

std::size_t storage_bytes(int32_t type, std::size_t count) {
  switch (type) {
    case EPH_ELEMENT_UINT4:
    case EPH_ELEMENT_INT4:
    case EPH_ELEMENT_FLOAT4E2M1:
      return (count + 1) / 2;
    case EPH_ELEMENT_UINT2:
    case EPH_ELEMENT_INT2:
      return (count + 3) / 4;
    default:
      return count * element_bytes(type);
  }
}

Tensor bools(Shape shape, const std::vector<int>& values) {
  Tensor made = {EPH_ELEMENT_BOOL, std::move(shape), {}, {}};
  for (const int value : values) made.bytes.push_back(static_cast<char>(value));
  return made;
}

Tensor strings(Shape shape, std::vector<std::string> values) {
  return {EPH_ELEMENT_STRING, std::move(shape), {}, std::move(values)};
}

// ---- SingleNodeGraph --------------------------------------------------------------------------

const eph_graph_api SingleNodeGraph::kApi = {
    sizeof(eph_graph_api), &get_graph, &get_node, &get_value, &find_value, &get_opset, &get_onnx};

SingleNodeGraph::SingleNodeGraph(std::string op_type, int32_t since_version)
    : eph_graph{&kApi}, op_type_(std::move(op_type)), since_version_(since_version) {}

uint32_t SingleNodeGraph::add(NodeValue value) {
  NodeValue& kept = values_.emplace_back(std::move(value));
  kept.texts = views_of(kept.tensor.strings);
  kept.constant = as_value(kept.tensor, kept.texts);
  return static_cast<uint32_t>(values_.size() - 1);
}

SingleNodeGraph& SingleNodeGraph::input(Tensor value) {
  inputs_.push_back(add({std::move(value), false, true, {}, {}}));
  return *this;
}
SingleNodeGraph& SingleNodeGraph::constant(Tensor value) {
  inputs_.push_back(add({std::move(value), true, true, {}, {}}));
  return *this;
}
SingleNodeGraph& SingleNodeGraph::skip_input() {
  inputs_.push_back(EPH_NONE);
  return *this;
}
SingleNodeGraph& SingleNodeGraph::output() {
  outputs_.push_back(add({}));
  return *this;
}
SingleNodeGraph& SingleNodeGraph::output(const Tensor& like) {
  outputs_.push_back(add({{like.type, like.shape, {}, {}}, false, true, {}, {}}));
  return *this;
}
SingleNodeGraph& SingleNodeGraph::skip_output() {
  outputs_.push_back(EPH_NONE);
  return *this;
}
SingleNodeGraph& SingleNodeGraph::state(Stated stated) {
  stated_ = stated;
  return *this;
}

SingleNodeGraph& SingleNodeGraph::domain(std::string name) {
  domain_ = std::move(name);
  return *this;
}

SingleNodeGraph& SingleNodeGraph::attribute(const std::string& name, NodeAttribute value) {
  Attribute& kept = attributes_.emplace_back(Attribute{name, std::move(value), {}, {}});
  eph_attribute view = {eph::to_abi(kept.name), nullptr, 1, 0, 0};
  if (const auto* number = std::get_if<int64_t>(&kept.value)) {
    view.values = number;
    view.kind = EPH_ATTRIBUTE_INT;
  } else if (const auto* real = std::get_if<float>(&kept.value)) {
    view.values = real;
    view.kind = EPH_ATTRIBUTE_FLOAT;
  } else if (const auto* text = std::get_if<std::string>(&kept.value)) {
    kept.texts = {eph::to_abi(*text)};
    view.values = kept.texts.data();
    view.kind = EPH_ATTRIBUTE_STRING;
  } else if (const auto* numbers = std::get_if<std::vector<int64_t>>(&kept.value)) {
    view.values = numbers->data();
    view.count = numbers->size();
    view.kind = EPH_ATTRIBUTE_INTS;
  } else if (const auto* reals = std::get_if<std::vector<float>>(&kept.value)) {
    view.values = reals->data();
    view.count = reals->size();
    view.kind = EPH_ATTRIBUTE_FLOATS;
  } else if (const auto* list = std::get_if<std::vector<std::string>>(&kept.value)) {
    kept.texts = views_of(*list);
    view.values = kept.texts.data();
    view.count = kept.texts.size();
    view.kind = EPH_ATTRIBUTE_STRINGS;
  } else if (const auto* held = std::get_if<Tensor>(&kept.value)) {
    kept.texts = views_of(held->strings);
    kept.tensor = as_value(*held, kept.texts);
    view.values = &kept.tensor;
    view.kind = EPH_ATTRIBUTE_TENSOR;
  }
  attribute_views_.push_back(view);
  return *this;
}

const Tensor* SingleNodeGraph::input_tensor(std::size_t i) const {
  return inputs_[i] == EPH_NONE ? nullptr : &values_[inputs_[i]].tensor;
}

const Tensor* SingleNodeGraph::stated_output(std::size_t i) const {
  if (outputs_[i] == EPH_NONE || stated_ != Stated::kTypesAndShapes) return nullptr;
  const NodeValue& value = values_[outputs_[i]];
  return value.is_stated ? &value.tensor : nullptr;
}

int32_t SingleNodeGraph::get_graph(const eph_graph* graph, eph_graph_info* out,
                                   eph_error* error) noexcept {
  const SingleNodeGraph& own = self(graph);
  eph_graph_info info = {};
  info.node_count = 1;
  info.value_count = own.values_.size();
  return fill_record(info, out, error);
}

int32_t SingleNodeGraph::get_node(const eph_graph* graph, uint32_t index, eph_node_info* out,
                                  eph_error* error) noexcept {
  const SingleNodeGraph& own = self(graph);
  if (index != 0) return refuse(error, EPH_INVALID_ARGUMENT, "no such node");
  eph_node_info info = {};
  info.name = EPH_STRING("tested");
  info.op_type = eph::to_abi(own.op_type_);
  info.domain = eph::to_abi(own.domain_);
  info.since_version = own.since_version_;
  info.inputs = own.inputs_.data();
  info.input_count = own.inputs_.size();
  info.outputs = own.outputs_.data();
  info.output_count = own.outputs_.size();
  info.attributes = own.attribute_views_.data();
  info.attribute_count = own.attribute_views_.size();
  return fill_record(info, out, error);
}

int32_t SingleNodeGraph::get_value(const eph_graph* graph, uint32_t index, eph_value_info* out,
                                   eph_error* error) noexcept {
  const SingleNodeGraph& own = self(graph);
  if (index >= own.values_.size()) return refuse(error, EPH_INVALID_ARGUMENT, "no such value");
  const NodeValue& value = own.values_[index];
  eph_value_info info = {};
  info.name = EPH_STRING("value");
  info.kind = EPH_KIND_NONE;
  info.rank = -1;
  info.producer = EPH_NONE;
  const bool states_all = value.is_constant || own.stated_ == Stated::kTypesAndShapes;
  if (value.is_stated && (states_all || own.stated_ == Stated::kTypes)) {
    info.kind = EPH_KIND_TENSOR;
    info.element_type = value.tensor.type;
  }
  if (value.is_stated && states_all) {
    info.rank = static_cast<int32_t>(value.tensor.shape.size());
    info.shape = value.tensor.shape.data();
  }
  if (value.is_constant) {
    info.constant = &(own.records_[index] = value.constant);
  }
  return fill_record(info, out, error);
}

// Values of this graph have no names.
int32_t SingleNodeGraph::find_value(const eph_graph*, eph_string, uint32_t* out_value,
                                    eph_error* error) noexcept {
  *out_value = EPH_NONE;
  return refuse(error, EPH_NOT_FOUND, "the values of this graph have no names");
}

// ---- Sessions ---------------------------------------------------------------------------------

KernelSession::KernelSession(eph_computation* computation, const SingleNodeGraph& graph, bool owns)
    : computation_(computation), graph_(graph), owns_(owns) {
  FakeError error;
  info_.struct_size = sizeof(info_);
  const eph_computation_api& api = *computation_->api;
  if (api.describe != nullptr) api.describe(computation_, &info_, &error);
  if (api.create_state != nullptr) api.create_state(computation_, &state_, &error);
}

KernelSession::~KernelSession() {
  if (computation_->api->release_state != nullptr) {
    computation_->api->release_state(computation_, state_);
  }
  if (owns_) computation_->api->destroy(computation_);
}

Outcome KernelSession::run(std::optional<eph_slot_pair> shared) {
  if (info_.workspace_bytes > kMaxBytes) return {EPH_FAIL, "more memory than a test has", {}};
  SingleRun run(graph_, info_.workspace_bytes, shared);
  FakeError error;
  Outcome outcome;
  outcome.code = computation_->api->compute(computation_, state_, &run, &error);
  outcome.message = error.message;
  scratch_bytes_ = run.scratch_bytes();
  run.finish();
  if (outcome.ok()) outcome.outputs = run.take_outputs();
  return outcome;
}

PluginSession::PluginSession(const std::string& library, std::map<std::string, int64_t> options) {
  library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<eph_plugin_v1_function>(dlsym(library_, EPH_PLUGIN_SYMBOL));
  if (entry == nullptr) throw std::runtime_error(library + " exports no plugin");
  api_ = test::get_api(entry())->providers[0];
  std::vector<eph_option> list;
  for (const auto& [name, value] : options) {
    eph_option option = {};
    option.name = eph::to_abi(name);
    option.int_value = value;
    option.kind = EPH_OPTION_INT;
    list.push_back(option);
  }
  const eph_provider_config config = {sizeof(config), list.data(), list.size()};
  FakeError error;
  if (api_->create(api_, &host_, &config, &provider_, &error) != EPH_OK) {
    dlclose(library_);
    throw std::runtime_error(error.message);
  }
}

PluginSession::~PluginSession() {
  api_->destroy(provider_);
  dlclose(library_);
}

std::unique_ptr<KernelSession> PluginSession::create(const SingleNodeGraph& graph,
                                                     Outcome* outcome) {
  FakeError error;
  eph_computation* computation = nullptr;
  *outcome = {};
  outcome->code = api_->create_kernel(provider_, &graph, 0, &computation, &error);
  outcome->message = error.message;
  graph.take_records_back();
  if (!outcome->ok()) return nullptr;
  return std::make_unique<KernelSession>(computation, graph);
}

Outcome PluginSession::run(const SingleNodeGraph& graph) {
  Outcome outcome;
  const std::unique_ptr<KernelSession> kernel = create(graph, &outcome);
  return kernel != nullptr ? kernel->run() : outcome;
}

}  // namespace ephost::test
