#include "host/onnx_io/opsets/opset18_25.h"

#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "host/onnx_io/inference/opset18_25_inference.h"
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

// The newest opset of the domain that the linked onnx defines; 0 for an unknown domain.
int newest_opset_of_onnx(const std::string& domain) {
  static const auto& ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto found = ranges.find(domain);
  return found == ranges.end() ? 0 : found->second.second;
}

// The revision that applies in this version of the domain, or null if onnx has the definition.
const Revision* find_revision_in_use(const std::string& domain, std::string_view op_type,
                                     int version) {
  const Revision* newest = find_revision(revisions_of(domain), op_type, version);
  if (newest == nullptr || newest->since <= newest_opset_of_onnx(domain)) return nullptr;
  return newest;
}

class AllOperators final : public onnx::ISchemaRegistry {
 public:
  const onnx::OpSchema* GetSchema(const std::string& op_type, const int version,
                                  const std::string& domain) const override {
    const Revision* revision = find_revision_in_use(domain, op_type, version);
    return revision == nullptr ? find_in_onnx(op_type, version, domain)
                               : find_revised(*revision, domain);
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

  // onnx 1.17 leaves the dimensions of the input out of what OneHotEncoder gives.
  const onnx::OpSchema* corrected(const onnx::OpSchema& one_hot_encoder) const {
    return find_or_make(&one_hot_encoder, [&] {
      onnx::OpSchema schema = one_hot_encoder;
      schema.TypeAndShapeInferenceFunction(&infer::one_hot_encoder);
      return schema;
    });
  }

  const onnx::OpSchema* find_in_onnx(const std::string& op_type, int version,
                                     const std::string& domain) const {
    if (!domain.empty()) {
      const auto* registered =
          onnx::OpSchemaRegistry::Instance()->GetSchema(op_type, version, domain);
      const bool is_wrong =
          registered != nullptr && domain == kMlDomain && op_type == "OneHotEncoder";
      return is_wrong ? corrected(*registered) : registered;
    }
    const OnnxDefinition* definition = find_onnx_definition(op_type, version);
    if (definition == nullptr) return nullptr;
    return find_or_make(definition, [&] {
      onnx::OpSchema schema = definition->make();
      schema.Finalize();
      return schema;
    });
  }

  const onnx::OpSchema* find_revised(const Revision& revision, const std::string& domain) const {
    return find_or_make(&revision, [&] { return make(revision, domain); });
  }

  // From the revision before, also if onnx has a definition of that: so it is the same with every
  // onnx.
  onnx::OpSchema make(const Revision& revision, const std::string& domain) const {
    const std::string op_type(revision.op_type);
    const Revision* earlier = find_revision(revisions_of(domain), op_type, revision.since - 1);
    const onnx::OpSchema* before = earlier == nullptr
                                       ? find_in_onnx(op_type, revision.since - 1, domain)
                                       : find_revised(*earlier, domain);
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
  return find_revision_in_use(schema.domain(), schema.Name(), schema.SinceVersion()) != nullptr;
}

}  // namespace ephost::onnx_io
