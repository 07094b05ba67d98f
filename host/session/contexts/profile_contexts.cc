#include "host/session/contexts/profile_contexts.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "host/base/files/containment/contained_path.h"
#include "host/base/files/containment/hub_cache.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/base/text.h"

namespace ephost::session {
namespace {

// Longer names are shortened to a checksum: a file name has at most 255 bytes.
constexpr size_t kMaxExtentsText = 100;

bool admits(const graph::Shape& open, const graph::Shape& fixed) {
  return std::ranges::equal(open, fixed, [](int64_t base, int64_t extent) {
    if (graph::is_static_dim(base)) return base == extent;
    return !graph::is_static_dim(extent) || extent > 0;
  });
}

Status check_values(const graph::Model& base, std::span<const graph::ValueId> of_base,
                    const graph::Model& specialized, std::span<const graph::ValueId> of_specialized,
                    std::string_view role) {
  if (of_base.size() != of_specialized.size()) {
    return Status(StatusCode::kInvalidGraph,
                  formatted("it has {} {}s, and the model has {}; compile the model again",
                            of_specialized.size(), role, of_base.size()));
  }
  for (size_t i = 0; i < of_base.size(); ++i) {
    const graph::Value& wanted = base.graph.values[of_base[i]];
    const graph::Value& found = specialized.graph.values[of_specialized[i]];
    const bool has_shapes = wanted.type.shape && found.type.shape;
    if (wanted.name == found.name && wanted.type.kind == found.type.kind &&
        wanted.type.element == found.type.element &&
        (!has_shapes || admits(*wanted.type.shape, *found.type.shape))) {
      continue;
    }
    return Status(
        StatusCode::kInvalidGraph,
        formatted("its {} {} is {}, where the model has {}, {}; compile the model again", role,
                  quote(found.name), graph::to_string(found.type, specialized.symbols),
                  quote(wanted.name), graph::to_string(wanted.type, base.symbols)));
  }
  return Status::ok_status();
}

}  // namespace

Result<std::vector<std::vector<int64_t>>> best_extents(
    std::span<const bridge::ShapeProfile> profiles, const InputExtents& inputs) {
  std::vector<std::vector<int64_t>> all;
  if (inputs.size() == 0) return all;
  for (const bridge::ShapeProfile& profile : profiles) {
    std::vector<int64_t> extents(inputs.size());
    const std::string missing =
        inputs.fill(extents, [&](const std::string& input, const std::string&, uint32_t axis) {
          const auto range = std::ranges::find_if(profile, [&](const bridge::ExtentRange& one) {
            return one.input == input && one.axis == axis && !one.is_value;
          });
          return range == profile.end() ? nullptr : &range->best;
        });
    if (!missing.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("a profile of the session has no extent for {}, which has to be "
                              "fixed; give all of {}",
                              quote(missing), join(inputs.names(), ", ")));
    }
    if (std::ranges::find(all, extents) == all.end()) all.push_back(std::move(extents));
  }
  return all;
}

std::filesystem::path specialized_model_path(const std::filesystem::path& output,
                                             std::span<const int64_t> extents) {
  std::vector<std::string> texts;
  for (const int64_t extent : extents) texts.push_back(std::to_string(extent));
  std::string text = join(texts, "x");
  if (text.size() > kMaxExtentsText) {
    text = to_hex(content_checksum(std::as_bytes(std::span(text.data(), text.size()))));
  }
  std::filesystem::path path = output;
  path.replace_filename(output.stem().native() + "_" + text + ".onnx");
  return path;
}

Result<ModelSource> open_specialized_model(const std::filesystem::path& folder,
                                           const std::string& name,
                                           const context::ContentChecksum& stated,
                                           const KnownChecksums& known,
                                           const Cancellation& cancellation) {
  EPHOST_ASSIGN_OR_RETURN(const InputFile file,
                          open_contained(folder, name, StatusCode::kInvalidGraph,
                                         posix_file_system(), hub_folders_of(folder)));
  EPHOST_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::map(file));
  EPHOST_ASSIGN_OR_RETURN(const Hash128 hash, known.checksum_of(mapped.bytes(), cancellation));
  const context::ContentChecksum found{.hash = hash, .size = mapped.bytes().size()};
  if (found != stated) {
    return Status(StatusCode::kInvalidGraph,
                  formatted("its checksum is {}, and the context model states {}; compile the "
                            "model again",
                            context::to_string(found), context::to_string(stated)));
  }
  return ModelSource{.path = folder / name,
                     .file = std::make_shared<const MappedFile>(std::move(mapped))};
}

Status check_interface(const graph::Model& base, const graph::Model& specialized) {
  EPHOST_RETURN_IF_ERROR(
      check_values(base, base.graph.inputs, specialized, specialized.graph.inputs, "input"));
  return check_values(base, base.graph.outputs, specialized, specialized.graph.outputs, "output");
}

}  // namespace ephost::session
