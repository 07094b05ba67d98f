// recipe_codec.h: a recipe as bytes. CONTEXT_FORMAT.md has the layout.
#pragma once

#include "plugins/dnnl/context/bytes.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

void encode(const Recipe& recipe, ByteWriter& writer);

// Throws Malformed if the bytes are not a recipe, or are one that check_recipe refuses.
[[nodiscard]] Recipe decode_recipe(ByteReader& reader);

}  // namespace ephost_dnnl
