// Loading a context model and why that is refused, for the tests of the loader.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "host/base/hash.h"
#include "host/context/metadata.h"
#include "host/context/read/loader.h"

namespace ephost::context::testing {

inline ContentChecksum checksum_of(std::string_view text) {
  return {.hash = content_checksum(as_bytes(text)), .size = text.size()};
}

// The message with which the model is refused, or "accepted".
inline std::string refusal(const graph::Model& model, const LoadOptions& options) {
  const Result<LoadedContext> loaded = load_context(model, options);
  if (loaded.ok()) return "accepted";
  EXPECT_EQ(loaded.status().code(), StatusCode::kInvalidGraph);
  return loaded.status().message();
}

}  // namespace ephost::context::testing
