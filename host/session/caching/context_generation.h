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
#include "host/context/write/writer.h"
#include "host/graph/graph.h"
#include "host/session/model_source.h"
#include "host/session/pipeline/pipeline.h"
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
// the first of them. MODEL_LOAD_CANCELED once that is requested.
[[nodiscard]] Result<context::WrittenContext> write_compiled(context::ContextWriter writer,
                                                             std::vector<CompiledModel> models,
                                                             const Cancellation& cancellation = {});

// What the configuration says about the output. Nothing unless ep.context_enable is set;
// INVALID_ARGUMENT where the output has no name.
[[nodiscard]] Result<std::optional<context::WriteOptions>> session_write_options(
    const ModelSource& source, const SessionConfig& config);

class ContextGeneration {
 public:
  // What to do if there is no EPContext node to write.
  enum class WithoutNodes {
    kWarn,  // and write nothing
    kWritePlainModel,
    kFail,
  };

  // Everything that is wrong with the output is found here, before the model is read:
  // INVALID_ARGUMENT, FAIL where the output exists.
  // MODEL_LOAD_CANCELED comes from `write` once that is requested.
  static Result<std::unique_ptr<ContextGeneration>> create(context::WriteOptions options,
                                                           WithoutNodes without_nodes,
                                                           const Cancellation& cancellation);

  // Finds, once the model is read, whether the output would overwrite what it is read from; for
  // PipelineHooks::after_import. INVALID_ARGUMENT.
  [[nodiscard]] Status check(const PreparedModel& prepared);

  // Writes and publishes, once; for PipelineHooks::after_compile.
  [[nodiscard]] Status write(const PreparedModel& prepared);

  // The same where a context model took the model's place.
  [[nodiscard]] Status write_again(const PreparedModel& prepared);

  // What `write` published; no files if it wrote nothing.
  [[nodiscard]] const context::WrittenContext& written() const { return written_; }
  // The partitions that became EPContext nodes.
  [[nodiscard]] const std::vector<CompiledPartition>& partitions() const {
    return written_partitions_;
  }

 private:
  ContextGeneration(context::WriteOptions options, context::ContextWriter writer,
                    WithoutNodes without_nodes, const Cancellation& cancellation)
      : options_(std::move(options)),
        writer_(std::move(writer)),
        without_nodes_(without_nodes),
        cancellation_(cancellation) {}

  context::WriteOptions options_;
  context::ContextWriter writer_;
  WithoutNodes without_nodes_;
  Cancellation cancellation_;
  std::vector<CompiledPartition> written_partitions_;
  context::WrittenContext written_;
};

}  // namespace ephost::session
