#include "host/session/caching/cache_ingredients.h"

#include <ephost/plugin_abi.h>

#include <optional>
#include <string>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/files/known_checksums.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/plugin/loading/library.h"
#include "host/session/environment/plugin_loader.h"
#include "host/session/model/given_initializers.h"

namespace ephost::session {
namespace {

Result<context::ContentChecksum> checksum_of(const graph::Blob& blob, const KnownChecksums& known,
                                             const Cancellation& cancellation) {
  EPHOST_ASSIGN_OR_RETURN(const Hash128 hash, known.checksum_of(blob.bytes, cancellation));
  return context::ContentChecksum{.hash = hash, .size = blob.bytes.size()};
}

std::string abi_version(uint32_t minor) { return formatted("{}.{}", EPH_ABI_MAJOR, minor); }

Result<context::CacheProvider> describe_provider(bridge::Provider& provider,
                                                 const KnownChecksums& known,
                                                 const Cancellation& cancellation) {
  const plugin::LoadedPlugin& plugin = provider.plugin();
  context::CacheProvider described{
      .name = provider.name(),
      .plugin_id = std::string(bridge::view(plugin.preamble.id)),
      .plugin_version = std::string(bridge::view(plugin.preamble.version)),
      .abi = abi_version(plugin.abi_minor)};
  std::optional<MappedFile> mapped;  // of a plugin in a worker
  if (plugin.library == nullptr) {
    EPHOST_ASSIGN_OR_RETURN(const std::filesystem::path library, library_of(plugin));
    EPHOST_ASSIGN_OR_RETURN(mapped, MappedFile::open(library));
  }
  EPHOST_ASSIGN_OR_RETURN(
      described.library,
      checksum_of({.bytes = mapped ? mapped->bytes() : plugin.library->content()}, known,
                  cancellation));
  for (const manifest::TypedOption& option : provider.config().options) {
    described.options.emplace_back(option.name, option.text);
  }
  described.has_target = provider.config().target.has_value();
  for (const bridge::DeviceInfo& device : provider.compiled_devices()) {
    described.devices.push_back({.type = std::to_string(device.type),
                                 .id = device.id,
                                 .name = device.name,
                                 .vendor = device.vendor,
                                 .architecture = device.architecture,
                                 .driver_version = device.driver_version});
  }
  EPHOST_ASSIGN_OR_RETURN(described.compatibility, provider.compatibility());
  return described;
}

}  // namespace

Result<context::CacheIngredients> collect_cache_ingredients(const PreparedModel& prepared,
                                                            const onnx_io::ImportReport& read,
                                                            const SessionConfig& config,
                                                            std::string host_version) {
  const KnownChecksums known(config.known_checksums_dir);
  const Cancellation& cancellation = prepared.cancellation;
  context::CacheIngredients ingredients{
      .host_version = std::move(host_version),
      .abi = abi_version(EPH_ABI_MINOR),
      .session_options = {
          {"ep.context_node_name_prefix", config.context_node_name_prefix},
          // They determine what is folded. Folding does not depend on time; see fold_budget.h.
          {std::string(optimize::kMaxFoldedBytesKey), std::to_string(config.fold_limits.max_bytes)},
          {std::string(optimize::kMaxFoldingWorkKey), std::to_string(config.fold_limits.max_work)},
          {"optimization.disabled", config.passes.disabled_names()},
          // A session that sets it must not find an entry that it would have refused to compile.
          {"session.disable_cpu_ep_fallback", config.disable_cpu_fallback ? "1" : "0"},
          {"session.disable_quant_qdq", config.disable_quant_qdq ? "1" : "0"},
          {"session.function_inlining_max_nodes", std::to_string(config.max_inlined_nodes)},
          {std::string(onnx_io::kMaxDenseBytesKey), std::to_string(config.max_dense_bytes)},
      }};
  for (const auto& [name, size] : config.dimension_overrides.by_name) {
    ingredients.session_options.emplace_back(std::string(kDimensionByNamePrefix) + name,
                                             std::to_string(size));
  }
  for (const auto& [denotation, size] : config.dimension_overrides.by_denotation) {
    ingredients.session_options.emplace_back(std::string(kDimensionByDenotationPrefix) + denotation,
                                             std::to_string(size));
  }
  for (const auto& [input, sizes] : config.dimension_overrides.by_input) {
    std::vector<std::string> texts;
    for (const int64_t size : sizes) texts.push_back(std::to_string(size));
    ingredients.session_options.emplace_back(std::string(kDimensionByInputPrefix) + input,
                                             join(texts, ","));
  }
  if (!config.shape_profiles.empty()) {  // providers may compile for them
    ingredients.session_options.emplace_back(std::string(kShapeProfilesKey),
                                             to_string(config.shape_profiles));
  }
  EPHOST_ASSIGN_OR_RETURN(ingredients.model, checksum_of(read.model, known, cancellation));
  for (const auto& [location, content] : read.external_data) {
    EPHOST_ASSIGN_OR_RETURN(context::ContentChecksum checksum,
                            checksum_of(content, known, cancellation));
    ingredients.external_data.emplace(location, checksum);
  }
  for (const auto& [name, tensor] : read.given_initializers) {
    EPHOST_ASSIGN_OR_RETURN(const context::ContentChecksum checksum,
                            checksum_of_elements(tensor, known, cancellation));
    ingredients.session_options.emplace_back("initializer " + name, context::to_string(checksum));
  }
  for (const auto& provider : prepared.providers) {
    for (const std::string& layer : provider->plugin().cache_ingredients) {
      ingredients.session_options.emplace_back("layer of " + provider->name(), layer);
    }
    EPHOST_ASSIGN_OR_RETURN(context::CacheProvider described,
                            describe_provider(*provider, known, cancellation));
    ingredients.providers.push_back(std::move(described));
  }
  return ingredients;
}

}  // namespace ephost::session
