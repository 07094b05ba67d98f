#include "host/onnx_io/opsets/operator_schemas.h"

#include <onnx/checker.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "host/base/format.h"
#include "host/onnx_io/opsets/opset18_25.h"

namespace ephost::onnx_io {
namespace {

int to_onnx_version(int64_t version) {
  return static_cast<int>(std::clamp<int64_t>(version, 0, std::numeric_limits<int>::max()));
}

using VersionRange = std::pair<int, int>;

// The versions of a domain that onnx defines; null for other domains. onnx creates the table at the
// first use; after that, threads only read it.
const VersionRange* find_versions(const std::string& domain) {
  static const auto& ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto found = ranges.find(domain);
  return found == ranges.end() ? nullptr : &found->second;
}

// onnx asks for the type of an operator up to version 1.12, and later for the node.
[[maybe_unused]] bool ask(bool (*check)(std::string), const std::string& op_type) {
  return check(op_type);
}
[[maybe_unused]] bool ask(bool (*check)(const onnx::NodeProto&), const std::string& op_type) {
  onnx::NodeProto node;
  node.set_op_type(op_type);
  return check(node);
}

template <class Check>
Status catching(Check check) {
  try {
    check();
    return Status::ok_status();
  } catch (const std::exception& failure) {
    return {StatusCode::kInvalidGraph, first_line(failure.what())};
  } catch (...) {
    return {StatusCode::kInvalidGraph, "onnx rejects it without a reason"};
  }
}

}  // namespace

std::string first_line(std::string_view message) {
  return std::string(message.substr(0, std::min<size_t>(message.find('\n'), 400)));
}

OpsetKnowledge opset_knowledge(const std::string& domain, int64_t version) {
  const VersionRange* versions = find_versions(domain);
  if (versions == nullptr) return OpsetKnowledge::kForeign;
  const int newest = std::max(versions->second, newest_opset(domain));
  return version > newest ? OpsetKnowledge::kNewer : OpsetKnowledge::kKnown;
}

const onnx::OpSchema* find_schema(const std::string& domain, const std::string& op_type,
                                  int64_t version) {
  if (find_versions(domain) == nullptr) return nullptr;
  return all_operators().GetSchema(op_type, to_onnx_version(version), domain);
}

int32_t since_version(const onnx::OpSchema& schema) { return schema.SinceVersion(); }

bool is_experimental(const std::string& op_type) {
  return ask(&onnx::checker::check_is_experimental_op, op_type);
}

namespace {

bool is_empty_list(const onnx::AttributeProto& attribute) {
  return (attribute.type() == onnx::AttributeProto::INTS && attribute.ints().empty()) ||
         (attribute.type() == onnx::AttributeProto::FLOATS && attribute.floats().empty()) ||
         (attribute.type() == onnx::AttributeProto::STRINGS && attribute.strings().empty());
}

// onnx takes a list without elements for an attribute without a value, and refuses it. The node, or
// one without such attributes.
class ShownNode {
 public:
  explicit ShownNode(const onnx::NodeProto& node) : node_(&node) {
    const auto& attributes = node.attribute();
    if (std::none_of(attributes.begin(), attributes.end(), is_empty_list)) return;
    copy_ = node;
    auto& kept = *copy_.mutable_attribute();
    kept.erase(std::remove_if(kept.begin(), kept.end(), is_empty_list), kept.end());
    node_ = &copy_;
  }
  ShownNode(const ShownNode&) = delete;
  ShownNode& operator=(const ShownNode&) = delete;

  [[nodiscard]] const onnx::NodeProto& get() const { return *node_; }

 private:
  onnx::NodeProto copy_;
  const onnx::NodeProto* node_;
};

}  // namespace

Status verify_against(const onnx::OpSchema& schema, const onnx::NodeProto& node) {
  if (schema.Deprecated()) {
    return {StatusCode::kInvalidGraph,
            formatted("the operator is deprecated since version {}", schema.SinceVersion())};
  }
  const ShownNode shown(node);
  return catching([&] { schema.Verify(shown.get()); });
}

// The checker would look up the definition again for every node; the caller already has it.
struct NodeChecker::State : onnx::ISchemaRegistry {
  const onnx::OpSchema* GetSchema(const std::string& /*op_type*/, const int /*version*/,
                                  const std::string& /*domain*/) const override {
    return schema;
  }

  onnx::checker::CheckerContext context;
  const onnx::OpSchema* schema = nullptr;
};

NodeChecker::NodeChecker(int64_t ir_version, const std::map<std::string, int64_t>& opset_imports)
    : state_(std::make_unique<State>()) {
  std::unordered_map<std::string, int> versions;
  for (const auto& [domain, version] : opset_imports) versions[domain] = to_onnx_version(version);
  state_->context.set_schema_registry(state_.get());
  state_->context.set_ir_version(to_onnx_version(ir_version));
  state_->context.set_opset_imports(std::move(versions));
}

NodeChecker::~NodeChecker() = default;

Status NodeChecker::check(const onnx::NodeProto& node, const onnx::OpSchema& schema) {
  state_->schema = &schema;
  const ShownNode shown(node);
  return catching([&] {
    onnx::checker::check_node(shown.get(), state_->context, onnx::checker::LexicalScopeContext());
  });
}

}  // namespace ephost::onnx_io
