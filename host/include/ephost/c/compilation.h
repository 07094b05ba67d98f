/* Compiling a model to a context model: options and report of ephost_model_api.compile. */
#ifndef EPHOST_C_COMPILATION_H_
#define EPHOST_C_COMPILATION_H_

#include <ephost/c/base.h>
#include <ephost/c/session.h>
#include <ephost/c/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ReadFunction, WriteFunction and EpContextDataWriteFunction (<ephost/types/compilation.h>).
 * `out_size` receives the number of bytes, at most `capacity`. */
typedef ephost_status* (*ephost_read)(void* context, void* buffer, uint64_t capacity,
                                      uint64_t* out_size);
typedef ephost_status* (*ephost_write)(void* context, const void* bytes, uint64_t size);
typedef ephost_status* (*ephost_write_context_data)(void* context, const char* file_name,
                                                    const void* bytes, uint64_t size);

/* InitializerInfo (<ephost/types/compilation.h>); the last three fields are those of `external`. */
typedef struct ephost_initializer {
  uint64_t struct_size;
  const char* name;
  int32_t element_type;
  int32_t is_external; /* `external` is there */
  const int64_t* shape;
  uint64_t rank;
  const void* data;
  uint64_t byte_size;
  const char* file;
  uint64_t file_offset;
  uint64_t file_byte_size;
} ephost_initializer;

/* InitializerLocation (<ephost/types/compilation.h>). Always carried as int32_t. */
enum {
  EPHOST_INITIALIZER_EMBEDDED = 0,
  EPHOST_INITIALIZER_EXTERNAL_FILE = 1,
  EPHOST_INITIALIZER_ORIGINAL = 2
};
typedef ephost_status* (*ephost_place_initializer)(void* context,
                                                   const ephost_initializer* initializer,
                                                   int32_t* out_location);

/* ModelCompilationOptions (<ephost/types/compilation.h>). The functions are called with `context`;
 * texts may be null. */
typedef struct ephost_compilation {
  uint64_t struct_size;
  void* context;

  const char* input_model_path;
  const void* input_model; /* `input_model_buffer` */
  uint64_t input_model_size;
  ephost_read input_model_read_func;

  const char* output_model_path;
  ephost_write output_model_write_func;

  int32_t ep_context_embed_mode; /* EPHOST_YES or EPHOST_NO; 0: not set */
  int32_t reserved;
  const char* ep_context_binary_folder;
  const char* ep_context_binary_model_name;
  ephost_write_context_data ep_context_data_write_func;

  const char* output_model_external_initializers_file;
  uint64_t external_initializers_size_threshold;
  uint64_t external_initializers_alignment; /* 0: the default */
  ephost_place_initializer output_model_get_initializer_location_func;

  const char* target;

  int32_t check_deterministic;
  int32_t error_if_no_nodes_compiled;
  int32_t error_if_output_exists;
  int32_t force_overwrite;
} ephost_compilation;

/* For fields that are neither yes nor no by default. */
enum { EPHOST_UNSET = 0, EPHOST_NO = 1, EPHOST_YES = 2 };

/* CompiledFile (<ephost/types/compilation.h>). */
typedef struct ephost_compiled_file {
  uint64_t struct_size;
  const char* path;
  uint64_t bytes;
} ephost_compiled_file;

/* CompiledPartition (<ephost/types/compilation.h>). */
typedef struct ephost_compiled_partition {
  uint64_t struct_size;
  const char* name;
  const char* provider;
  uint64_t nodes;
} ephost_compiled_partition;

/* Report: CompileReport (<ephost/types/compilation.h>). */
typedef struct ephost_compile_report {
  uint64_t struct_size;
  const char* output_path;
  const ephost_compiled_file* const* files;
  uint64_t file_count;
  const ephost_compiled_partition* const* partitions;
  uint64_t partition_count;
  const ephost_fallback* const* fallbacks;
  uint64_t fallback_count;
  uint64_t remaining_nodes;
  const char* const* deterministic_providers;
  uint64_t deterministic_provider_count;
  const ephost_cache_use* cache_use;
  const ephost_session_provider* const* providers;
  uint64_t provider_count;
} ephost_compile_report;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_COMPILATION_H_ */
