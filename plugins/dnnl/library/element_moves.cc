#include "plugins/dnnl/library/element_moves.h"

#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace ephost_dnnl {
namespace {

// Calls `visit` with each pair of elements; `dimension` and those after it are left.
template <class T, class Visit>
void walk(const std::vector<Dims>& from_offsets, const std::vector<Dims>& to_offsets,
          std::size_t dimension, const T* from, T* to, const Visit& visit) {
  const Dims& from_steps = from_offsets[dimension];
  const Dims& to_steps = to_offsets[dimension];
  const bool is_last = dimension + 1 == from_offsets.size();
  for (std::size_t i = 0; i < from_steps.size(); ++i) {
    if (is_last) {
      visit(from[from_steps[i]], to[to_steps[i]]);
    } else {
      walk(from_offsets, to_offsets, dimension + 1, from + from_steps[i], to + to_steps[i], visit);
    }
  }
}

// What weights of s8 become where products of them must not saturate.
template <class T>
T half(T value) {
  return static_cast<T>(std::nearbyint(static_cast<float>(value) * 0.5F));
}

}  // namespace

std::optional<ElementMoves> ElementMoves::plan(const Descriptor& from, const Descriptor& to) {
  if (dims_of(from) != dims_of(to) || type_of(from) != type_of(to)) return std::nullopt;
  auto from_offsets = element_offsets(from);
  auto to_offsets = element_offsets(to);
  if (!from_offsets || !to_offsets) return std::nullopt;
  ElementMoves moves;
  moves.type_ = type_of(from);
  moves.from_ = *std::move(from_offsets);
  moves.to_ = *std::move(to_offsets);
  return moves;
}

template <class T, class Visit>
void ElementMoves::visit(const void* from, void* to, const Visit& visit_pair) const {
  walk(from_, to_, 0, static_cast<const T*>(from), static_cast<T*>(to), visit_pair);
}

void ElementMoves::run(const void* from, void* to) const {
  if (type_ == ElementType::kF32) {  // as integers: a NaN keeps its bits
    visit<uint32_t>(from, to, [](uint32_t source, uint32_t& target) { target = source; });
  } else {
    visit<uint8_t>(from, to, [](uint8_t source, uint8_t& target) { target = source; });
  }
}

ElementMoves::Difference ElementMoves::compare(const void* from, const void* to) const {
  Difference found;
  void* const target = const_cast<void*>(to);  // it is only read
  if (type_ == ElementType::kF32) {
    visit<uint32_t>(from, target, [&](uint32_t a, uint32_t b) { found.from_whole += a != b; });
    found.from_half = element_count(dims());
  } else {
    visit<int8_t>(from, target, [&](int8_t a, int8_t b) {
      found.from_whole += a != b;
      found.from_half += half(a) != b;
    });
  }
  return found;
}

Dims ElementMoves::dims() const {
  Dims dims;
  for (const Dims& of_dimension : from_) dims.push_back(static_cast<int64_t>(of_dimension.size()));
  return dims;
}

namespace {

bool try_reorder(const dnnl::engine& engine, const Descriptor& from, const Descriptor& to) {
  const auto moves = ElementMoves::plan(from, to);
  const auto numbering = ElementMoves::plan(row_major(dims_of(from), type_of(from)), from);
  if (!moves || !numbering) return true;
  const std::size_t count = static_cast<std::size_t>(element_count(dims_of(from)));
  std::vector<uint32_t> numbers(count);  // as many bytes as elements of any type need
  if (type_of(from) == ElementType::kF32) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = static_cast<float>(i % (std::size_t{1} << 24U) + 1);
      std::memcpy(&numbers[i], &number, sizeof(number));
    }
  } else {
    auto* const bytes = reinterpret_cast<uint8_t*>(numbers.data());
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i % 127 + 1);
  }
  dnnl::memory source(from, engine);
  dnnl::memory target(to, engine);
  std::memset(source.get_data_handle(), 0, from.get_size());
  std::memset(target.get_data_handle(), 0, to.get_size());
  numbering->run(numbers.data(), source.get_data_handle());
  dnnl::stream stream(engine);
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
  return moves->compare(source.get_data_handle(), target.get_data_handle()).from_whole == 0;
}

}  // namespace

bool reorders_rightly(const dnnl::engine& engine, const Descriptor& from, const Descriptor& to) {
  if (!has_padding(from) && !has_padding(to)) return true;
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, bool>;
  const std::string pair = descriptor_bytes(from) + descriptor_bytes(to);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known->find(pair); found != known->end()) return found->second;
  }
  const bool answer = try_reorder(engine, from, to);
  const std::lock_guard lock(mutex);
  return known->emplace(pair, answer).first->second;
}

}  // namespace ephost_dnnl
