// StringConcat, StringSplit and RegexFullMatch.
#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "plugins/cpu/core/pinned_library.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"

namespace ephost_cpu {
namespace {

class StringConcat final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims a_shape = dims_of(*run.input(0));
    const Dims b_shape = dims_of(*run.input(1));
    const Dims shape = broadcast_shape(a_shape, b_shape);
    const Broadcast<2> broadcast(shape, {a_shape, b_shape});
    allocate_output(run, 0, EPH_ELEMENT_STRING, shape);
    const auto* a = run.input_data<eph_string>(0);
    const auto* b = run.input_data<eph_string>(1);
    const uint64_t longest = longest_of(a, a_shape) + longest_of(b, b_shape);
    char* joined = static_cast<char*>(run.scratch(std::max<uint64_t>(longest, 1)));
    broadcast.for_each_row(0, [&](int64_t at, const auto& from, const auto& step, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        const std::string_view left = eph::view(a[from[0] + i * step[0]]);
        const std::string_view right = eph::view(b[from[1] + i * step[1]]);
        char* end = std::copy(left.begin(), left.end(), joined);
        end = std::copy(right.begin(), right.end(), end);
        run.set_string(0, static_cast<uint64_t>(at + i),
                       {joined, static_cast<std::size_t>(end - joined)});
      }
    });
  }

 private:
  static uint64_t longest_of(const eph_string* texts, const Dims& shape) {
    uint64_t longest = 0;
    for (int64_t i = element_count(shape); i-- > 0;) {
      longest = std::max<uint64_t>(longest, eph::view(texts[i]).size());
    }
    return longest;
  }
};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class StringSplit final : public Kernel {
 public:
  explicit StringSplit(const NodeContext& context)
      : Kernel(context),
        delimiter_(context.node().get_string("delimiter", "")),
        max_splits_(context.node().get_int("maxsplit", -1)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims shape = dims_of(*run.input(0));
    if (shape.size() == kMaxRank) fail_unsupported("an input of rank " + std::to_string(kMaxRank));
    const int64_t count = element_count(shape);
    const auto* texts = run.input_data<eph_string>(0);
    int64_t most = 0;
    for (int64_t i = 0; i < count; ++i) most = std::max(most, count_parts(eph::view(texts[i])));
    if (run.output(0) != nullptr) {
      Dims out = shape;
      out.push_back(most);
      allocate_output(run, 0, EPH_ELEMENT_STRING, out);
      for (int64_t i = 0; i < count; ++i) write_parts(run, eph::view(texts[i]), i * most, most);
    }
    if (run.output_count() > 1 && run.output(1) != nullptr) {
      auto* counts = data<int64_t>(allocate_output(run, 1, EPH_ELEMENT_INT64, shape));
      for (int64_t i = 0; i < count; ++i) counts[i] = count_parts(eph::view(texts[i]));
    }
  }

 private:
  // Calls part(text) for each part, in order.
  template <class Part>
  void split(std::string_view text, const Part& part) const {
    for (int64_t splits = 0;; ++splits) {
      if (delimiter_.empty()) {  // runs of spaces count as one, and none at the beginning
        text.remove_prefix(static_cast<std::size_t>(
            std::find_if_not(text.begin(), text.end(), is_space) - text.begin()));
        if (text.empty()) return;
      }
      const std::size_t end = splits == max_splits_ ? std::string_view::npos : find_end(text);
      if (end == std::string_view::npos) return part(text);
      part(text.substr(0, end));
      text.remove_prefix(end + std::max<std::size_t>(delimiter_.size(), 1));
    }
  }

  [[nodiscard]] std::size_t find_end(std::string_view text) const {
    if (!delimiter_.empty()) return text.find(delimiter_);
    const auto space = std::find_if(text.begin(), text.end(), is_space);
    return space == text.end() ? std::string_view::npos
                               : static_cast<std::size_t>(space - text.begin());
  }

  [[nodiscard]] int64_t count_parts(std::string_view text) const {
    int64_t count = 0;
    split(text, [&](std::string_view) { ++count; });
    return count;
  }

  void write_parts(eph::Run& run, std::string_view text, int64_t first, int64_t room) const {
    int64_t at = first;
    const auto write = [&](std::string_view part) {
      run.set_string(0, static_cast<uint64_t>(at++), part);
    };
    split(text, write);
    while (at < first + room) write({});
  }

  std::string delimiter_;
  int64_t max_splits_;  // negative: no limit
};

class RegexFullMatch final : public Kernel {
 public:
  explicit RegexFullMatch(const NodeContext& context)
      : Kernel(context), regex_(to_re2(context.node().get_string("pattern", "")), RE2::Quiet) {
    // Its first expression allocates what is never freed.
    pin_library_of(reinterpret_cast<void*>(&RE2::QuoteMeta));
    if (context.node().attribute("pattern") == nullptr) fail("attribute pattern is missing");
    if (!regex_.ok()) {
      fail("attribute pattern '" + regex_.pattern() +
           "' is not a regular expression of RE2: " + regex_.error());
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims shape = dims_of(*run.input(0));
    const auto* texts = run.input_data<eph_string>(0);
    auto* y = data<uint8_t>(allocate_output(run, 0, EPH_ELEMENT_BOOL, shape));
    for (int64_t i = element_count(shape); i-- > 0;) {
      y[i] = RE2::FullMatch(to_re2(eph::view(texts[i])), regex_) ? 1 : 0;
    }
  }

 private:
  static re2::StringPiece to_re2(std::string_view text) { return {text.data(), text.size()}; }

  RE2 regex_;
};

constexpr auto& kTwoTexts = kInputTypes<kString, kString>;

constexpr KernelEntry kStringKernels[] = {
    {"StringConcat", 20, kNewest, kTwoInputs, kTwoTexts, &make<StringConcat>},
    {"StringSplit", 20, kNewest, {}, kInputTypes<kString>, &make<StringSplit>},
    {"RegexFullMatch", 20, kNewest, {}, kInputTypes<kString>, &make<RegexFullMatch>},
};

}  // namespace

Table string_kernels() { return kStringKernels; }

}  // namespace ephost_cpu
