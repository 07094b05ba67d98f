#include "plugins/dnnl/library/build_id.h"

#include <ephost/plugin_abi.h>

#include <oneapi/dnnl/dnnl.hpp>

#include "plugins/dnnl/library/primitives.h"

namespace ephost_dnnl {
namespace {

constexpr std::string_view kProvider = "ephost.dnnl/";
constexpr std::string_view kChosen = ";chosen";

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Everything except the number of threads.
std::string fixed_part(const BuildId& id) {
  return std::string(kProvider) + std::to_string(kContextFormat) + ";onednn=" + id.library +
         ";isa=" + id.instruction_set + ";threads=";
}

}  // namespace

BuildId current_build_id(int threads) {
  const dnnl::version_t* version = dnnl::version();
  return {std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
              std::to_string(version->patch) + "+" + version->hash,
          instruction_set(), threads};
}

std::string sdk_version(const BuildId& id) { return "oneDNN " + id.library; }

std::string compatibility_text(const BuildId& id) {
  std::string text = fixed_part(id) + std::to_string(id.threads);
  if (id.has_chosen_threads) text += kChosen;
  return text;
}

int32_t judge_compatibility(std::string_view text, const BuildId& current) {
  if (text.substr(0, kProvider.size()) != kProvider) return EPH_COMPATIBILITY_NOT_APPLICABLE;
  if (text == compatibility_text(current)) return EPH_COMPATIBILITY_OPTIMAL;
  const std::string fixed = fixed_part(current);
  if (text.substr(0, fixed.size()) != fixed) return EPH_COMPATIBILITY_UNSUPPORTED;
  std::string_view threads = text.substr(fixed.size());
  const bool is_chosen = ends_with(threads, kChosen);
  if (is_chosen) threads.remove_suffix(kChosen.size());
  if (threads.empty() || threads.find_first_not_of("0123456789") != std::string_view::npos) {
    return EPH_COMPATIBILITY_UNSUPPORTED;
  }
  return is_chosen ? EPH_COMPATIBILITY_OPTIMAL : EPH_COMPATIBILITY_PREFER_RECOMPILATION;
}

}  // namespace ephost_dnnl
