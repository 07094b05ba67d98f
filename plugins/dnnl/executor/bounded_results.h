// bounded_results.h: maxima and minima by the library begin with the outermost finite number, which
// is what they yield of infinities alone. Where such a result is found, the run begins again, as it
// does where NaN may have been lost (library/invalid_watch.h).
#pragma once

#include <cstddef>
#include <optional>

#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// What the library's primitive for the operation yields in the place of an infinity. Nothing if it
// yields infinities, or if none can come out because of post-ops, which the passes see to.
[[nodiscard]] std::optional<float> bounded_result(const Op& op, ElementType output);

// Whether the post-op makes the same of infinity and of what maximum pooling yields in its place.
[[nodiscard]] bool hides_bounded_maximum(const Eltwise& post_op);

// Whether an element is this number, bit for bit. On the threads of the caller.
[[nodiscard]] bool has_element(const void* floats, std::size_t count, float number);

}  // namespace ephost_dnnl
