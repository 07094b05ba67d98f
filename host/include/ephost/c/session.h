/* Sessions, runs and bindings: the table ephost_session_api. */
#ifndef EPHOST_C_SESSION_H_
#define EPHOST_C_SESSION_H_

#include <ephost/c/base.h>
#include <ephost/c/environment.h>
#include <ephost/c/session_options.h>
#include <ephost/c/status.h>
#include <ephost/c/value.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A model, ready to run. Any number of threads may use it at once; it is released when none does.
 */
typedef struct ephost_session ephost_session;

/* Inputs and outputs that stay bound from run to run: a run over static shapes then allocates
 * nothing. One thread at a time. It keeps its session alive. */
typedef struct ephost_binding ephost_binding;

/* An input or output of a model. */
typedef struct ephost_value_description {
  uint64_t struct_size;
  const char* name;
  const char* type;     /* e.g. "float[batch,3]", "optional(seq(int64[?]))" */
  int32_t kind;         /* of the value, or of an optional's content */
  int32_t element_type; /* of a tensor, of the tensors in a sequence, of a map's keys */
  int32_t is_optional;  /* it may be of kind NONE */
  int32_t has_default;  /* of an input: the model has an initializer for it */
  int32_t has_shape;    /* of a tensor */
  int32_t reserved;
  const int64_t* shape; /* -1 where the extent is open */
  uint64_t rank;
  const char* const* dim_names; /* `rank` symbols of open extents, or empty */
} ephost_value_description;

/* How long a phase of the creation took. */
typedef struct ephost_phase {
  uint64_t struct_size;
  const char* name;
  double seconds;
} ephost_phase;

/* Nodes that a provider failed to compile, or to load, and that the next providers got. The entry
 * session.disable_ep_fallback makes such a failure an error instead. */
typedef struct ephost_fallback {
  uint64_t struct_size;
  const char* provider;
  const char* partition; /* its name; empty: the kernel of a single node */
  uint64_t nodes;
  ephost_failure reason;
} ephost_fallback;

enum {
  EPHOST_CACHE_OFF = 0,     /* no store is configured */
  EPHOST_CACHE_HIT = 1,     /* nothing was compiled */
  EPHOST_CACHE_MISS = 2,    /* compiled what no older entry had, and stored it */
  EPHOST_CACHE_UNCACHED = 3 /* compiled or loaded without the store */
};

/* What the cache store (entry ep.cache_dir) did for a session or compilation. */
typedef struct ephost_cache_use {
  uint64_t struct_size;
  int32_t outcome;
  int32_t reserved;
  const char* key;          /* of the entry; empty if it was not computed */
  uint64_t reused_contexts; /* partitions that older entries had; 0 for a hit */
  const char* reason;       /* why uncached, or why an existing entry was not used; else empty */
} ephost_cache_use;

/* A provider of a session, of a specialisation or of a compilation, and the library of its plugin.
 */
typedef struct ephost_session_provider {
  uint64_t struct_size;
  const char* name;
  const char* library;
  /* The provider's nodes of the model as it is compiled, in all graphs that the host runs, whether
   * in partitions or alone. A session does not count its specialisations, which have counts of
   * their own; a compilation counts all models that it writes. */
  uint64_t node_count;
  /* Nodes of the model with open shapes that it would take, or run better, if the extents of inputs
   * were fixed. */
  uint64_t wished_node_count;
} ephost_session_provider;

/* A block of memory that was planned before the first run. Values of unknown size are not in it. */
typedef struct ephost_planned_memory {
  uint64_t struct_size;
  uint32_t location; /* 0: host memory; other numbers are memories of devices */
  uint32_t reserved;
  uint64_t peak_bytes;
  uint64_t lower_bound_bytes; /* no plan of the same steps needs less */
} ephost_planned_memory;

/* The metadata of a model; texts are empty where it has none. */
typedef struct ephost_model_metadata {
  uint64_t struct_size;
  const char* producer_name;
  const char* graph_name;
  const char* domain;
  const char* description;                     /* of the model */
  const char* graph_description;               /* of its main graph */
  int64_t version;                             /* 0 where the model has none */
  const ephost_key_value* custom_metadata_map; /* in the model's order; each key once */
  uint64_t custom_metadata_count;
} ephost_model_metadata;

/* What there is to know about a session. It lives as long as the session. */
typedef struct ephost_session_info {
  uint64_t struct_size;
  const ephost_value_description* const* inputs; /* in the model's order */
  uint64_t input_count;
  const ephost_value_description* const* outputs;
  uint64_t output_count;
  const ephost_phase* const* phases; /* what creation did, in order */
  uint64_t phase_count;
  const ephost_fallback* const* fallbacks; /* in the order of the attempts */
  uint64_t fallback_count;
  const ephost_cache_use* cache_use;
  /* In priority order, those of a device before the CPU provider. */
  const ephost_session_provider* const* providers;
  uint64_t provider_count;
  /* The blocks of the main graph; none where all sizes are known at run time only. */
  const ephost_planned_memory* const* planned_memory;
  uint64_t planned_memory_count;
  /* The inputs with a default, which are among `inputs` too: initializers that are also listed as
   * inputs, from IR version 4 on. A run may give a value for one of them. */
  const ephost_value_description* const* overridable_initializers;
  uint64_t overridable_initializer_count;
  /* A context model has those of the model that it was made of, except for the producer. */
  const ephost_model_metadata* model_metadata;
  /* Which memory each input is expected in, and each output comes out in. */
  const ephost_memory_info* const* input_memory;
  const ephost_memory_info* const* output_memory;
  uint64_t host_node_count; /* nodes that the host runs itself, such as control flow */
} ephost_session_info;

enum {
  EPHOST_SPECIALIZATION_READY = 0, /* runs with these extents use it */
  EPHOST_SPECIALIZATION_MAKING =
      1,                           /* being made; runs use the model with open extents until then */
  EPHOST_SPECIALIZATION_FAILED = 2 /* there is none, for `reason` */
};

/* An extent of a model's inputs that is fixed. */
typedef struct ephost_fixed_extent {
  uint64_t struct_size;
  const char* name; /* of the dimension, or its place in an input, e.g. "x[0]" */
  int64_t extent;
} ephost_fixed_extent;

/* What a session has specialised its model for, because a provider wishes for fixed extents. */
typedef struct ephost_specialization {
  uint64_t struct_size;
  const ephost_fixed_extent* const* extents;
  uint64_t extent_count;
  int32_t state; /* EPHOST_SPECIALIZATION_* */
  uint32_t reserved;
  uint64_t runs;                                   /* that it has served */
  double seconds;                                  /* that making it took */
  const char* reason;                              /* of a failure; empty otherwise */
  const ephost_session_provider* const* providers; /* of one that is ready */
  uint64_t provider_count;
} ephost_specialization;

/* Report. */
typedef struct ephost_specialization_list {
  uint64_t struct_size;
  const ephost_specialization* const* specializations;
  uint64_t specialization_count;
} ephost_specialization_list;

/* What one run is told. */
typedef struct ephost_run_options {
  uint64_t struct_size;
  /* A byte that another thread sets to 1 to end the run with CANCELLED, as
   * set_load_cancellation_flag describes it. Null: none. */
  const void* cancelled;
  /* Nanoseconds from the call on, after which the run ends with DEADLINE_EXCEEDED; 0: no limit.
   * Providers are told about it, and those that check for a cancellation while they compute check
   * it too. */
  uint64_t timeout_ns;
  /* Names the run in what providers log and in the session's profile; may be null. */
  const char* tag;
  /* Options of providers with the scope `run`, as "ep.PROVIDER.OPTION", where PROVIDER is a
   * provider of the session by its type name or short name. An option that is not given has its
   * default in this run, whatever it was before. */
  const ephost_key_value* config_entries;
  uint64_t config_entry_count;
  /* 1 more than the severity (EPHOST_LOG_*) below which messages of the run are dropped; 0: as the
   * session says. */
  int32_t log_severity_level;
  int32_t reserved;
} ephost_run_options;

/* Called when a run is over: `status`, which the function releases, is null for success, and then
 * `outputs` are the values that were asked for, which the function releases too. Otherwise there
 * are none. It may start further runs, but should not wait for others. */
typedef void (*ephost_run_async_callback)(void* context, ephost_status* status,
                                          ephost_value* const* outputs, uint64_t output_count);

typedef struct ephost_session_api {
  uint64_t struct_size;
  /* From a file. `options` may be null here and everywhere else. */
  ephost_status* (*create)(const ephost_environment* environment, const char* model_path,
                           const ephost_session_options* options, ephost_session** out_session);
  /* From a model in memory, which stays the application's and must outlive the session. */
  ephost_status* (*create_from_array)(const ephost_environment* environment, const void* model,
                                      uint64_t size, const ephost_session_options* options,
                                      ephost_session** out_session);
  void (*release)(ephost_session* session);

  const ephost_session_info* (*info)(const ephost_session* session);

  /* Runs the model. Every input without a default must be given, by name (INVALID_ARGUMENT
   * otherwise, also for a wrong type or shape). Writes the outputs of these names to `out_values`,
   * which the caller releases. Without names (`output_names` is null), `output_count` must be that
   * of the model's outputs, and they come in its order. INVALID_ARGUMENT for options that no
   * provider of the session has for a run. `options` may be null. */
  ephost_status* (*run)(ephost_session* session, const ephost_run_options* options,
                        const char* const* input_names, const ephost_value* const* inputs,
                        uint64_t input_count, const char* const* output_names,
                        uint64_t output_count, ephost_value** out_values);

  /* Returns at once and runs the model on a thread of the environment's. Everything that `run` says
   * applies, except that without names all outputs come. `callback` is called exactly once if this
   * succeeds, by that thread or one that releases the session. Names and options are copied, values
   * retained; borrowed memory and the flag of `options` must last until the callback; a timeout
   * counts from now on. As many runs execute at a time as there are processors; others wait for
   * their
   * turn, in order. Releasing the session waits until its runs and their callbacks are over. */
  ephost_status* (*run_async)(ephost_session* session, const ephost_run_options* options,
                              const char* const* input_names, const ephost_value* const* inputs,
                              uint64_t input_count, const char* const* output_names,
                              uint64_t output_count, ephost_run_async_callback callback,
                              void* context);

  ephost_status* (*create_binding)(ephost_session* session, ephost_binding** out_binding);
  void (*release_binding)(ephost_binding* binding);
  /* NOT_FOUND for an unknown name; INVALID_ARGUMENT for another type or shape than the model's. */
  ephost_status* (*bind_input)(ephost_binding* binding, const char* name,
                               const ephost_value* value);
  /* Binds memory of the caller for an output. An output that isn't bound gets memory at the first
   * run, which later runs overwrite while its shape stays and no input lies in it. A run never
   * writes what it reads: an output in memory of an input, or at an address that its type does not
   * admit, is copied there in the end. A run fails with INVALID_ARGUMENT where two outputs are
   * bound to memory in common. */
  ephost_status* (*bind_output)(ephost_binding* binding, const char* name,
                                const ephost_value* value);
  /* Lets the host allocate an output, in that memory, where it was bound to the caller's before;
   * the next run makes a new value. INVALID_ARGUMENT for memory that is not the host's. */
  ephost_status* (*bind_output_to_memory)(ephost_binding* binding, const char* name,
                                          const ephost_memory_info* memory);
  /* Forget what was bound. Values that get_output gave stay. */
  void (*clear_bound_inputs)(ephost_binding* binding);
  void (*clear_bound_outputs)(ephost_binding* binding);
  ephost_status* (*run_with_binding)(ephost_binding* binding, const ephost_run_options* options);
  /* An output of the last run by its index in the model; of kind NONE before the first run. */
  ephost_status* (*get_output)(const ephost_binding* binding, uint64_t index,
                               ephost_value** out_value);

  /* Changes options of providers with the scope `dynamic` for runs that begin afterwards; keys as
   * in ephost_run_options. INVALID_ARGUMENT for an option that the provider does not declare with
   * this scope, or a value that it does not admit. All are changed or, after a failure, none. May
   * be called during runs.
   * Sessions that share a provider share its options. */
  ephost_status* (*set_ep_dynamic_options)(ephost_session* session, const ephost_key_value* options,
                                           uint64_t option_count);

  /* Ends the recording that enable_profiling began and writes it as a Chrome trace. `out_file`
   * receives its path, to be released with release_text. Not during runs. INVALID_ARGUMENT if
   * the session does not record, or no longer. A session that is released while it records writes
   * its file too. */
  ephost_status* (*end_profiling)(ephost_session* session, char** out_file);

  /* Whether the application may write a file without replacing one that the session was created
   * from or that its options state as an input or output, whatever path or link leads there.
   * INVALID_ARGUMENT otherwise. `role` is what the message calls the file. */
  ephost_status* (*check_output_file)(const ephost_session* session, const char* file,
                                      const char* role);

  /* What the model was specialised for so far (session.shapes.specialize). Any thread, also during
   * runs. */
  ephost_status* (*specializations)(const ephost_session* session,
                                    const ephost_specialization_list** out_list);

  /* Gives back what the session keeps only so that later runs begin faster: the memory of runs,
   * with what providers have for each of them, and the plans for shapes that came. The next run
   * makes what it needs again. Constants, compiled partitions and specialisations stay. Any thread,
   * also during runs; what they use is kept.
   * */
  ephost_status* (*shrink)(ephost_session* session);
} ephost_session_api;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EPHOST_C_SESSION_H_ */
