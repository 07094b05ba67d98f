#include "host/worker/program/collectors.h"

#include <exception>
#include <string>

#include "host/base/format.h"
#include "host/worker/protocol/serialized.h"

namespace ephost::worker {
namespace {

Status from(const wire::Answer& answer) {
  if (answer.code() == EPH_OK) return {};
  return Status(static_cast<StatusCode>(answer.code()), answer.message());
}

}  // namespace

ClaimCollector::ClaimCollector(CallState& call, std::string_view provider, uint64_t node_count,
                               wire::Answer& answer)
    : eph_claims{nullptr},
      call_(call),
      provider_(provider),
      node_count_(node_count),
      answer_(answer) {
  static constexpr eph_claims_api kApi = {sizeof(kApi), &ClaimCollector::claim_node,
                                          &ClaimCollector::claim_fused, &ClaimCollector::has_kernel,
                                          &ClaimCollector::decline};
  api = &kApi;
}

int32_t ClaimCollector::claim_node(eph_claims* handle, uint32_t node, eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    static_cast<ClaimCollector&>(*handle).answer_.add_claims()->set_node(node);
    return {};
  });
}

int32_t ClaimCollector::claim_fused(eph_claims* handle, const eph_fused_claim* claim,
                                    eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    auto& self = static_cast<ClaimCollector&>(*handle);
    const plugin::CallSite site{self.provider_, "claim_fused"};
    EPHOST_ASSIGN_OR_RETURN(const auto adopted, plugin::adopt<eph_fused_claim>(claim, site));
    EPHOST_ASSIGN_OR_RETURN(auto nodes, plugin::adopt_array(adopted.nodes, adopted.node_count,
                                                            UINT64_MAX, site, "nodes"));
    nodes = nodes.first(std::min(nodes.size(), static_cast<size_t>(self.node_count_) + 1));
    wire::Claim& added = *self.answer_.add_claims();
    added.set_kind(wire::Claim::FUSED);
    added.set_text(copy(adopted.name));
    added.mutable_nodes()->Add(nodes.data(), nodes.data() + nodes.size());
    added.set_flags(adopted.flags);
    added.set_token(adopted.token);
    return {};
  });
}

int32_t ClaimCollector::has_kernel(eph_claims* handle, uint32_t node) noexcept {
  auto& self = static_cast<ClaimCollector&>(*handle);
  (void)run_slot(nullptr, [&]() -> Status {  // the host is gone: there is none
    std::call_once(self.has_asked_, [&] {
      wire::Callback callback;
      callback.set_asked(wire::CLAIMS_HAS_KERNEL);
      Result<wire::Answer> answer = ask(self.call_.channel(), callback);
      if (answer.ok()) self.has_kernel_ = std::move(*answer->mutable_text());
    });
    return {};
  });
  return node < self.has_kernel_.size() && self.has_kernel_[node] != 0 ? 1 : 0;
}

void ClaimCollector::decline(eph_claims* handle, uint32_t node, eph_string reason) noexcept {
  (void)run_slot(nullptr, [&]() -> Status {  // out of memory: the reason is lost
    wire::Claim& added = *static_cast<ClaimCollector&>(*handle).answer_.add_claims();
    added.set_kind(wire::Claim::DECLINED);
    added.set_node(node);
    added.set_text(copy(reason));
    return {};
  });
}

NameCollector::NameCollector(std::string_view, wire::Answer& answer)
    : eph_name_list{nullptr}, answer_(answer) {
  static constexpr eph_name_list_api kApi = {sizeof(kApi), &NameCollector::add};
  api = &kApi;
}

int32_t NameCollector::add(eph_name_list* handle, eph_string name, eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    static_cast<NameCollector&>(*handle).answer_.add_names(copy(name));
    return {};
  });
}

WishCollector::WishCollector(std::string_view, wire::Answer& answer)
    : eph_shape_wishes{nullptr}, answer_(answer) {
  static constexpr eph_shape_wishes_api kApi = {sizeof(kApi), &WishCollector::add};
  api = &kApi;
}

int32_t WishCollector::add(eph_shape_wishes* handle, const uint32_t* nodes, uint64_t node_count,
                           const eph_string* symbols, uint64_t symbol_count,
                           eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    if ((nodes == nullptr && node_count != 0) || (symbols == nullptr && symbol_count != 0)) {
      return Status(StatusCode::kInvalidArgument, "add: an array is null");
    }
    wire::Wish& added = *static_cast<WishCollector&>(*handle).answer_.add_wishes();
    added.mutable_nodes()->Add(nodes, nodes + node_count);
    for (uint64_t i = 0; i < symbol_count; ++i) added.add_symbols(copy(symbols[i]));
    return {};
  });
}

ServedWriter::ServedWriter(std::string_view provider, WorkerChannel& channel)
    : eph_context_writer{nullptr}, provider_(provider), channel_(channel) {
  static constexpr eph_context_writer_api kApi = {sizeof(kApi), &ServedWriter::begin_payload,
                                                  &ServedWriter::write_payload,
                                                  &ServedWriter::add_node};
  api = &kApi;
}

int32_t ServedWriter::begin_payload(eph_context_writer* handle, eph_string compatibility,
                                    uint32_t* out_payload, eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    wire::Callback callback;
    callback.set_asked(wire::WRITER_BEGIN_PAYLOAD);
    callback.set_text(copy(compatibility));
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                            ask(static_cast<ServedWriter&>(*handle).channel_, callback));
    *out_payload = answer.number();
    return from(answer);
  });
}

int32_t ServedWriter::write_payload(eph_context_writer* handle, uint32_t payload, const void* data,
                                    uint64_t size, eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    const auto* bytes = static_cast<const char*>(data);
    do {
      const uint64_t piece = std::min<uint64_t>(size, kContentPiece);
      wire::Callback callback;
      callback.set_asked(wire::WRITER_WRITE);
      callback.set_payload(payload);
      callback.set_data(bytes, static_cast<size_t>(piece));
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              ask(static_cast<ServedWriter&>(*handle).channel_, callback));
      EPHOST_RETURN_IF_ERROR(from(answer));
      bytes += piece;
      size -= piece;
    } while (size != 0);
    return {};
  });
}

int32_t ServedWriter::add_node(eph_context_writer* handle, const eph_context_node* node,
                               eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    auto& self = static_cast<ServedWriter&>(*handle);
    EPHOST_ASSIGN_OR_RETURN(const auto adopted,
                            plugin::adopt<eph_context_node>(node, {self.provider_, "add_node"}));
    wire::Callback callback;
    callback.set_asked(wire::WRITER_ADD_NODE);
    write(adopted, *callback.mutable_context_node());
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, ask(self.channel_, callback));
    return from(answer);
  });
}

ServedInference::ServedInference(CallState& call, wire::Answer& answer)
    : eph_inference{nullptr}, call_(call), answer_(answer) {
  static constexpr eph_inference_api kApi = {sizeof(kApi), &ServedInference::get_node,
                                             &ServedInference::get_input,
                                             &ServedInference::set_output};
  api = &kApi;
}

int32_t ServedInference::get_node(const eph_inference* handle, eph_node_info* out,
                                  eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    const auto& self = static_cast<const ServedInference&>(*handle);
    const GraphPart part(self.call_.request().graph().part(), self.call_.plain());
    EPHOST_ASSIGN_OR_RETURN(const eph_node_info info,
                            part.read(self.call_, part.nodes()[0], self.storage_, self.bodies_));
    if (plugin::fill(info, out) == EPH_OK) return {};
    return Status(StatusCode::kInvalidArgument, plugin::why_not_filled(out));
  });
}

int32_t ServedInference::get_input(const eph_inference* handle, uint32_t input, eph_value_info* out,
                                   eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    const auto& self = static_cast<const ServedInference&>(*handle);
    const GraphPart part(self.call_.request().graph().part(), self.call_.plain());
    for (const PlainValueInfo& value : part.values()) {
      if (value.index != input) continue;
      EPHOST_ASSIGN_OR_RETURN(const eph_value_info info,
                              part.read(self.call_, value, self.storage_, nullptr));
      if (plugin::fill(info, out) == EPH_OK) return {};
      return Status(StatusCode::kInvalidArgument, plugin::why_not_filled(out));
    }
    return Status(StatusCode::kNotFound, formatted("get_input: the node has no input {}", input));
  });
}

int32_t ServedInference::set_output(eph_inference* handle, uint32_t output, int32_t element_type,
                                    const int64_t* shape, const eph_string* dim_names, int32_t rank,
                                    eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    if (rank > 0 && shape == nullptr) {
      return Status(StatusCode::kInvalidArgument, "set_output: shape is null");
    }
    wire::InferredOutput& added = *static_cast<ServedInference&>(*handle).answer_.add_outputs();
    added.set_output(output);
    added.set_element_type(element_type);
    added.set_rank(rank);
    for (int32_t i = 0; i < rank; ++i) {
      added.add_shape(shape[i]);
      if (dim_names != nullptr) added.add_dim_names(copy(dim_names[i]));
    }
    return {};
  });
}

}  // namespace ephost::worker
