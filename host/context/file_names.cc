#include "host/context/file_names.h"

#include "host/base/format.h"
#include "host/base/hash.h"

namespace ephost::context {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kContextSuffix = "_ctx.onnx";

}  // namespace

fs::path context_model_path(const fs::path& model_path) {
  fs::path name = model_path.stem();
  name += kContextSuffix;
  return model_path.parent_path() / name;
}

std::string context_model_stem(const fs::path& output_path) {
  const std::string name = output_path.filename().native();
  if (name.size() > kContextSuffix.size() && name.ends_with(kContextSuffix)) {
    return name.substr(0, name.size() - kContextSuffix.size());
  }
  return output_path.stem().native();
}

std::string context_binary_name(std::string_view model_stem, std::string_view ep_short_name,
                                uint32_t index) {
  if (index == 0) return formatted("{}_{}.bin", model_stem, ep_short_name);
  return formatted("{}_{}_{}.bin", model_stem, ep_short_name, index);
}

std::string superseded_name(std::string_view file_name, std::string_view checksum_hex) {
  return formatted("{}.{}", file_name, checksum_hex);
}

bool is_superseded_name(std::string_view candidate, std::string_view file_name) {
  if (!candidate.starts_with(file_name)) return false;
  candidate.remove_prefix(file_name.size());
  return candidate.starts_with('.') && parse_hash128(candidate.substr(1)).has_value();
}

}  // namespace ephost::context
