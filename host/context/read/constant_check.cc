#include "host/context/read/constant_check.h"

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::context {
namespace {

constexpr std::string_view kRecompileRemedy = "; compile the source model again";

Status constant_mismatch(std::string message) {
  return Status(StatusCode::kInvalidGraph, std::move(message) + std::string(kRecompileRemedy));
}

}  // namespace

Result<std::vector<graph::Tensor>> ConstantCheck::find(const graph::Graph& graph,
                                                       const std::vector<NamedConstant>& stated) {
  std::vector<graph::Tensor> found;
  found.reserve(stated.size());
  for (const NamedConstant& constant : stated) {
    EPHOST_ASSIGN_OR_RETURN(const graph::Tensor* const tensor, look_up(graph, constant.name));
    EPHOST_RETURN_IF_ERROR(compare(constant, *tensor));
    found.push_back(*tensor);
  }
  return found;
}

Result<const graph::Tensor*> ConstantCheck::look_up(const graph::Graph& graph,
                                                    const std::string& name) {
  const auto [entry, is_new] = constants_.try_emplace(&graph);
  if (is_new) {
    for (const graph::Value& value : graph.values) {
      if (!value.is_constant()) continue;
      entry->second.emplace(value.name, &graph.initializers[value.initializer]);
    }
  }
  const auto found = entry->second.find(name);
  if (found != entry->second.end()) return found->second;
  return constant_mismatch(
      formatted("it names {}, which is not a constant of its graph", quote(name)));
}

Status ConstantCheck::compare(const NamedConstant& stated, const graph::Tensor& tensor) {
  if (const std::string type = describe_type(tensor); type != stated.type) {
    return constant_mismatch(formatted("its constant {} is {}, but it was compiled with {}",
                                       quote(stated.name), type, quote(stated.type)));
  }
  if (!options_.verify_checksums) return {};
  const std::string what = "its constant " + quote(stated.name);
  const auto fresh = [&] {
    return ChecksummedBytes{.bytes = checked_bytes(tensor),
                            .release_pages = options_.release_pages,
                            .known = options_.known_checksums,
                            .cancellation = options_.cancellation};
  };
  if (tensor.strings) {
    ChecksummedBytes found = fresh();
    return files_.check(found, &stated.checksum, what).status;
  }
  const std::pair key(tensor.data.bytes.data(), tensor.data.bytes.size());
  const auto [entry, is_new] = read_.try_emplace(key);
  if (is_new) entry->second = fresh();
  return files_.check(entry->second, &stated.checksum, what).status;
}

}  // namespace ephost::context
