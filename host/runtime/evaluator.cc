#include "host/runtime/evaluator.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "host/base/format.h"
#include "host/bridge/callback.h"
#include "host/bridge/slot_call.h"
#include "host/graph/extract.h"
#include "host/runtime/frame/run_control.h"
#include "host/runtime/memory_pool.h"
#include "host/runtime/values/composite.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {
namespace {

// One call of one computation. Each output has its own memory.
class SingleRun : public eph_run {
 public:
  SingleRun(const graph::Graph& graph, const bridge::GraphView& view,
            optimize::EvaluationLimit& limit)
      : eph_run{}, graph_(graph), node_(graph.nodes.front()), limit_(limit) {
    outputs_.resize(node_.outputs.size());
    memory_.resize(node_.outputs.size());
    strings_.resize(node_.outputs.size());
    shapes_.resize(node_.outputs.size());
    for (const graph::ValueId id : node_.inputs) {
      eph_value_info info = {};
      info.struct_size = sizeof(info);
      const bool there =
          id != graph::kNoValue && view.api->get_value(&view, id, &info, nullptr) == EPH_OK;
      input_slots_.push_back(there ? info.constant : nullptr);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      output_slots_.push_back(node_.outputs[i] == graph::kNoValue ? nullptr : &outputs_[i]);
    }
    struct_size = sizeof(eph_run);
    run_id = next_run_id();
    api = &kApi;
    inputs = input_slots_.data();
    outputs = output_slots_.data();
    input_count = static_cast<uint32_t>(input_slots_.size());
    output_count = static_cast<uint32_t>(output_slots_.size());
  }

  Status compute(const bridge::Computation& computation) {
    if (const uint64_t bytes = computation.workspace_bytes(); bytes != 0) {
      own_workspace_ = bytes > kMaxScratchBytes
                           ? nullptr
                           : allocate_aligned(bytes, computation.host_alignment());
      workspace = own_workspace_.get();
      if (workspace == nullptr) {
        return out_of_memory(bytes, "a workspace");
      }
    }
    alignment_ = computation.host_alignment();
    EPHOST_RETURN_IF_ERROR(align_inputs());
    EPHOST_RETURN_IF_ERROR(share(computation.must_share()));
    EPHOST_ASSIGN_OR_RETURN(const bridge::ComputationState state, computation.create_state());
    const auto is_over = [this] { return limit_.cancellation.is_requested(); };
    const bridge::CallLimit::Place place(computation.call_limit(), is_over);
    if (!place.has_it()) return limit_.cancellation.check();
    return bridge::call_slot(
        {computation.provider().name(), "compute", node_.op_type, node_.name},
        [&] { return "folding " + graph::describe_node(graph_, 0); }, computation.compute(),
        computation.handle(), state.get(), this);
  }

  // The outputs as constants, which take over their memory.
  Result<std::vector<graph::Tensor>> take_outputs() {
    std::vector<graph::Tensor> tensors(outputs_.size());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (output_slots_[i] == nullptr) continue;
      if (outputs_[i].data == nullptr) {
        return Status(StatusCode::kEpFail, formatted("{} gave no value to its output {}",
                                                     graph::describe_node(graph_, 0), i));
      }
      tensors[i].type = static_cast<ElementType>(outputs_[i].element_type);
      tensors[i].shape = shapes_[i];
      if (tensors[i].type == ElementType::kString) {
        tensors[i].strings =
            std::make_shared<const std::vector<std::string>>(strings_[i].strings());
        continue;
      }
      const std::shared_ptr<std::byte[]> owner(memory_[i].release(), AlignedFree());
      tensors[i].data = {{owner.get(), static_cast<size_t>(outputs_[i].byte_size)}, owner};
    }
    return tensors;
  }

 private:
  // Memory that a kernel may use besides its outputs.
  static constexpr uint64_t kMaxScratchBytes = uint64_t{1} << 30;

  static SingleRun& self(eph_run* handle) { return *static_cast<SingleRun*>(handle); }
  static const SingleRun& self(const eph_run* handle) {
    return *static_cast<const SingleRun*>(handle);
  }

  // Copies constants that lie elsewhere than the computation wants them.
  Status align_inputs() {
    if (alignment_ <= kAlignment) return Status::ok_status();
    aligned_inputs_.reserve(input_slots_.size());
    for (const eph_value*& slot : input_slots_) {
      const bool is_aligned = slot == nullptr || slot->element_type == EPH_ELEMENT_STRING ||
                              reinterpret_cast<uintptr_t>(slot->data) % alignment_ == 0;
      if (is_aligned) continue;
      AlignedMemory copy = allocate_aligned(slot->byte_size, alignment_);
      if (copy == nullptr) return out_of_memory(slot->byte_size, "an aligned copy of a constant");
      std::memcpy(copy.get(), slot->data, slot->byte_size);
      eph_value& aligned = aligned_inputs_.emplace_back(*slot);
      aligned.data = copy.get();
      slot = &aligned;
      aligned_memory_.push_back(std::move(copy));
    }
    return Status::ok_status();
  }

  // Copies constants to the outputs in which the computation changes them.
  Status share(std::span<const plan::SlotPair> pairs) {
    shared_inputs_.reserve(pairs.size());
    for (const auto& [input, output] : pairs) {
      const bool exist = input < input_slots_.size() && output < output_slots_.size() &&
                         input_slots_[input] != nullptr && output_slots_[output] != nullptr;
      if (!exist) continue;
      const eph_value& from = *input_slots_[input];
      if (from.kind != EPH_KIND_TENSOR || from.element_type == EPH_ELEMENT_STRING) continue;
      EPHOST_RETURN_IF_ERROR(
          allocate(output, static_cast<ElementType>(from.element_type), {from.shape, from.rank}));
      if (from.byte_size > 0) std::memcpy(outputs_[output].data, from.data, from.byte_size);
      eph_value& shared = shared_inputs_.emplace_back(from);
      shared.data = outputs_[output].data;
      input_slots_[input] = &shared;
    }
    return Status::ok_status();
  }

  // Counts bytes of outputs before they are allocated.
  Status take(uint64_t bytes) {
    if (bytes <= limit_.max_output_bytes - output_bytes_) {
      output_bytes_ += bytes;
      return Status::ok_status();
    }
    limit_.is_exceeded = true;
    return Status(StatusCode::kFail,
                  formatted("its outputs need more than {} bytes", limit_.max_output_bytes));
  }

  void* take_scratch(uint64_t bytes) {
    if (bytes > kMaxScratchBytes - scratch_bytes_) return nullptr;
    scratch_bytes_ += bytes;
    return scratch_.take(bytes);
  }

  Status set(uint32_t index, uint64_t element, eph_string text) {
    const bool exists = index < strings_.size() && element < strings_[index].strings().size();
    if (exists) EPHOST_RETURN_IF_ERROR(take(text.size));
    if (exists && strings_[index].set(element, text)) return Status::ok_status();
    return Status(StatusCode::kInvalidArgument, "the output has no such string element");
  }

  Status allocate(uint32_t index, ElementType type, std::span<const int64_t> shape) {
    if (index >= output_slots_.size() || output_slots_[index] == nullptr) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("output {} does not exist or is not wanted", index));
    }
    if (type == ElementType::kUndefined) {
      type = graph_.values[node_.outputs[index]].type.element;
    }
    EPHOST_ASSIGN_OR_RETURN(const uint64_t bytes, tensor_bytes(type, shape));
    EPHOST_RETURN_IF_ERROR(take(
        type == ElementType::kString ? bytes / sizeof(eph_string) * sizeof(std::string) : bytes));
    std::vector<int64_t> extents(shape.begin(), shape.end());
    shapes_[index] = std::move(extents);
    eph_value& value = outputs_[index];
    value.shape = shapes_[index].data();
    value.rank = static_cast<uint32_t>(shapes_[index].size());
    value.element_type = static_cast<int32_t>(type);
    value.kind = EPH_KIND_TENSOR;
    value.byte_size = bytes;
    if (type == ElementType::kString) {
      value.data = strings_[index].reset(static_cast<size_t>(bytes / sizeof(eph_string)));
      if (bytes == 0) value.data = empty_tensor_memory();
      return Status::ok_status();
    }
    memory_[index] = allocate_aligned(bytes, alignment_);
    value.data = memory_[index].get();
    if (value.data != nullptr) return Status::ok_status();
    return out_of_memory(bytes, "a constant");
  }

  static int32_t allocate_output(eph_run* handle, uint32_t index, int32_t element_type,
                                 const int64_t* shape, uint32_t rank, eph_error* error) noexcept {
    return bridge::run_callback(error, [&] {
      return self(handle).allocate(index, static_cast<ElementType>(element_type),
                                   {shape, shape == nullptr ? 0 : rank});
    });
  }
  static int32_t set_string(eph_run* handle, uint32_t index, uint64_t element, eph_string text,
                            eph_error* error) noexcept {
    return bridge::run_callback(error, [&] { return self(handle).set(index, element, text); });
  }
  static void* allocate_scratch(eph_run* handle, uint64_t size) noexcept {
    try {
      return self(handle).take_scratch(size);
    } catch (const std::exception&) {
      return nullptr;
    }
  }
  static int32_t is_cancelled(const eph_run* handle) noexcept {
    return self(handle).limit_.cancellation.is_requested() ? 1 : 0;
  }

  // Only nodes whose values are all tensors are folded.
  static int32_t refuse(eph_error* error) {
    return bridge::report(error, StatusCode::kNotImplemented,
                          "a constant is folded from tensors alone");
  }
  static int32_t make_tensor(eph_run*, int32_t, const int64_t*, uint32_t, eph_value** out,
                             eph_error* error) noexcept {
    *out = nullptr;
    return refuse(error);
  }
  static int32_t set_element(eph_run*, eph_value*, uint64_t, eph_string,
                             eph_error* error) noexcept {
    return refuse(error);
  }
  static int32_t make_sequence(eph_run*, const eph_value*, uint64_t, uint64_t,
                               const eph_value* const*, uint64_t, const eph_value** out,
                               eph_error* error) noexcept {
    *out = nullptr;
    return refuse(error);
  }
  static int32_t make_map(eph_run*, const eph_value*, const eph_value*, const eph_value** out,
                          eph_error* error) noexcept {
    *out = nullptr;
    return refuse(error);
  }
  static int32_t set_output(eph_run*, uint32_t, const eph_value*, eph_error* error) noexcept {
    return refuse(error);
  }

  // Providers with memories of their own evaluate nothing.
  static int32_t allocate_in(eph_run*, uint32_t memory, uint64_t, void** out,
                             eph_error* error) noexcept {
    *out = nullptr;
    return bridge::report(error, StatusCode::kInvalidArgument,
                          formatted("the provider has no memory {} on a device", memory));
  }

  static constexpr eph_run_api kApi = {sizeof(eph_run_api), &allocate_output, &set_string,
                                       &allocate_scratch,   &is_cancelled,    &make_tensor,
                                       &set_element,        &make_sequence,   &make_map,
                                       &set_output,         &allocate_in};

  const graph::Graph& graph_;
  const graph::Node& node_;
  optimize::EvaluationLimit& limit_;
  uint64_t output_bytes_ = 0;
  uint64_t scratch_bytes_ = 0;
  std::vector<const eph_value*> input_slots_;
  std::vector<eph_value*> output_slots_;
  std::vector<eph_value> outputs_;
  std::vector<AlignedMemory> memory_;
  std::vector<StringTensor> strings_;
  std::vector<std::vector<int64_t>> shapes_;
  ScratchArena scratch_;
  uint64_t alignment_ = kAlignment;
  AlignedMemory own_workspace_;
  std::vector<eph_value> aligned_inputs_;
  std::vector<eph_value> shared_inputs_;
  std::vector<AlignedMemory> aligned_memory_;
};

}  // namespace

bool KernelEvaluator::can_evaluate(const graph::Graph& graph, graph::NodeId node) const {
  const auto is_foldable = [&](graph::ValueId id) {
    return id == graph::kNoValue || !is_object(graph.values[id].type);
  };
  const graph::Node& candidate = graph.nodes[node];
  return std::ranges::all_of(candidate.inputs, is_foldable) &&
         std::ranges::all_of(candidate.outputs, is_foldable) && provider_.memories().empty() &&
         provider_.kernels().fits(graph, candidate);
}

Result<std::vector<graph::Tensor>> KernelEvaluator::evaluate(const graph::Graph& graph,
                                                             graph::NodeId node,
                                                             optimize::EvaluationLimit& limit) {
  // A separate graph keeps the view small, however large the model is.
  const std::vector<graph::NodeId> nodes = {node};
  const graph::Extraction single = graph::extract_subgraph(graph, nodes, "fold");
  const bridge::GraphView view(single.graph, model_, bridge::GraphView::Role::kWhole);
  EPHOST_ASSIGN_OR_RETURN(const bridge::Computation kernel, provider_.create_kernel(view, 0));
  SingleRun run(single.graph, view, limit);
  EPHOST_RETURN_IF_ERROR(run.compute(kernel));
  return run.take_outputs();
}

}  // namespace ephost::runtime
