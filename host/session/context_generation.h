// Generation of the context cache: takes what the pipeline compiled, has the providers write their
// payloads, and hands both to host/context. Used by sessions with ep.context_enable and by
// compile_model.
#pragma once

#include <ephost/compile_model.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <memory>
#include <vector>

#include "host/context/writer.h"
#include "host/session/model_source.h"
#include "host/session/pipeline.h"

namespace ephost::session {

class ContextGeneration {
 public:
  // Null unless ep.context_enable is set. Everything that is wrong with the output is found here,
  // before the model is read: INVALID_ARGUMENT, FAIL where the output exists.
  static Result<std::unique_ptr<ContextGeneration>> for_session(const ModelSource& source,
                                                                const SessionOptions& options);
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
  ContextGeneration(context::ContextWriter writer, bool write_without_partitions)
      : writer_(std::move(writer)), write_without_partitions_(write_without_partitions) {}
  Status write_provider(const PreparedModel& prepared, uint32_t provider);

  context::ContextWriter writer_;
  bool write_without_partitions_;
  std::vector<context::WrittenPartition> nodes_;
  std::vector<CompiledPartition> written_partitions_;
  std::map<std::string, std::string> compatibility_;  // by source
  context::WrittenContext written_;
};

}  // namespace ephost::session
