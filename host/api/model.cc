#include <span>
#include <string>
#include <vector>

#include "host/api/handles.h"
#include "host/api/key_values.h"
#include "host/api/report.h"
#include "host/api/tables.h"
#include "host/session/compile/compile_model.h"
#include "host/session/tools/partition_model.h"
#include "host/session/tools/plan_model.h"
#include "host/session/tools/verify_context.h"

namespace ephost::api {
namespace {

// ---- Compilation ------------------------------------------------------------------------------

ephost_initializer to_record(const InitializerInfo& initializer, const std::string& name) {
  ephost_initializer record = {};
  record.struct_size = sizeof(record);
  record.name = name.c_str();
  record.element_type = static_cast<int32_t>(initializer.element_type);
  record.is_external = initializer.external != nullptr ? 1 : 0;
  record.shape = initializer.shape.data();
  record.rank = initializer.shape.size();
  record.data = initializer.bytes.data();
  record.byte_size = initializer.bytes.size();
  record.file = "";
  if (initializer.external == nullptr) return record;
  record.file = initializer.external->file_path.c_str();
  record.file_offset = initializer.external->file_offset;
  record.file_byte_size = initializer.external->byte_size;
  return record;
}

Result<InitializerLocation> place_initializer(ephost_place_initializer function, void* context,
                                              const InitializerInfo& initializer) {
  const std::string name(initializer.name);
  const ephost_initializer record = to_record(initializer, name);
  int32_t location = EPHOST_INITIALIZER_EMBEDDED;
  EPHOST_RETURN_IF_ERROR(from_c(function(context, &record, &location)));
  if (location >= EPHOST_INITIALIZER_EMBEDDED && location <= EPHOST_INITIALIZER_ORIGINAL) {
    return static_cast<InitializerLocation>(location);
  }
  return Status(StatusCode::kInvalidArgument, "the application placed initializer \"" + name +
                                                  "\" at location " + std::to_string(location) +
                                                  "; give one of EPHOST_INITIALIZER_*");
}

void set_functions(const ephost_compilation& given, ModelCompilationOptions& options) {
  void* const context = given.context;
  if (const ephost_read read = given.input_model_read_func) {
    options.input_model_read_func = [=](std::span<std::byte> buffer) -> Result<size_t> {
      uint64_t size = 0;
      EPHOST_RETURN_IF_ERROR(from_c(read(context, buffer.data(), buffer.size(), &size)));
      return static_cast<size_t>(size);
    };
  }
  if (const ephost_write write = given.output_model_write_func) {
    options.output_model_write_func = [=](std::span<const std::byte> bytes) {
      return from_c(write(context, bytes.data(), bytes.size()));
    };
  }
  if (const ephost_write_context_data write = given.ep_context_data_write_func) {
    options.ep_context_data_write_func = [=](std::string_view name,
                                             std::span<const std::byte> bytes) {
      return from_c(write(context, std::string(name).c_str(), bytes.data(), bytes.size()));
    };
  }
  if (const auto function = given.output_model_get_initializer_location_func) {
    options.output_model_get_initializer_location_func = [=](const InitializerInfo& initializer) {
      return place_initializer(function, context, initializer);
    };
  }
}

ModelCompilationOptions to_options(const ephost_compilation* compilation) {
  const ephost_compilation given = adopt_record(compilation);
  ModelCompilationOptions options;
  set_functions(given, options);
  options.input_model_path = text_of(given.input_model_path);
  options.input_model_buffer = {static_cast<const std::byte*>(given.input_model),
                                given.input_model_size};
  options.output_model_path = text_of(given.output_model_path);
  if (given.ep_context_embed_mode != EPHOST_UNSET) {
    options.ep_context_embed_mode = given.ep_context_embed_mode == EPHOST_YES;
  }
  options.ep_context_binary_folder = text_of(given.ep_context_binary_folder);
  options.ep_context_binary_model_name = text_of(given.ep_context_binary_model_name);
  options.output_model_external_initializers_file =
      text_of(given.output_model_external_initializers_file);
  options.external_initializers_size_threshold = given.external_initializers_size_threshold;
  if (given.external_initializers_alignment != 0) {
    options.external_initializers_alignment = given.external_initializers_alignment;
  }
  options.target = text_of(given.target);
  options.check_deterministic = given.check_deterministic != 0;
  options.error_if_no_nodes_compiled = given.error_if_no_nodes_compiled != 0;
  options.error_if_output_exists = given.error_if_output_exists != 0;
  options.force_overwrite = given.force_overwrite != 0;
  return options;
}

ephost_status* compile(const ephost_environment* environment, const ephost_session_options* options,
                       const ephost_compilation* compilation,
                       const ephost_compile_report** out_report) {
  if (out_report != nullptr) *out_report = nullptr;
  return guarded("compiling a model", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(compilation, "ephost_compilation"));
    EPHOST_ASSIGN_OR_RETURN(
        const CompileReport report,
        session::compile_model(*environment->state, options_of(options), to_options(compilation)));
    if (out_report != nullptr) *out_report = new_report_of(report);
    return {};
  });
}

ephost_status* default_context_path(const char* model_path, char** out_path) {
  *out_path = nullptr;
  return guarded("naming a context model", [&] {
    return give_text(session::default_context_model_path(model_path).native(), out_path);
  });
}

// ---- Reports ----------------------------------------------------------------------------------

ephost_status* partition(const ephost_environment* environment, const char* model_path,
                         const ephost_session_options* options, int32_t stage,
                         const ephost_model_partitioning** out_report) {
  *out_report = nullptr;
  return guarded("dividing a model", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const ModelPartitioning report,
                            session::partition_model(
                                *environment->state, model_path, options_of(options),
                                stage == EPHOST_PARTITION_COMPILATION ? PartitionStage::kCompilation
                                                                      : PartitionStage::kClaims));
    *out_report = new_report_of(report);
    return {};
  });
}

ephost_status* plan(const ephost_environment* environment, const char* model_path,
                    const ephost_session_options* options, const ephost_model_plan** out_report) {
  *out_report = nullptr;
  return guarded("planning a model", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(
        const std::vector<GraphPlan> plans,
        session::plan_model(*environment->state, model_path, options_of(options)));
    *out_report = new_report<ephost_model_plan>([&](Arena& arena, ephost_model_plan& report) {
      arena.list(plans, report.graphs, report.graph_count);
    });
    return {};
  });
}

Result<VerifyContextOptions> to_options(const ephost_verify_options* options) {
  const ephost_verify_options given = adopt_record(options);
  using Providers = VerifyContextOptions::Providers;
  VerifyContextOptions adopted;
  adopted.compare_checksums = given.skip_checksums == 0;
  if (given.providers == EPHOST_VERIFY_FIND) adopted.providers = Providers::kFind;
  if (given.providers == EPHOST_VERIFY_IGNORE) adopted.providers = Providers::kIgnore;
  adopted.device = text_of(given.device);
  adopted.session_entries = to_list(given.session_entries, given.session_entry_count);
  if (given.requested_only == 0) return adopted;
  adopted.requests.emplace();
  for (const ephost_provider_request* request : std::span(given.requests, given.request_count)) {
    EPHOST_RETURN_IF_ERROR(check_record(request, "ephost_provider_request"));
    const ephost_provider_request one = adopt_record(request);
    adopted.requests->push_back(detail::read_record<ProviderRequest>(one));
  }
  return adopted;
}

ephost_status* verify(const ephost_environment* environment, const char* model_path,
                      const ephost_verify_options* options,
                      const ephost_context_report** out_report) {
  *out_report = nullptr;
  return guarded("checking a context model", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(options, "ephost_verify_options"));
    EPHOST_ASSIGN_OR_RETURN(const VerifyContextOptions adopted, to_options(options));
    EPHOST_ASSIGN_OR_RETURN(const ContextReport report,
                            session::verify_context(*environment->state, model_path, adopted));
    *out_report = new_report_of(report);
    return {};
  });
}

}  // namespace

const ephost_model_api kModelApi = {
    sizeof(ephost_model_api), compile, default_context_path, partition, plan, verify,
};

}  // namespace ephost::api
