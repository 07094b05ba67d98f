// compile_model: turns a model into a context model, which later sessions load without compiling.
// The names follow ONNX Runtime's ModelCompilationOptions.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/compilation.h>
#include <ephost/detail/records/model_report.h>
#include <ephost/environment.h>
#include <ephost/session_options.h>
#include <ephost/status.h>
#include <ephost/types/compilation.h>

#include <string>
#include <utility>

namespace ephost {
inline namespace v1 {

// Where the context model of a model is written by default: `<model>_ctx.onnx` beside it.
[[nodiscard]] inline std::string default_context_model_path(const std::string& model) {
  char* text = nullptr;
  detail::expect_success(detail::api().model->default_context_path(model.c_str(), &text));
  std::string path(text);
  detail::api().release_text(text);
  return path;
}

// Compiles the partitions of a model and writes the context model, all files together or none.
// INVALID_ARGUMENT for contradictory options or an impossible output, before anything is compiled;
// INVALID_GRAPH if the model is a context model already; CANCELLED and DEADLINE_EXCEEDED when
// cancelled through `options`. The `ep.context_*` entries of `options` are the defaults for what
// `compilation` does not set; `ep.context_enable` is ignored.
EPHOST_ON_DEMAND
[[nodiscard]] inline Result<CompileReport> compile_model(
    const Environment& environment, const SessionOptions& options,
    const ModelCompilationOptions& compilation) {
  if (compilation.output_model_buffer != nullptr && compilation.output_model_write_func) {
    return Status(StatusCode::kInvalidArgument,
                  "output_model_buffer and output_model_write_func are both set; give one output");
  }
  detail::CompilationRecord record(compilation);
  auto report = detail::take_report<CompileReport>([&](const ephost_compile_report** out_report) {
    return detail::api().model->compile(environment.handle(), options.handle(), record.get(),
                                        out_report);
  });
  if (report.ok()) record.give_output();
  return report;
}

}  // namespace v1
}  // namespace ephost
