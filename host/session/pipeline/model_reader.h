// The reader of a model with everything that belongs to it: external data, and the payloads of a
// context model. Called by the pipeline, which keeps it for as long as the model is being prepared.
#pragma once

#include <ephost/status.h>

#include <filesystem>

#include "host/context/read/loader.h"
#include "host/onnx_io/import/import.h"
#include "host/session/config/given_options.h"
#include "host/session/config/session_config.h"
#include "host/session/model/model_source.h"
#include "host/session/model/prepared_model.h"
#include "host/trust/verifier.h"

namespace ephost::session {

class GroupSeat;

class ModelReader {
 public:
  // Borrows both. Without `warns`, nothing is said about options that have no effect. With
  // `defers_inference`, `import` leaves the inference of types and the alignment
  // of initializers to `complete_import`, because a cache may replace the model in between.
  ModelReader(const GivenOptions& options, const SessionConfig& config, bool defers_inference,
              bool warns = true);

  // Reads the model into `prepared` and notes the files that were read. Opens `source.file` if the
  // caller has not.
  [[nodiscard]] Status import(ModelSource& source, PreparedModel& prepared);
  // Reads a context model of the cache store instead of the model that was read before.
  [[nodiscard]] Status replace(ModelSource& source, PreparedModel& prepared);
  // Holds a context model against `policy`, the strictest of all; see model_signature.h. To be
  // called once it is settled which model is used, while the report exists.
  [[nodiscard]] Status check_signature(const ModelSource& source, const PreparedModel& prepared,
                                       const trust::Verifier& verifier, SignaturePolicy policy);
  // Does what `import` deferred.
  [[nodiscard]] Status complete_import(PreparedModel& prepared) const;

  // The report of the last `import`; empty after `release_report`.
  [[nodiscard]] const onnx_io::ImportReport& report() const { return report_; }
  void release_report() { report_ = {}; }

  // Maps and checks the payloads that the model's EPContext nodes state. With `defers_checksums`,
  // payloads of providers that validate their own contexts are checked in threads of their own (see
  // LoadedContext). `seat` is null for a session that shares nothing.
  [[nodiscard]] Status load_context(PreparedModel& prepared, GroupSeat* seat,
                                    bool defers_checksums);

 private:
  [[nodiscard]] Result<onnx_io::ImportOptions> make_options(const ModelSource& source,
                                                            const PreparedModel& prepared) const;
  // About what was given and is not part of the model.
  void warn_about_options() const;
  void set_load_options(const ModelSource& source, const PreparedModel& prepared);

  const GivenOptions& options_;
  const SessionConfig& config_;
  bool defers_inference_;
  bool warns_;
  std::filesystem::path external_initializers_folder_;
  bool is_replacement_ = false;  // what is read is a context model of the cache store
  context::LoadOptions load_options_;
  onnx_io::ImportReport report_;
};

// Infers types and shapes of all values; applies the operators of plugins before, if there are any.
// Remarks are added to `prepared.notes`. Fails only where a node does not conform to the definition
// of a plugin (onnx_io/inference/infer.h).
[[nodiscard]] Status infer_shapes(PreparedModel& prepared);

// What a context model has compiled for a shape that turned out to be wrong cannot run.
// INVALID_GRAPH.
[[nodiscard]] Status check_compiled_shapes(const PreparedModel& prepared);

}  // namespace ephost::session
