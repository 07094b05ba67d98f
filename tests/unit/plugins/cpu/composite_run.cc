#include "tests/unit/plugins/cpu/composite_run.h"

#include <deque>

namespace ephost::test {
namespace {

// A value with the data that its view points to.
struct Stored {
  Composite value;
  std::vector<std::vector<eph_string>> texts;
  std::vector<eph_value> parts;
  int64_t count = 0;
  eph_value view = {};

  void bind() {
    texts.assign(value.tensors.size(), {});
    parts.clear();
    for (std::size_t i = 0; i < value.tensors.size(); ++i) {
      Tensor& tensor = value.tensors[i];
      tensor.bytes.reserve(1);  // an address even where there are no elements
      for (const std::string& text : tensor.strings) texts[i].push_back(eph::to_abi(text));
      eph_value part = {};
      const bool holds_strings = tensor.type == EPH_ELEMENT_STRING;
      part.data = holds_strings ? static_cast<void*>(texts[i].data()) : tensor.bytes.data();
      part.byte_size = holds_strings ? texts[i].size() * sizeof(eph_string) : tensor.bytes.size();
      part.shape = tensor.shape.data();
      part.rank = static_cast<uint32_t>(tensor.shape.size());
      part.element_type = tensor.type;
      part.kind = EPH_KIND_TENSOR;
      parts.push_back(part);
    }
    if (value.kind == EPH_KIND_TENSOR) {
      view = parts[0];
      return;
    }
    count = static_cast<int64_t>(parts.size());
    view = {};
    view.data = value.kind == EPH_KIND_NONE ? this : static_cast<void*>(parts.data());
    view.kind = value.kind;
    if (value.kind == EPH_KIND_NONE) return;
    view.byte_size = parts.size() * sizeof(eph_value);
    view.shape = &count;
    view.rank = 1;
    view.element_type = parts.empty() ? int32_t{EPH_ELEMENT_UNDEFINED} : parts[0].element_type;
  }
};

Tensor read_tensor(const eph_value& value) {
  Tensor tensor = {value.element_type, Shape(value.shape, value.shape + value.rank), {}, {}};
  if (value.element_type == EPH_ELEMENT_STRING) {
    const auto* texts = static_cast<const eph_string*>(value.data);
    for (uint64_t i = 0; i < value.byte_size / sizeof(eph_string); ++i) {
      tensor.strings.emplace_back(eph::view(texts[i]));
    }
  } else {
    const auto* bytes = static_cast<const char*>(value.data);
    tensor.bytes.assign(bytes, bytes + value.byte_size);
  }
  return tensor;
}

Composite read(const eph_value& value) {
  if (value.kind == EPH_KIND_TENSOR) return one(read_tensor(value));
  Composite composite = {value.kind, {}};
  const auto* parts = static_cast<const eph_value*>(value.data);
  for (uint64_t i = 0; i < value.byte_size / sizeof(eph_value); ++i) {
    composite.tensors.push_back(read_tensor(parts[i]));
  }
  return composite;
}

class CompositeRun : public eph_run {
 public:
  explicit CompositeRun(const std::vector<std::optional<Composite>>& given) {
    for (const auto& input : given) {
      input_pointers_.push_back(input ? &store(*input).view : nullptr);
    }
    struct_size = sizeof(eph_run);
    api = &kApi;
    inputs = input_pointers_.data();
    outputs = &output_pointer_;
    input_count = static_cast<uint32_t>(input_pointers_.size());
    output_count = 1;
    workspace = nullptr;
    output_.view.kind = EPH_KIND_TENSOR;
  }

  [[nodiscard]] Composite output() const { return set_ ? *set_ : read(output_.view); }

 private:
  static CompositeRun& self(eph_run* run) { return *static_cast<CompositeRun*>(run); }

  Stored& store(Composite value) {
    Stored& stored = stored_.emplace_back();
    stored.value = std::move(value);
    stored.bind();
    return stored;
  }

  static Tensor garbage(int32_t type, const int64_t* shape, uint32_t rank) {
    Tensor tensor = {type, Shape(shape, shape + rank), {}, {}};
    const auto count = static_cast<std::size_t>(count_of(tensor.shape));
    if (type == EPH_ELEMENT_STRING) {
      tensor.strings.assign(count, "");
    } else {
      tensor.bytes.assign(storage_bytes(type, count), '\x7e');
    }
    return tensor;
  }

  static int32_t allocate_output(eph_run* run, uint32_t, int32_t type, const int64_t* shape,
                                 uint32_t rank, eph_error*) noexcept {
    self(run).output_.value = one(garbage(type, shape, rank));
    self(run).output_.bind();
    return EPH_OK;
  }
  static int32_t set_string(eph_run* run, uint32_t, uint64_t element, eph_string text,
                            eph_error*) noexcept {
    set_text(self(run).output_, element, text);
    return EPH_OK;
  }
  static void* allocate_scratch(eph_run*, uint64_t) noexcept { return nullptr; }
  static int32_t is_cancelled(const eph_run*) noexcept { return 0; }

  static int32_t make_tensor(eph_run* run, int32_t type, const int64_t* shape, uint32_t rank,
                             eph_value** out, eph_error*) noexcept {
    *out = &self(run).store(one(garbage(type, shape, rank))).view;
    return EPH_OK;
  }
  static int32_t set_element(eph_run* run, eph_value* tensor, uint64_t element, eph_string text,
                             eph_error*) noexcept {
    for (Stored& stored : self(run).stored_) {
      if (&stored.view == tensor) set_text(stored, element, text);
    }
    return EPH_OK;
  }
  static void set_text(Stored& stored, uint64_t element, eph_string text) {
    stored.value.tensors[0].strings.at(element) = eph::view(text);
    stored.bind();
  }
  static int32_t make_sequence(eph_run* run, const eph_value* base, uint64_t position,
                               uint64_t removed, const eph_value* const* inserted, uint64_t count,
                               const eph_value** out, eph_error*) noexcept {
    std::vector<Tensor> tensors = base != nullptr ? read(*base).tensors : std::vector<Tensor>();
    const auto at = tensors.begin() + static_cast<std::ptrdiff_t>(position);
    const auto next = tensors.erase(at, at + static_cast<std::ptrdiff_t>(removed));
    std::vector<Tensor> added;
    for (uint64_t i = 0; i < count; ++i) added.push_back(read_tensor(*inserted[i]));
    tensors.insert(next, added.begin(), added.end());
    *out = &self(run).store(sequence(std::move(tensors))).view;
    return EPH_OK;
  }
  static int32_t make_map(eph_run*, const eph_value*, const eph_value*, const eph_value**,
                          eph_error*) noexcept {
    return EPH_NOT_IMPLEMENTED;
  }
  static int32_t set_output(eph_run* run, uint32_t, const eph_value* value, eph_error*) noexcept {
    self(run).set_ = value != nullptr ? read(*value) : Composite();
    return EPH_OK;
  }

  static constexpr eph_run_api kApi = {
      sizeof(eph_run_api), &allocate_output, &set_string,    &allocate_scratch, &is_cancelled,
      &make_tensor,        &set_element,     &make_sequence, &make_map,         &set_output};

  std::deque<Stored> stored_;
  std::vector<const eph_value*> input_pointers_;
  Stored output_;
  std::optional<Composite> set_;
  eph_value* output_pointer_ = &output_.view;
};

}  // namespace

CompositeOutcome run_composite(const std::string& op_type, int32_t since_version,
                               const std::vector<std::optional<Composite>>& inputs,
                               const Attributes& attributes) {
  SingleNodeGraph graph(op_type, since_version);
  graph.state(Stated::kNothing);
  for (const auto& input : inputs) {
    if (input) {
      graph.input({});  // its type is known only in the run
    } else {
      graph.skip_input();
    }
  }
  graph.output();
  for (const auto& [name, value] : attributes) graph.attribute(name, value);

  PluginSession& session = cpu_session();
  FakeError error;
  eph_computation* computation = nullptr;
  CompositeOutcome outcome;
  outcome.code = session.api().create_kernel(session.provider(), &graph, 0, &computation, &error);
  if (outcome.code == EPH_OK) {
    CompositeRun run(inputs);
    outcome.code = computation->api->compute(computation, nullptr, &run, &error);
    if (outcome.code == EPH_OK) outcome.output = run.output();
    computation->api->destroy(computation);
  }
  outcome.message = error.message;
  return outcome;
}

}  // namespace ephost::test
