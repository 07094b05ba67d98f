// TfIdfVectorizer: how often the n-grams of a pool occur in a sequence of words or numbers.
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/math/convert.h"

namespace ephost_cpu {
namespace {

enum class Weighting { kTf, kIdf, kTfIdf };

Weighting parse_weighting(std::string_view mode) {
  if (mode == "TF") return Weighting::kTf;
  if (mode == "IDF") return Weighting::kIdf;
  if (mode == "TFIDF") return Weighting::kTfIdf;
  fail("attribute mode '" + std::string(mode) + "' is unknown");
}

// The words or numbers of the pool, numbered.
class Vocabulary {
 public:
  static constexpr int64_t kUnknown = -1;

  explicit Vocabulary(const eph::NodeView& node) {
    for (const eph_string word : node.get_strings("pool_strings")) {
      const auto entry = words_.try_emplace(std::string(eph::view(word)), words_.size()).first;
      pool_.push_back(entry->second);
    }
    has_words_ = !pool_.empty();
    const eph::ArrayView<int64_t> numbers = node.get_ints("pool_int64s");
    if (has_words_ && !numbers.empty()) fail("pool_strings and pool_int64s are both given");
    for (const int64_t number : numbers) {
      pool_.push_back(numbers_.try_emplace(number, numbers_.size()).first->second);
    }
  }

  [[nodiscard]] bool has_words() const { return has_words_; }
  // The pool with numbers in place of its items.
  [[nodiscard]] const std::vector<int64_t>& pool() const { return pool_; }

  [[nodiscard]] int64_t find(std::string_view word) const {
    const auto found = words_.find(word);
    return found == words_.end() ? kUnknown : found->second;
  }
  [[nodiscard]] int64_t find(int64_t number) const {
    const auto found = numbers_.find(number);
    return found == numbers_.end() ? kUnknown : found->second;
  }

 private:
  bool has_words_ = false;
  std::map<std::string, int64_t, std::less<>> words_;
  std::unordered_map<int64_t, int64_t> numbers_;
  std::vector<int64_t> pool_;
};

// The n-grams as a tree: from the root, an edge for each item. Nodes are numbers.
class NGrams {
 public:
  static constexpr int64_t kNone = -1;
  static constexpr int64_t kRoot = 0;

  void add(const int64_t* items, int64_t length, int64_t ngram) {
    int64_t node = kRoot;
    for (int64_t i = 0; i < length; ++i) {
      const auto next = static_cast<int64_t>(ngram_at_.size());
      const auto [edge, is_new] = edges_.try_emplace({node, items[i]}, next);
      if (is_new) ngram_at_.push_back(kNone);
      node = edge->second;
    }
    ngram_at_[static_cast<std::size_t>(node)] = ngram;
  }

  // kNone if no n-gram continues with the item.
  [[nodiscard]] int64_t step(int64_t node, int64_t item) const {
    const auto edge = edges_.find({node, item});
    return edge == edges_.end() ? kNone : edge->second;
  }
  // The n-gram that ends in a node, or kNone.
  [[nodiscard]] int64_t ngram_at(int64_t node) const {
    return ngram_at_[static_cast<std::size_t>(node)];
  }

 private:
  std::map<std::pair<int64_t, int64_t>, int64_t> edges_;
  std::vector<int64_t> ngram_at_ = {kNone};
};

class TfIdfVectorizer final : public Kernel {
 public:
  explicit TfIdfVectorizer(const NodeContext& context)
      : Kernel(context),
        weighting_(parse_weighting(context.node().get_string("mode", ""))),
        shortest_(context.node().get_int("min_gram_length", 0)),
        longest_(context.node().get_int("max_gram_length", 0)),
        most_skips_(context.node().get_int("max_skip_count", -1)),
        vocabulary_(context.node()) {
    if (shortest_ < 1 || longest_ < shortest_ || most_skips_ < 0) {
      fail("min_gram_length=" + std::to_string(shortest_) +
           ", max_gram_length=" + std::to_string(longest_) +
           " and max_skip_count=" + std::to_string(most_skips_) + " make no n-grams");
    }
    const auto weights = context.node().get_floats("weights");
    const auto columns = context.node().get_ints("ngram_indexes");
    columns_.assign(columns.begin(), columns.end());
    weights_.assign(weights.begin(), weights.end());
    if (weights_.empty()) weights_.assign(columns_.size(), 1.0F);
    add_ngrams(context.node().get_ints("ngram_counts"));
    if (weights_.size() != columns_.size()) fail("weights and ngram_indexes differ in length");
    for (const int64_t column : columns_) {
      if (column < 0 || column >= kMaxColumns) {
        fail("ngram_indexes holds " + std::to_string(column));
      }
      width_ = std::max(width_, column + 1);
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    if ((x.element_type == EPH_ELEMENT_STRING) != vocabulary_.has_words()) {
      fail("the input is of type " + type_name(x.element_type) + ", but the pool is not");
    }
    const Dims shape = dims_of(x);
    if (shape.empty() || shape.size() > 2) {
      fail("the input " + to_string(shape) + " is neither of rank 1 nor 2");
    }
    Dims out = shape;
    out[out.size() - 1] = width_;
    auto* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, out));
    std::fill_n(y, element_count(out), 0.0F);
    const int64_t length = shape.back();
    const int64_t rows = shape.size() == 2 ? shape[0] : 1;
    const int64_t* items = read_items(run, x, element_count(shape));
    for (int64_t row = 0; row < rows; ++row) count(items + row * length, length, y + row * width_);
  }

 private:
  static constexpr int64_t kMaxColumns = int64_t{1} << 32;

  // The pool has all n-grams of length 1, then those of length 2, ...; `starts` says where each
  // length begins. They are numbered consecutively, including those of lengths that do not count.
  void add_ngrams(eph::ArrayView<int64_t> starts) {
    const auto size = static_cast<int64_t>(vocabulary_.pool().size());
    std::size_t ngram = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const int64_t length = static_cast<int64_t>(i) + 1;
      const int64_t end = i + 1 < starts.size() ? starts[i + 1] : size;
      if (starts[i] < 0 || end < starts[i] || end > size || (end - starts[i]) % length != 0) {
        fail("ngram_counts do not divide the pool of " + std::to_string(size) + " into n-grams");
      }
      for (int64_t at = starts[i]; at < end; at += length, ++ngram) {
        if (ngram >= columns_.size()) fail("the pool has more n-grams than ngram_indexes");
        if (length < shortest_ || length > longest_) continue;
        ngrams_.add(vocabulary_.pool().data() + at, length, static_cast<int64_t>(ngram));
      }
    }
  }

  // The numbers of the items, which are in scratch memory.
  const int64_t* read_items(eph::Run& run, const eph_value& x, int64_t count) const {
    auto* items = static_cast<int64_t*>(run.scratch(
        static_cast<uint64_t>(checked_multiply(std::max<int64_t>(count, 1), sizeof(int64_t)))));
    if (x.element_type == EPH_ELEMENT_STRING) {
      const auto* words = data<const eph_string>(x);
      for (int64_t i = 0; i < count; ++i) items[i] = vocabulary_.find(eph::view(words[i]));
      return items;
    }
    convert(x.data, x.element_type, items, EPH_ELEMENT_INT64, count);
    for (int64_t i = 0; i < count; ++i) items[i] = vocabulary_.find(items[i]);
    return items;
  }

  // Unigrams are the same with every number of skips, and count once.
  void count(const int64_t* items, int64_t length, float* y) const {
    const int64_t most_skips = longest_ > 1 ? std::min(most_skips_, length) : 0;
    for (int64_t skips = 0; skips <= most_skips; ++skips) {
      for (int64_t start = 0; start < length; ++start) {
        int64_t node = NGrams::kRoot;
        for (int64_t at = start; at < length; at += skips + 1) {
          node = ngrams_.step(node, items[at]);
          if (node == NGrams::kNone) break;
          const bool counted = at == start && skips > 0;
          if (ngrams_.ngram_at(node) != NGrams::kNone && !counted) found(ngrams_.ngram_at(node), y);
        }
      }
    }
  }

  void found(int64_t ngram, float* y) const {
    const auto i = static_cast<std::size_t>(ngram);
    float& sum = y[columns_[i]];
    if (weighting_ == Weighting::kTf) {
      sum += 1;
    } else if (weighting_ == Weighting::kTfIdf) {
      sum += weights_[i];
    } else {
      sum = weights_[i];
    }
  }

  Weighting weighting_;
  int64_t shortest_, longest_, most_skips_;
  Vocabulary vocabulary_;
  NGrams ngrams_;
  std::vector<int64_t> columns_;  // by n-gram
  std::vector<float> weights_;    // by n-gram
  int64_t width_ = 0;
};

constexpr uint64_t kNgramTypes = kString | kIndices;

constexpr KernelEntry kTfIdfVectorizerKernels[] = {
    {"TfIdfVectorizer", 9, kNewest, {}, kInputTypes<kNgramTypes>, &make<TfIdfVectorizer>},
};

}  // namespace

Table tf_idf_vectorizer_kernels() { return kTfIdfVectorizerKernels; }

}  // namespace ephost_cpu
