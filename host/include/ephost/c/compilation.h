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

/* Writes the next bytes of the model to `buffer`, which has room for `capacity` of them, and their
 * number to `out_size`; 0 at the end. */
typedef ephost_status* (*ephost_read)(void* context, void* buffer, uint64_t capacity,
                                      uint64_t* out_size);
/* Receives the next bytes. */
typedef ephost_status* (*ephost_write)(void* context, const void* bytes, uint64_t size);
/* Receives the whole content of a binary. */
typedef ephost_status* (*ephost_write_context_data)(void* context, const char* file_name,
                                                    const void* bytes, uint64_t size);

/* An initializer of the model that is written. Everything is borrowed for the call. */
typedef struct ephost_initializer {
  uint64_t struct_size;
  const char* name;
  int32_t element_type;
  int32_t is_external; /* the source model has the data in a file beside it */
  const int64_t* shape;
  uint64_t rank;
  const void* data;
  uint64_t byte_size;
  /* Where an external one lies in the source model: the file as given in the model. */
  const char* file;
  uint64_t file_offset;
  uint64_t file_byte_size;
} ephost_initializer;

/* Where the data of an initializer goes. Always carried as int32_t. */
enum {
  EPHOST_INITIALIZER_EMBEDDED = 0,
  EPHOST_INITIALIZER_EXTERNAL_FILE = 1, /* the compilation's file for initializers */
  /* The data stays in its file, which must be below the folder of the written model, and which that
   * then depends on. Only for external ones. */
  EPHOST_INITIALIZER_ORIGINAL = 2
};
typedef ephost_status* (*ephost_place_initializer)(void* context,
                                                   const ephost_initializer* initializer,
                                                   int32_t* out_location);

/* Input and output of a compilation. All functions are called on the thread of `compile` with
 * `context`. What they fail with, `compile` returns unchanged, after it has restored all files. */
typedef struct ephost_compilation {
  uint64_t struct_size;
  void* context;

  /* The model: exactly one of a path, an array and a function. The external data of a model in
   * memory is in the folder `session.model_external_initializers_file_folder_path`. */
  const char* input_model_path;
  const void* input_model;
  uint64_t input_model_size;
  ephost_read input_model_read_func;

  /* Where the context model goes: at most one of these. If none is set: to `ep.context_file_path`,
   * or to `<model>_ctx.onnx` beside the model. */
  const char* output_model_path;
  /* Receives the model in pieces of 64 KiB, the last one shorter, once all files are written. */
  ephost_write output_model_write_func;

  /* Payloads inside the model (EPHOST_YES) or in `[model]_[ep].bin` (EPHOST_NO). 0: as
   * `ep.context_embed_mode` says. */
  int32_t ep_context_embed_mode;
  int32_t reserved;
  /* Folder and [model] of these binaries for a model that does not go to a path. Null: taken from
   * `ep.context_file_path`, without which no binaries can be written. */
  const char* ep_context_binary_folder;
  const char* ep_context_binary_model_name;
  /* Receives these binaries instead of the file system, before the model is written. The model has
   * the checksums of what the function receives. */
  ephost_write_context_data ep_context_data_write_func;

  /* Name of a file beside the model for the remaining initializers. Null:
   * `ep.context_model_external_initializers_file_name`; if that is not set either, they are
   * embedded. */
  const char* output_model_external_initializers_file;
  /* Initializers with fewer bytes than this are embedded in any case. */
  uint64_t external_initializers_size_threshold;
  /* Alignment in bytes of initializers of 1 MiB or more in that file, so that they can be mapped: a
   * power of two, at most 1 MiB. 0: 4096. */
  uint64_t external_initializers_alignment;
  /* Places each initializer that has data, instead of file name and threshold. */
  ephost_place_initializer output_model_get_initializer_location_func;

  /* The id of one of the environment's targets: the provider that has it compiles for it instead of
   * the devices of this machine. Null: for this machine. */
  const char* target;

  /* Flags. */
  int32_t check_deterministic; /* compile twice; EP_FAIL where a provider broke its promise */
  int32_t error_if_no_nodes_compiled; /* FAIL; otherwise the plain model is written */
  int32_t error_if_output_exists;     /* FAIL; otherwise a context model is replaced */
  /* Replace existing files whatever they contain, except those that the model is read from. */
  int32_t force_overwrite;
} ephost_compilation;

/* For fields that are neither yes nor no by default. */
enum { EPHOST_UNSET = 0, EPHOST_NO = 1, EPHOST_YES = 2 };

typedef struct ephost_compiled_file {
  uint64_t struct_size;
  const char* path;
  uint64_t bytes;
} ephost_compiled_file;

typedef struct ephost_compiled_partition {
  uint64_t struct_size;
  const char* name;
  const char* provider;
  uint64_t nodes;
} ephost_compiled_partition;

/* Report of a compilation. */
typedef struct ephost_compile_report {
  uint64_t struct_size;
  const char* output_path;                  /* empty if the model did not go to a path */
  const ephost_compiled_file* const* files; /* in the order of publication, the model last */
  uint64_t file_count;
  const ephost_compiled_partition* const* partitions; /* replaced by EPContext nodes */
  uint64_t partition_count;
  const ephost_fallback* const* fallbacks;
  uint64_t fallback_count;
  uint64_t remaining_nodes; /* will be run by kernels */
  /* With check_deterministic: the providers that promise to write the same bytes, and did. */
  const char* const* deterministic_providers;
  uint64_t deterministic_provider_count;
  const ephost_cache_use* cache_use;               /* hit: nothing had to be compiled */
  const ephost_session_provider* const* providers; /* in priority order */
  uint64_t provider_count;
} ephost_compile_report;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_COMPILATION_H_ */
