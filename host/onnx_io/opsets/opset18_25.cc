#include "host/onnx_io/opsets/opset18_25.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "host/onnx_io/inference/corrected_inference.h"
#include "host/onnx_io/inference/opset18_25_inference.h"
#include "host/onnx_io/opsets/onnx_definitions.h"
#include "host/onnx_io/opsets/onnxruntime_operators.h"
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

// An operator whose inference in onnx is wrong, from one version on and before another.
struct Correction {
  std::string_view domain, op_type;
  void (*infer)(onnx::InferenceContext& context);
  int since = 1;
  int before = std::numeric_limits<int>::max();
};

constexpr std::array kCorrections = {
    // ceil_mode makes no window that would begin in the padding at the end. onnx does that for the
    // versions of opset 22 only, but the models of older opsets are made and run like that too.
    Correction{"", "AveragePool", &infer::pool},
    Correction{"", "LpPool", &infer::pool},
    Correction{"", "MaxPool", &infer::pool},
    // onnx adds `pads` where auto_pad determines the padding.
    Correction{"", "Conv", &infer::convolution},
    Correction{"", "ConvInteger", &infer::integer_convolution},
    Correction{"", "QLinearConv", &infer::quantized_convolution},
    // onnx has no rule for some combinations of auto_pad, pads, output_padding and output_shape.
    Correction{"", "ConvTranspose", &infer::transposed_convolution},
    // onnx takes the lengths of one-sided transforms for those of full ones.
    Correction{"", "DFT", &infer::dft_17, 17, 20},
    Correction{"", "DFT", &infer::dft_20, 20},
    Correction{"", "STFT", &infer::stft},
    // onnx 1.12 expects four dimensions.
    Correction{"", "GridSample", &infer::grid_sample},
    // onnx slices an empty axis backwards and finds an element.
    Correction{"", "Slice", &infer::slice},
    // onnx leaves tf_crop_and_resize out.
    Correction{"", "Resize", &infer::resize, 11},
    // onnx takes an empty `perm` for that of a scalar.
    Correction{"", "Transpose", &infer::transpose},
    // onnx 1.17 takes unknown extents for 1 where no axes are given.
    Correction{"", "Squeeze", &infer::squeeze},
    // onnx drops negative axes of old versions.
    Correction{"", "Unsqueeze", &infer::unsqueeze},
    Correction{"", "SplitToSequence", &infer::split_to_sequence},
    // onnx shortens integers of 64 bits, and takes the shape of the third input in version 1.
    Correction{"", "Gemm", &infer::gemm},
    // onnx takes the shape of the first input; kernels broadcast.
    Correction{"", "Max", &infer::broadcast_all, 1, 8},
    Correction{"", "Mean", &infer::broadcast_all, 1, 8},
    Correction{"", "Min", &infer::broadcast_all, 1, 8},
    Correction{"", "Sum", &infer::broadcast_all, 1, 8},
    // onnx 1.17 leaves the dimensions of the input out of what it gives.
    Correction{kMlDomain, "OneHotEncoder", &infer::one_hot_encoder},
};

const Correction* find_correction(std::string_view domain, std::string_view op_type, int version) {
  const auto found = std::ranges::find_if(kCorrections, [&](const Correction& known) {
    return known.domain == domain && known.op_type == op_type && known.since <= version &&
           version < known.before;
  });
  return found == kCorrections.end() ? nullptr : &*found;
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

  const onnx::OpSchema* find_in_onnx(const std::string& op_type, int version,
                                     const std::string& domain) const {
    const Correction* correction = find_correction(domain, op_type, version);
    if (!domain.empty()) {
      const auto* registered =
          onnx::OpSchemaRegistry::Instance()->GetSchema(op_type, version, domain);
      if (registered == nullptr || correction == nullptr) return registered;
      return find_or_make(registered, [&] {
        onnx::OpSchema schema = *registered;
        schema.TypeAndShapeInferenceFunction(correction->infer);
        return schema;
      });
    }
    const OnnxDefinition* definition = find_onnx_definition(op_type, version);
    if (definition == nullptr) return find_onnxruntime_operator(op_type);
    return find_or_make(definition, [&] {
      onnx::OpSchema schema = definition->make();
      if (correction != nullptr) schema.TypeAndShapeInferenceFunction(correction->infer);
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
