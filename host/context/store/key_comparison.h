// Comparison of the texts of two keys: whether they belong to the same model, and in what they
// describe a provider differently. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ephost::context {

// Whether both texts have the same format and describe the same bytes of a model and of its
// external data. Only then may one entry contain contexts for the other.
[[nodiscard]] bool are_of_same_model(std::string_view key_text, std::string_view other);

// The names of the lines about the provider in which two texts differ, e.g. "plugin version", in
// the order of the lines, each once. "provider" alone if one of them lacks it.
[[nodiscard]] std::vector<std::string> provider_differences(std::string_view key_text,
                                                            std::string_view other,
                                                            std::string_view provider);

}  // namespace ephost::context
