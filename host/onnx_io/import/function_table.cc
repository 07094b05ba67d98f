#include "host/onnx_io/import/function_table.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <set>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/onnx_io/opsets/opset18_25_fields.h"

namespace ephost::onnx_io {
namespace {

FunctionName callee_of(const onnx::NodeProto& node) {
  return {domain_of(node.domain()), node.op_type(), overload_of(node)};
}

std::string describe(const FunctionName& name) {
  const auto& [domain, function, overload] = name;
  return formatted("function {} of domain {}{}", quote(function),
                   quote(domain.empty() ? "ai.onnx" : domain),
                   overload.empty() ? "" : ", overload " + quote(overload));
}

Result<onnx::FunctionProto> parse_function(const graph::Function& function) {
  const std::string& bytes = function.serialized;
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kRecursionLimit);
  onnx::FunctionProto proto;
  if (proto.ParsePartialFromCodedStream(&coded) && coded.ConsumedEntireMessage()) return proto;
  return Status(StatusCode::kInvalidProtobuf,
                describe({function.domain, function.name, function.overload}) + " does not parse");
}

template <class Visitor>
void for_each_node(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                   const Visitor& visit) {
  for (const onnx::NodeProto& node : nodes) {
    visit(node);
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) for_each_node(attribute.g().node(), visit);
      for (const onnx::GraphProto& graph : attribute.graphs()) for_each_node(graph.node(), visit);
    }
  }
}

// The call graph: computes sizes from the innermost functions outwards, without recursion, as calls
// may be nested as deep as there are functions.
class Expansion {
 public:
  explicit Expansion(FunctionTable& functions) : functions_(functions) {}

  Status run() {
    for (auto& [name, function] : functions_) {
      EPHOST_RETURN_IF_ERROR(visit(name));
    }
    return Status::ok_status();
  }

 private:
  enum class State { kNew, kOpen, kDone };
  struct Frame {
    FunctionName name;
    std::vector<FunctionName> callees;
    size_t next = 0;
  };

  Status visit(const FunctionName& start) {
    std::vector<Frame> stack;
    EPHOST_RETURN_IF_ERROR(open(start, stack));
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.callees.size()) {
        EPHOST_RETURN_IF_ERROR(open(FunctionName(top.callees[top.next++]), stack));
        continue;
      }
      close(top);
      stack.pop_back();
    }
    return Status::ok_status();
  }

  Status open(const FunctionName& name, std::vector<Frame>& stack) {
    State& state = states_[name];
    if (state == State::kDone) return Status::ok_status();
    if (state == State::kOpen) {
      return Status(StatusCode::kInvalidGraph,
                    describe(name) + " calls itself, directly or through other functions; " +
                        "ONNX functions cannot be recursive");
    }
    state = State::kOpen;
    Frame& frame = stack.emplace_back(Frame{name, {}, 0});
    std::set<FunctionName> callees;
    for_each_node(functions_.at(name).proto.node(), [&](const onnx::NodeProto& node) {
      if (FunctionName callee = callee_of(node); functions_.contains(callee))
        callees.insert(callee);
    });
    frame.callees.assign(callees.begin(), callees.end());
    return Status::ok_status();
  }

  void close(const Frame& frame) {
    LocalFunction& function = functions_.at(frame.name);
    uint64_t size = 0;
    for_each_node(function.proto.node(), [&](const onnx::NodeProto& node) {
      const auto callee = functions_.find(callee_of(node));
      const uint64_t added = callee == functions_.end() ? 1 : callee->second.expanded_size;
      size = checked_add(size, added).value_or(UINT64_MAX);
    });
    function.expanded_size = size;
    states_[frame.name] = State::kDone;
  }

  FunctionTable& functions_;
  std::map<FunctionName, State> states_;
};

}  // namespace

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

FunctionName callee_of(const graph::Node& node) {
  return {node.domain, node.op_type, node.overload};
}

Result<FunctionTable> parse_functions(const graph::Model& model) {
  FunctionTable functions;
  for (const graph::Function& function : model.functions) {
    EPHOST_ASSIGN_OR_RETURN(onnx::FunctionProto proto, parse_function(function));
    LocalFunction& added = functions[{function.domain, function.name, function.overload}];
    added.defaults = attribute_defaults(proto);
    added.stated_bytes = function.serialized.size();
    added.proto = std::move(proto);
  }
  EPHOST_RETURN_IF_ERROR(Expansion(functions).run());
  return functions;
}

}  // namespace ephost::onnx_io
