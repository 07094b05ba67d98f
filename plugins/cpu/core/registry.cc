#include "plugins/cpu/core/registry.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "plugins/cpu/microsoft/operators.h"

namespace ephost_cpu {
namespace {

// One per line, so that additions merge.
// clang-format off
constexpr Table (*kTables[])() = {
    activation_kernels,
    affine_grid_kernels,
    arg_kernels,
    arithmetic_kernels,
    attention_kernels,
    batch_normalization_kernels,
    bitwise_kernels,
    cast_kernels,
    center_crop_pad_kernels,
    col2im_kernels,
    comparison_kernels,
    compress_kernels,
    concat_kernels,
    constant_kernels,
    conv_kernels,
    conv_transpose_kernels,
    cumsum_kernels,
    deform_conv_kernels,
    det_kernels,
    dft_kernels,
    dropout_kernels,
    einsum_kernels,
    expand_kernels,
    eye_like_kernels,
    gather_kernels,
    gelu_kernels,
    gemm_kernels,
    global_pool_kernels,
    grid_sample_kernels,
    instance_normalization_kernels,
    layer_normalization_kernels,
    loss_kernels,
    lrn_kernels,
    matmul_kernels,
    ml_dictionary_kernels,
    ml_encode_kernels,
    ml_feature_kernels,
    ml_linear_kernels,
    ml_svm_kernels,
    ml_tree_kernels,
    non_max_suppression_kernels,
    nonzero_kernels,
    onehot_kernels,
    optimizer_kernels,
    optional_kernels,
    pad_kernels,
    pool_kernels,
    pow_kernels,
    predicate_kernels,
    quantize_kernels,
    quantized_conv_kernels,
    quantized_matmul_kernels,
    random_kernels,
    recurrent_kernels,
    reduce_kernels,
    resize_kernels,
    reverse_sequence_kernels,
    roi_kernels,
    rotary_embedding_kernels,
    scatter_kernels,
    sequence_kernels,
    shape_kernels,
    shrink_kernels,
    signal_window_kernels,
    slice_kernels,
    softmax_kernels,
    string_kernels,
    string_normalizer_kernels,
    tensor_scatter_kernels,
    tf_idf_vectorizer_kernels,
    topk_kernels,
    transpose_kernels,
    trilu_kernels,
    unary_kernels,
    unique_kernels,
    unpool_kernels,
    variadic_kernels,
    where_kernels,
};
// clang-format on

// Calls body(entry) for the entries of all tables.
template <class Body>
void for_each_entry(const Body& body) {
  for (const auto table : kTables) {
    for (const KernelEntry& entry : table()) body(entry);
  }
  for (const auto& family : microsoft_families()) {
    for (const KernelEntry& entry : family.kernels()) body(entry);
  }
}

// Without flags, only tensors are allowed.
bool allows_kind(uint32_t flags, int32_t kind) {
  switch (kind) {
    case EPH_KIND_NONE:
      return true;  // not known
    case EPH_KIND_TENSOR:
      return (flags & kKindFlags) == 0 || (flags & EPH_RULE_TENSOR) != 0;
    case EPH_KIND_SEQUENCE:
      return (flags & EPH_RULE_SEQUENCE) != 0;
    case EPH_KIND_MAP:
      return (flags & EPH_RULE_MAP) != 0;
    case EPH_KIND_OPTIONAL:
      return (flags & EPH_RULE_OPTIONAL) != 0;
    default:
      return false;
  }
}

bool obeys(const eph_type_rule& rule, const eph::GraphView& graph, const eph::NodeView& node) {
  const bool of_output = (rule.flags & EPH_RULE_OUTPUT) != 0;
  const eph::ArrayView<uint32_t> slots = of_output ? node.outputs() : node.inputs();
  const bool variadic = (rule.flags & EPH_RULE_VARIADIC) != 0;
  for (std::size_t i = rule.slot; i < slots.size() && (variadic || i == rule.slot); ++i) {
    if (slots[i] == EPH_NONE) continue;
    const eph::ValueView value = graph.value(slots[i]);
    if (!allows_kind(rule.flags, value.kind())) return false;
    const int32_t type = value.element_type();
    if (type != EPH_ELEMENT_UNDEFINED && (widened(rule.element_types) & eph::type_bit(type)) == 0) {
      return false;
    }
  }
  return true;
}

bool fits(const KernelEntry& entry, const eph::GraphView& graph, const eph::NodeView& node) {
  if (entry.domain != node.domain()) return false;
  if (node.since_version() < entry.since || node.since_version() > entry.until) return false;
  return std::all_of(entry.rules.begin(), entry.rules.end(),
                     [&](const eph_type_rule& rule) { return obeys(rule, graph, node); });
}

using Index = std::unordered_map<std::string_view, std::vector<const KernelEntry*>>;

const Index& entries_by_operator() {
  static const Index index = [] {
    Index made;
    for_each_entry([&](const KernelEntry& entry) { made[entry.op_type].push_back(&entry); });
    return made;
  }();
  return index;
}

const KernelEntry* find_entry(const eph::GraphView& graph, const eph::NodeView& node) {
  const auto entries = entries_by_operator().find(node.op_type());
  if (entries == entries_by_operator().end()) return nullptr;
  for (const KernelEntry* entry : entries->second) {
    if (fits(*entry, graph, node)) return entry;
  }
  return nullptr;
}

void check_node(const NodeContext& context) {
  for (uint32_t i = 0; i < context.entry().inputs.required; ++i) {
    if (!context.has_input(i)) {
      throw eph::Failure(EPH_INVALID_GRAPH, "input " + std::to_string(i) + " is required");
    }
  }
}

}  // namespace

const std::vector<eph_kernel_def>& kernel_defs() {
  struct List {
    std::deque<std::vector<eph_type_rule>> rules;
    std::vector<eph_kernel_def> defs;
  };
  static const List list = [] {
    List made;
    for_each_entry([&](const KernelEntry& entry) {
      auto& rules = made.rules.emplace_back(entry.rules.begin(), entry.rules.end());
      for (eph_type_rule& rule : rules) rule.element_types = widened(rule.element_types);
      made.defs.push_back({eph::to_abi(entry.op_type), eph::to_abi(entry.domain), entry.since,
                           entry.until, rules.data(), rules.size()});
    });
    return made;
  }();
  return list.defs;
}

const KernelEntry& onnx_entry(std::string_view op_type, int32_t version) {
  for (const KernelEntry* entry : entries_by_operator().at(op_type)) {
    if (entry->domain.empty() && entry->since <= version && version <= entry->until) return *entry;
  }
  throw eph::Failure(EPH_FAIL, "there is no kernel of " + std::string(op_type));
}

std::string why_refused(const eph::GraphView& graph, uint32_t index, const Settings& settings) {
  const eph::NodeView node = graph.node(index);
  // No kernel of ai.onnx refuses a node, so that most nodes need no lookup.
  if (node.domain() != kMicrosoft) return {};
  const KernelEntry* entry = find_entry(graph, node);
  if (entry == nullptr) return {};
  try {
    return microsoft_refusal(NodeContext(graph, index, *entry, settings));
  } catch (const eph::Failure& failure) {
    return failure.what();  // an attribute of a wrong kind
  }
}

std::unique_ptr<Kernel> create_kernel(const eph::GraphView& graph, uint32_t index,
                                      const Settings& settings) {
  const eph::NodeView node = graph.node(index);
  const KernelEntry* entry = find_entry(graph, node);
  if (entry == nullptr) {
    fail_unsupported(std::string(node.op_type()) + " node '" + std::string(node.name()) +
                     "': no kernel for version " + std::to_string(node.since_version()) +
                     " with these element types");
  }
  NodeContext context(graph, index, *entry, settings);
  const ThreadScope scope(settings.threads);
  try {
    check_node(context);
    if (const std::string reason = microsoft_refusal(context); !reason.empty()) {
      fail_unsupported(reason);
    }
    std::unique_ptr<Kernel> kernel = entry->create(context);
    kernel->keep(context.take_widened_constants());
    return kernel;
  } catch (const eph::Failure& failure) {
    throw eph::Failure(failure.code(), with_label(context.label(), failure.what()));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& exception) {
    throw eph::Failure(EPH_FAIL, with_label(context.label(), exception.what()));
  }
}

}  // namespace ephost_cpu
