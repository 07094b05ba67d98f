#include "host/layers/validate/context_recorder.h"

#include <algorithm>
#include <exception>
#include <string_view>

#include "host/base/format.h"
#include "host/base/thrown.h"
#include "host/plugin/adopt.h"

namespace ephost::layers {
namespace {

// As the host limits them.
constexpr uint64_t kMaxCompatibilitySize = 65536;
constexpr uint64_t kMaxConstants = uint64_t{1} << 24;

ContextRecorder& of(eph_context_writer* writer) { return *static_cast<ContextRecorder*>(writer); }

// As the host sees it: empty for a null pointer, whatever its size.
std::string text_of(eph_string text) {
  return text.data == nullptr ? std::string() : std::string(text.data, text.size);
}

// Runs `body`, which returns a Status, and reports its failure as the host does. Nothing that it
// throws leaves it.
template <class Body>
int32_t run(eph_error* error, Body body) noexcept {
  const auto report = [&](StatusCode code, std::string_view text) {
    if (error != nullptr) error->api->set_message(error, {text.data(), text.size()});
    return static_cast<int32_t>(code);
  };
  try {
    const Status status = body();
    return status.ok() ? EPH_OK : report(status.code(), status.message());
  } catch (const std::exception& exception) {
    const Status thrown = status_of_thrown(exception);
    return report(thrown.code(), thrown.message());
  }
}

Status no_payload(std::string_view slot) {
  return Status(StatusCode::kInvalidArgument, formatted("{}: there is no such payload", slot));
}

std::string content_of(const eph_context_node& node, uint64_t payload) {
  std::string text =
      formatted("{}|{}|{}|{}|{}|{}|{}", node.computation, payload, text_of(node.source),
                text_of(node.sdk_version), text_of(node.hardware_architecture), text_of(node.notes),
                node.max_size);
  for (uint64_t i = 0; i < node.constant_count; ++i) {
    text.append(1, '|').append(text_of(node.constants[i]));
  }
  return text;
}

}  // namespace

int32_t ContextRecorder::begin_payload(eph_context_writer* writer, eph_string compatibility,
                                       uint32_t* out_payload, eph_error* error) noexcept {
  ContextRecorder& own = of(writer);
  if (own.inner_ != nullptr) {
    const int32_t code =
        own.inner_->api->begin_payload(own.inner_, compatibility, out_payload, error);
    if (code != EPH_OK) return code;
  }
  return run(error, [&]() -> Status {
    const plugin::CallSite site{own.provider_, "begin_payload"};
    EPHOST_ASSIGN_OR_RETURN(
        const std::string_view text,
        plugin::adopt_text(compatibility, kMaxCompatibilitySize, site, "compatibility"));
    if (out_payload == nullptr) {
      return Status(StatusCode::kInvalidArgument, "begin_payload: out_payload is null");
    }
    if (own.inner_ == nullptr) *out_payload = static_cast<uint32_t>(own.payloads_.size());
    own.numbers_.push_back(*out_payload);
    own.payloads_.push_back({std::string(text), 0, {}});
    return {};
  });
}

int32_t ContextRecorder::write(eph_context_writer* writer, uint32_t payload, const void* data,
                               uint64_t size, eph_error* error) noexcept {
  ContextRecorder& own = of(writer);
  if (own.inner_ != nullptr) {
    const int32_t code = own.inner_->api->write(own.inner_, payload, data, size, error);
    if (code != EPH_OK) return code;
  }
  return run(error, [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(
        const auto bytes, plugin::adopt_array(static_cast<const std::byte*>(data), size, UINT64_MAX,
                                              {own.provider_, "write"}, "data"));
    const auto known = std::ranges::find(own.numbers_, payload);
    if (known == own.numbers_.end()) return no_payload("write");
    Payload& one = own.payloads_[static_cast<size_t>(known - own.numbers_.begin())];
    one.size += size;
    if (!bytes.empty()) one.content.update(bytes);
    return {};
  });
}

int32_t ContextRecorder::add_node(eph_context_writer* writer, const eph_context_node* node,
                                  eph_error* error) noexcept {
  ContextRecorder& own = of(writer);
  if (own.inner_ != nullptr) {
    const int32_t code = own.inner_->api->add_node(own.inner_, node, error);
    if (code != EPH_OK) return code;
  }
  return run(error, [&]() -> Status {
    const plugin::CallSite site{own.provider_, "add_node"};
    EPHOST_ASSIGN_OR_RETURN(const auto known, plugin::adopt<eph_context_node>(node, site));
    EPHOST_RETURN_IF_ERROR(plugin::check_array(known.constants, known.constant_count, kMaxConstants,
                                               site, "constants"));
    const auto payload = std::ranges::find(own.numbers_, known.payload);
    if (payload == own.numbers_.end()) return no_payload("add_node");
    own.nodes_.push_back(content_of(known, static_cast<uint64_t>(payload - own.numbers_.begin())));
    return {};
  });
}

std::vector<Finding> ContextRecorder::differences_from(const ContextRecorder& first) const {
  std::vector<Finding> found;
  const auto add = [&](std::string what) {
    found.push_back({28, std::move(what) + ", although its manifest says \"deterministic: true\"",
                     "write no time, address, random number or unordered container, or do not "
                     "promise it"});
  };
  if (payloads_.size() != first.payloads_.size()) {
    add(formatted("wrote {} payloads and then {} for the same computations", first.payloads_.size(),
                  payloads_.size()));
    return found;
  }
  for (size_t i = 0; i < payloads_.size(); ++i) {
    const Payload& a = first.payloads_[i];
    const Payload& b = payloads_[i];
    if (a.size != b.size) {
      add(formatted("wrote {} bytes and then {} into payload {}", a.size, b.size, i));
    } else if (a.content.checksum() != b.content.checksum()) {
      add(formatted("wrote other bytes into payload {} when it was called again", i));
    } else if (a.compatibility != b.compatibility) {
      add(formatted("stated another compatibility text for payload {} when it was called again",
                    i));
    }
  }
  if (nodes_ != first.nodes_) add("wrote other nodes when it was called again");
  return found;
}

}  // namespace ephost::layers
