// Generation of the context cache: takes what the pipeline compiled, has the providers write their
// payloads, and hands both to host/context. Used by sessions with ep.context_enable and by
// compile_model.
#pragma once

#include <ephost/compile_model.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/bridge/computation.h"
#include "host/bridge/provider.h"
#include "host/context/writer.h"
#include "host/graph/graph.h"
#include "host/session/model_source.h"
#include "host/session/pipeline.h"
#include "host/session/session_config.h"

namespace ephost::session {

// A compiled partition, with what its context is written from.
struct CompiledNode {
  std::shared_ptr<bridge::Provider> provider;
  bridge::Computation computation;      // shared with the session
  context::WrittenPartition partition;  // without what the provider states of it
};

// A compiled model whose context is to be written.
struct CompiledModel {
  context::WriteOptions options;
  graph::Model model;
  std::vector<CompiledNode> nodes;  // of providers that can write a context
};

// The same model and computations once more.
[[nodiscard]] CompiledModel share(const CompiledModel& model);

// Copies what matters of a model that was compiled just now.
[[nodiscard]] CompiledModel collect_compiled(const PreparedModel& prepared,
                                             context::WriteOptions options);

// Has the providers write the context of all the models at once, with `writer`, whose own model is
// the first of them.
[[nodiscard]] Result<context::WrittenContext> write_compiled(context::ContextWriter writer,
                                                             std::vector<CompiledModel> models);

// What the configuration says about the output. Nothing unless ep.context_enable is set;
// INVALID_ARGUMENT where the output has no name.
[[nodiscard]] Result<std::optional<context::WriteOptions>> session_write_options(
    const ModelSource& source, const SessionConfig& config);

class ContextGeneration {
 public:
  // Everything that is wrong with the output is found here, before the model is read:
  // INVALID_ARGUMENT, FAIL where the output exists.
  static Result<std::unique_ptr<ContextGeneration>> create(context::WriteOptions options,
                                                           bool write_without_partitions);

  // Writes and publishes, once; for PipelineHooks::after_compile. Without compiled partitions it
  // writes the plain model, or warns and writes nothing, as `create` was told.
  [[nodiscard]] Status write(const PreparedModel& prepared);

  // What `write` published; no files if it wrote nothing.
  [[nodiscard]] const context::WrittenContext& written() const { return written_; }
  // The partitions that became EPContext nodes.
  [[nodiscard]] const std::vector<CompiledPartition>& partitions() const {
    return written_partitions_;
  }

 private:
  ContextGeneration(context::WriteOptions options, context::ContextWriter writer,
                    bool write_without_partitions)
      : options_(std::move(options)),
        writer_(std::move(writer)),
        write_without_partitions_(write_without_partitions) {}

  context::WriteOptions options_;
  context::ContextWriter writer_;
  bool write_without_partitions_;
  std::vector<CompiledPartition> written_partitions_;
  context::WrittenContext written_;
};

}  // namespace ephost::session
