#include "host/session/tools/best_shapes.h"

#include <map>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/session/config/session_config.h"
#include "host/session/contexts/profile_contexts.h"
#include "host/session/shapes/input_extents.h"

namespace ephost::session {
namespace {

// For example "DnnlExecutionProvider would take 12 nodes, or run them better, if batch was fixed".
std::vector<std::string> describe_wishes(const PreparedModel& prepared,
                                         const InputExtents& inputs) {
  std::vector<std::string> notes;
  if (inputs.size() == 0) return notes;
  std::map<size_t, size_t> nodes;
  for (const WishedNodes& wished : prepared.shape_wishes.nodes) {
    nodes[wished.provider] += wished.nodes.size();
  }
  for (const auto& [provider, count] : nodes) {
    notes.push_back(formatted(
        "{} would take {} node{} of the model, or run {} better, if the extents of inputs were "
        "fixed: {}; sessions specialise the model for the shapes that come",
        prepared.providers[provider]->name(), count, count == 1 ? "" : "s",
        count == 1 ? "it" : "them", join(inputs.names(), ", ")));
  }
  return notes;
}

}  // namespace

Result<ShapedModel> prepare_best_shape(EnvironmentState& environment,
                                       const std::filesystem::path& model,
                                       const GivenOptions& options, Stage until) {
  ShapedModel shaped;
  PipelineHooks hooks;
  hooks.opens_devices = until == Stage::kPlanned;
  EPHOST_ASSIGN_OR_RETURN(SessionSettings settings, SessionSettings::read(options));
  EPHOST_ASSIGN_OR_RETURN(shaped.prepared,
                          prepare_model(environment, {model, {}}, settings, until, hooks));
  const InputExtents inputs(shaped.prepared.model, shaped.prepared.shape_wishes);
  EPHOST_ASSIGN_OR_RETURN(const auto best, best_extents(shaped.prepared.shape_profiles, inputs));
  if (best.empty()) {
    shaped.notes = describe_wishes(shaped.prepared, inputs);
    return shaped;
  }
  settings.config.shape_profiles.clear();
  inputs.add_overrides(best.front(), settings.config.dimension_overrides);
  shaped.notes.push_back(
      formatted("the model is specialised for {}", inputs.describe(best.front())));
  EPHOST_ASSIGN_OR_RETURN(shaped.prepared,
                          prepare_model(environment, {model, {}}, settings, until, hooks));
  return shaped;
}

}  // namespace ephost::session
