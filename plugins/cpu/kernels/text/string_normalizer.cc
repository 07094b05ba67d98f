// StringNormalizer: removes stop words and changes the case. The attribute `locale` makes no
// difference: no locale needs to be installed.
#include <algorithm>
#include <string>
#include <vector>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/text/case_mapping.h"

namespace ephost_cpu {
namespace {

class StringNormalizer final : public Kernel {
 public:
  explicit StringNormalizer(const NodeContext& context)
      : Kernel(context), case_sensitive_(context.node().get_int("is_case_sensitive", 0) != 0) {
    const std::string_view action = context.node().get_string("case_change_action", "NONE");
    changes_case_ = action != "NONE";
    case_ = action == "UPPER" ? Case::kUpper : Case::kLower;
    if (changes_case_ && action != "UPPER" && action != "LOWER") {
      fail("attribute case_change_action '" + std::string(action) + "' is unknown");
    }
    std::string comparable;
    for (const eph_string word : context.node().get_strings("stopwords")) {
      stop_words_.emplace_back(compared(eph::view(word), comparable));
    }
    std::sort(stop_words_.begin(), stop_words_.end());
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims shape = dims_of(*run.input(0));
    if (shape.size() != 1 && (shape.size() != 2 || shape[0] != 1)) {
      fail("the input " + to_string(shape) + " is neither of shape [C] nor [1,C]");
    }
    const auto* texts = run.input_data<eph_string>(0);
    const int64_t count = shape.back();
    auto* kept = static_cast<int64_t*>(run.scratch(
        static_cast<uint64_t>(checked_multiply(std::max<int64_t>(count, 1), sizeof(int64_t)))));
    int64_t kept_count = 0;
    std::string buffer;
    for (int64_t i = 0; i < count; ++i) {
      if (!is_stop_word(eph::view(texts[i]), buffer)) kept[kept_count++] = i;
    }
    Dims out = shape;
    out[out.size() - 1] = std::max<int64_t>(kept_count, 1);
    allocate_output(run, 0, EPH_ELEMENT_STRING, out);
    if (kept_count == 0) run.set_string(0, 0, {});
    for (int64_t i = 0; i < kept_count; ++i) {
      const std::string_view text = eph::view(texts[kept[i]]);
      if (changes_case_) change_case(text, case_, buffer);
      run.set_string(0, static_cast<uint64_t>(i), changes_case_ ? buffer : text);
    }
  }

 private:
  // The text that is compared with the stop words; in `buffer` if case does not matter.
  std::string_view compared(std::string_view text, std::string& buffer) const {
    if (case_sensitive_) return text;
    change_case(text, Case::kLower, buffer);
    return buffer;
  }

  bool is_stop_word(std::string_view text, std::string& buffer) const {
    return !stop_words_.empty() &&
           std::binary_search(stop_words_.begin(), stop_words_.end(), compared(text, buffer));
  }

  bool case_sensitive_;
  bool changes_case_;
  Case case_;
  std::vector<std::string> stop_words_;  // sorted
};

constexpr KernelEntry kStringNormalizerKernels[] = {
    {"StringNormalizer", 10, kNewest, {}, kInputTypes<kString>, &make<StringNormalizer>},
};

}  // namespace

Table string_normalizer_kernels() { return kStringNormalizerKernels; }

}  // namespace ephost_cpu
