// Generates context models: collects what the pipeline compiled, lets the providers write their
// payloads, and passes both to host/context. Used by sessions with ep.context_enable and by
// compile_model.
#pragma once

#include <ephost/status.h>
#include <ephost/types/compilation.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/bridge/computation.h"
#include "host/bridge/provider.h"
#include "host/context/write/writer.h"
#include "host/graph/graph.h"
#include "host/session/config/given_options.h"
#include "host/session/config/session_config.h"
#include "host/session/contexts/payload_digests.h"
#include "host/session/groups/compiled_model.h"
#include "host/session/model/model_source.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

// A copy of the model that shares its computations.
[[nodiscard]] CompiledModel share(const CompiledModel& model);

// Copies what is needed of a model that has just been compiled.
[[nodiscard]] CompiledModel collect_compiled(const PreparedModel& prepared,
                                             context::WriteOptions options);

// Lets the providers write the contexts of all models at once to `writer`, whose own model is the
// first of them, and copies the reused payloads, which only a model outside of a group has.
// CANCELLED or DEADLINE_EXCEEDED once cancellation is requested; with `expected`, EP_FAIL before
// anything is published if a provider breaks its promise to write the same as then.
[[nodiscard]] Result<context::WrittenContext> write_compiled(
    context::ContextWriter writer, std::vector<CompiledModel> models,
    const Cancellation& cancellation = {}, const PayloadDigests* expected = nullptr);

// Lets the providers that promise to be deterministic write the contexts of a model that has just
// been compiled, to nowhere.
[[nodiscard]] Result<PayloadDigests> digest_contexts(const PreparedModel& prepared);

// The output as configured; nullopt unless ep.context_enable is set. INVALID_ARGUMENT if the output
// has no name.
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

  // Refuses an impossible output before the model is read: INVALID_ARGUMENT, or FAIL if the output
  // exists. `write` returns CANCELLED or DEADLINE_EXCEEDED once `cancellation` is requested.
  static Result<std::unique_ptr<ContextGeneration>> create(context::WriteOptions options,
                                                           WithoutNodes without_nodes,
                                                           const Cancellation& cancellation);

  // To be called from PipelineHooks::after_import: INVALID_ARGUMENT if the output would overwrite a
  // file that the model was read from.
  [[nodiscard]] Status check(const PreparedModel& prepared);

  // What the providers that promise to be deterministic must write; borrowed. To be called before
  // `write`.
  void expect(const PayloadDigests* digests) { expected_ = digests; }

  // Context models of specialisations that exist already, beside the output, by file name: the
  // model names them. To be called before `write`.
  void state_specializations(std::map<std::string, context::ContentChecksum> written);

  // To be called once, from PipelineHooks::after_compile: writes and publishes the context model.
  [[nodiscard]] Status write(const PreparedModel& prepared);

  // The same if a context model of the cache store was loaded instead of the model.
  [[nodiscard]] Status write_again(const PreparedModel& prepared);

  // What `write` published; without files if it wrote nothing.
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
  const PayloadDigests* expected_ = nullptr;
  std::vector<CompiledPartition> written_partitions_;
  context::WrittenContext written_;
};

}  // namespace ephost::session
