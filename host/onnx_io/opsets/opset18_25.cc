#include "host/onnx_io/opsets/opset18_25.h"

#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "host/onnx_io/opsets/onnx_definitions.h"
#include "host/onnx_io/opsets/opset18_25_operators.h"

namespace ephost::onnx_io {
namespace {

constexpr std::string_view kMlDomain = "ai.onnx.ml";

std::span<const Revision> revisions_of(std::string_view domain) {
  if (domain.empty()) return onnx_revisions_after_17();
  if (domain == kMlDomain) return ml_revisions_after_3();
  return {};
}

const Revision* find_revision(std::span<const Revision> revisions, std::string_view op_type,
                              int version) {
  const Revision* newest = nullptr;
  for (const Revision& revision : revisions) {
    if (revision.since > version) break;
    if (revision.op_type == op_type) newest = &revision;
  }
  return newest;
}

class AllOperators final : public onnx::ISchemaRegistry {
 public:
  const onnx::OpSchema* GetSchema(const std::string& op_type, const int version,
                                  const std::string& domain) const override {
    if (const auto* revision = find_revision(revisions_of(domain), op_type, version)) {
      return find_or_make(revision, [&] { return make(*revision, domain); });
    }
    if (!domain.empty()) {
      return onnx::OpSchemaRegistry::Instance()->GetSchema(op_type, version, domain);
    }
    const OnnxDefinition* definition = find_onnx_definition(op_type, version);
    if (definition == nullptr) return nullptr;
    return find_or_make(definition, [&] {
      onnx::OpSchema schema = definition->make();
      schema.Finalize();
      return schema;
    });
  }

 private:
  // The definition created for an entry of one of the tables.
  template <class Make>
  const onnx::OpSchema* find_or_make(const void* entry, Make make) const {
    {
      const std::scoped_lock lock(mutex_);
      const auto known = definitions_.find(entry);
      if (known != definitions_.end()) return known->second.get();
    }
    auto made = std::make_unique<const onnx::OpSchema>(make());
    const std::scoped_lock lock(mutex_);
    return definitions_.emplace(entry, std::move(made)).first->second.get();
  }

  onnx::OpSchema make(const Revision& revision, const std::string& domain) const {
    const std::string op_type(revision.op_type);
    const onnx::OpSchema* before = GetSchema(op_type, revision.since - 1, domain);
    if (revision.make == nullptr) {
      onnx::OpSchema same = *before;
      same.SinceVersion(revision.since);
      return same;
    }
    onnx::OpSchema schema = revision.make(before);
    schema.SetName(op_type).SetDomain(domain).SinceVersion(revision.since);
    schema.Finalize();
    return schema;
  }

  mutable std::mutex mutex_;
  mutable std::map<const void*, std::unique_ptr<const onnx::OpSchema>> definitions_;
};

}  // namespace

int newest_opset(const std::string& domain) {
  const std::span<const Revision> revisions = revisions_of(domain);
  return revisions.empty() ? 0 : revisions.back().since;
}

const onnx::ISchemaRegistry& all_operators() {
  static const AllOperators operators;
  return operators;
}

bool is_host_definition(const onnx::OpSchema& schema) {
  const Revision* newest =
      find_revision(revisions_of(schema.domain()), schema.Name(), schema.SinceVersion());
  return newest != nullptr;
}

}  // namespace ephost::onnx_io
