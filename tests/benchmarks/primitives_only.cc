#include "tests/benchmarks/primitives_only.h"

#include <deque>
#include <memory>
#include <utility>

#include "host/base/files/file.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/graph_view.h"
#include "host/bridge/provider.h"
#include "host/context/ep_context_node.h"
#include "host/graph/extract.h"
#include "host/manifest/choose.h"
#include "host/onnx_io/import/import.h"
#include "host/session/environment/environment_state.h"

namespace ephost::benchmarks {
namespace {

namespace fs = std::filesystem;

// The EPContext nodes of a model, each as a graph of its own, and the plugins for them.
struct Nodes {
  graph::Model model;
  std::deque<context::EpContextNode> attributes;
  std::deque<graph::Graph> graphs;
  std::deque<bridge::GraphView> views;
  fs::path binary;
  std::shared_ptr<session::EnvironmentState> environment;
};

Result<std::unique_ptr<Nodes>> read_nodes(const fs::path& context_model) {
  EnvironmentOptions options;
  options.plugin_directories = {EPHOST_PLUGINS};
  options.search_default_directories = false;
  auto nodes = std::make_unique<Nodes>();
  EPHOST_ASSIGN_OR_RETURN(nodes->environment, session::create_environment(options));
  EPHOST_ASSIGN_OR_RETURN(nodes->model, onnx_io::import_model(context_model));
  for (const context::NodePlace& place : context::find_ep_context_nodes(nodes->model.graph)) {
    EPHOST_ASSIGN_OR_RETURN(context::EpContextNode read,
                            context::read_ep_context_node(*place.graph, place.node));
    if (read.main_context) nodes->binary = context_model.parent_path() / read.reference;
    const graph::NodeId node[] = {place.node};
    nodes->graphs.push_back(graph::extract_subgraph(*place.graph, node, read.partition_name).graph);
    nodes->views.emplace_back(nodes->graphs.back(),
                              std::make_shared<bridge::ModelView>(nodes->model),
                              bridge::GraphView::Role::kWhole);
    nodes->attributes.push_back(std::move(read));
  }
  return nodes;
}

Result<std::shared_ptr<bridge::Provider>> create_provider(session::EnvironmentState& state) {
  EPHOST_ASSIGN_OR_RETURN(const manifest::Candidates candidates,
                          manifest::find_candidates(*state.plugins.all(), {"dnnl", {}, {}}));
  const manifest::FoundPlugin& found = candidates.plugins.front();
  EPHOST_ASSIGN_OR_RETURN(auto plugin, state.registry.load(found));
  // As in a session, since what is restored depends on the number of threads.
  const uint32_t threads = ThreadPool::default_thread_count();
  return bridge::Provider::create(
      std::move(plugin), {},
      std::make_unique<bridge::HostServices>(
          found.manifest.provider, session::plugin_log(), bridge::ProgressHooks{},
          bridge::ThreadOffer{ThreadPool::borrow(state.threads), threads, threads}));
}

Result<std::vector<bridge::Computation>> restore(const Nodes& nodes, const MappedFile& binary,
                                                 bridge::Provider& provider) {
  std::deque<eph_ep_context> contexts;
  std::vector<bridge::CompileRequest> requests;
  for (size_t i = 0; i < nodes.attributes.size(); ++i) {
    const context::EpContextNode& node = nodes.attributes[i];
    eph_ep_context& context = contexts.emplace_back();
    context.struct_size = sizeof(context);
    context.payload = {binary.bytes().data(), binary.bytes().size()};
    context.partition_name = bridge::to_abi(node.partition_name);
    context.source = bridge::to_abi(node.source);
    context.main_context = node.main_context ? 1 : 0;
    requests.push_back({&nodes.views[i], node.partition_name, &context});
  }
  return provider.compile(requests);
}

}  // namespace

Result<Sample> time_primitives_only(const fs::path& context_model) {
  EPHOST_ASSIGN_OR_RETURN(const std::unique_ptr<Nodes> nodes, read_nodes(context_model));
  const Stopwatch stopwatch;
  EPHOST_ASSIGN_OR_RETURN(const MappedFile binary, MappedFile::open(nodes->binary));
  EPHOST_ASSIGN_OR_RETURN(const auto provider, create_provider(*nodes->environment));
  const double loaded = stopwatch.seconds();
  EPHOST_ASSIGN_OR_RETURN(const auto computations, restore(*nodes, binary, *provider));
  const double restored = stopwatch.seconds();
  return Sample{restored, {{"providers", loaded}, {"compile", restored - loaded}}};
}

}  // namespace ephost::benchmarks
