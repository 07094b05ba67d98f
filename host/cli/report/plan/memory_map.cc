#include "host/cli/report/plan/memory_map.h"

#include <algorithm>
#include <map>

#include "host/cli/report/json.h"
#include "host/cli/report/page.h"
#include "host/cli/report/plan/memory_map_script.h"

namespace ephost::cli {
namespace {

int64_t provider_of(const MapBox& box) { return box.provider ? int64_t{*box.provider} : -1; }

// The boxes column by column; texts that many boxes share are there once.
Json boxes_json(const std::vector<MapBox>& boxes) {
  std::vector<std::string> names;
  std::vector<uint64_t> begins, offsets, sizes;
  std::vector<int64_t> lengths, providers, workspaces, texts;
  std::map<std::string_view, int64_t> known;
  Json whats = Json::array();
  Json insides = Json::array();
  for (size_t i = 0; i < boxes.size(); ++i) {
    const MapBox& box = boxes[i];
    names.push_back(box.name);
    begins.push_back(box.begin);
    lengths.push_back(static_cast<int64_t>(box.end - box.begin));
    offsets.push_back(box.offset);
    sizes.push_back(box.size);
    providers.push_back(provider_of(box));
    workspaces.push_back(box.is_workspace ? 1 : 0);
    const auto [found, is_new] = known.try_emplace(box.what, static_cast<int64_t>(known.size()));
    if (is_new) whats.push_back(page_text(box.what));
    texts.push_back(found->second);
    if (box.inner_values > 0) {
      insides.push_back(Json(std::vector<uint64_t>{i, box.inner_values, box.inner_live}));
    }
  }
  return {{"names", packed_names(names)},
          {"begins", Json(begins)},
          {"lengths", Json(run_lengths(lengths))},
          {"offsets", Json(offsets)},
          {"sizes", Json(sizes)},
          {"providers", Json(run_lengths(providers))},
          {"workspaces", Json(run_lengths(workspaces))},
          {"texts", Json(texts)},
          {"whats", whats},
          {"insides", insides}};
}

Json block_json(const MapBlock& block) {
  Json live = Json::array();
  for (const auto& [time, bytes] : block.live) {
    live.push_back(time);
    live.push_back(bytes);
  }
  return {{"name", page_text(block.name)},    {"peak", block.peak},
          {"lower_bound", block.lower_bound}, {"optimal", block.proved_optimal},
          {"boxes", boxes_json(block.boxes)}, {"live", live}};
}

Json map_steps_json(const std::vector<MapStep>& steps) {
  std::vector<std::string> nodes;
  std::vector<std::string> operators;
  Json numbers = Json::array();
  Json waits = Json::array();  // pairs of steps
  std::vector<uint64_t> lanes;
  std::vector<uint64_t> critical;
  for (size_t i = 0; i < steps.size(); ++i) {
    const MapStep& step = steps[i];
    if (step.lane != 0) {
      lanes.resize(i);
      lanes.push_back(step.lane);
    }
    if (step.is_critical) critical.push_back(i);
    for (const uint32_t other : step.waits) waits.push_back(Json(std::vector<uint64_t>{other, i}));
    nodes.push_back(step.node);
    operators.push_back(step.op);
    numbers.push_back(
        Json(std::vector<uint64_t>{step.provider, step.live, step.weights, step.workspace,
                                   step.inner_values, step.inner_live}));
  }
  return {{"nodes", packed_names(nodes)},
          {"operators", packed_names(operators)},
          {"numbers", numbers},
          {"lanes", Json(lanes)},
          {"waits", waits},
          {"critical", Json(critical)}};
}

Json map_json(const MemoryMap& map) {
  Json providers = Json::array();
  for (const std::string& provider : map.providers) providers.push_back(page_text(provider));
  Json streams = Json::array();
  for (const std::string& stream : map.streams) streams.push_back(page_text(stream));
  Json blocks = Json::array();
  for (const MapBlock& block : map.blocks) blocks.push_back(block_json(block));
  Json notes = Json::array();
  for (const std::string& note : map.notes) notes.push_back(page_text(note));
  Json json = {{"title", page_text(map.name)},
               {"providers", providers},
               {"streams", streams},
               {"blocks", blocks},
               {"end", map.end},
               {"notes", notes},
               {"steps", map_steps_json(map.steps)}};
  if (!map.step_seconds.empty()) json.set("times", Json(map.step_seconds));
  return json;
}

}  // namespace

std::vector<std::pair<uint64_t, uint64_t>> live_bytes(std::span<const LiveRange> ranges) {
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> changes;  // bytes that begin and end
  for (const LiveRange& range : ranges) {
    changes[range.begin].first += range.size;
    changes[range.end].second += range.size;
  }
  std::vector<std::pair<uint64_t, uint64_t>> live;
  uint64_t now = 0;
  for (const auto& [time, change] : changes) {
    now = now + change.first - change.second;
    live.emplace_back(time, now);
  }
  return live;
}

std::string to_html(const std::string& title, std::span<const MemoryMap> maps) {
  Json graphs = Json::array();
  for (const MemoryMap& map : maps) graphs.push_back(map_json(map));
  return make_page(page_text(title), {{"graphs", graphs}}, kMemoryMapScript);
}

}  // namespace ephost::cli
