/*
 * acme_provider.c: an execution provider with kernels, each of which runs one node: Relu, Add and
 * Mul of floats, with broadcasting.
 *
 * Read from the bottom: entry point, tables, provider, claims, kernels. Replace the loops in
 * "Elements" by what your device does, then add operators to `kernel_list`.
 */
#include <ephost/plugin_abi.h>
#include <stdlib.h>
#include <string.h>

/* ---- Small parts ---------------------------------------------------------------------------- */

/* Explains a failure and returns its code, so that functions can end with `return fail(...)`. */
static int32_t fail(eph_error* error, int32_t code, const char* message) {
  const eph_string text = {message, strlen(message)};
  error->api->set_message(error, text);
  return code;
}

static int text_is(eph_string text, const char* expected) {
  return text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

/* The caller of a function that fills a record sets in it how much of the record it knows. */
static int32_t get_node(const eph_graph* graph, uint32_t index, eph_node_info* out,
                        eph_error* error) {
  memset(out, 0, sizeof(*out));
  out->struct_size = sizeof(*out);
  return graph->api->get_node(graph, index, out, error);
}

static int32_t get_value(const eph_graph* graph, uint32_t index, eph_value_info* out,
                         eph_error* error) {
  memset(out, 0, sizeof(*out));
  out->struct_size = sizeof(*out);
  return graph->api->get_value(graph, index, out, error);
}

/* ---- Elements: what a device would do -------------------------------------------------------- */

enum { RELU = 0, ADD = 1, MUL = 2 };

static float apply(int32_t operation, float a, float b) {
  if (operation == ADD) return a + b;
  if (operation == MUL) return a * b;
  return a < 0 ? 0 : a; /* written so that NaN stays NaN */
}

/* How often a loop asks whether the run was cancelled. */
#define ELEMENTS_BETWEEN_POLLS (UINT64_C(1) << 16)

static int is_cancelled(const eph_run* run, uint64_t element) {
  return element % ELEMENTS_BETWEEN_POLLS == 0 && run->api->is_cancelled(run);
}

/* y[i] = a[i] op b[i]. False if the run was cancelled. */
static int compute_elements(int32_t operation, const eph_run* run, const float* a, const float* b,
                            float* y, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    if (is_cancelled(run, i)) return 0;
    y[i] = apply(operation, a[i], b[i]);
  }
  return 1;
}

/* A walk over the elements of an output, with the matching element of two operands. */
typedef struct walk {
  uint32_t rank;
  int64_t* shape;   /* of the output; these arrays have `rank` elements */
  int64_t* at;      /* where the walk is */
  int64_t* step[2]; /* of each operand; 0 in a dimension along which it is broadcast */
} walk;

/* The same with operands that are broadcast. */
static int compute_broadcast(int32_t operation, const eph_run* run, const float* a, const float* b,
                             float* y, uint64_t count, const walk* over) {
  int64_t a_at = 0, b_at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (is_cancelled(run, i)) return 0;
    y[i] = apply(operation, a[a_at], b[b_at]);
    for (uint32_t d = over->rank; d-- > 0;) {
      a_at += over->step[0][d];
      b_at += over->step[1][d];
      if (++over->at[d] < over->shape[d]) break;
      a_at -= over->step[0][d] * over->shape[d];
      b_at -= over->step[1][d] * over->shape[d];
      over->at[d] = 0;
    }
  }
  return 1;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

typedef struct kernel {
  eph_computation base;
  int32_t operation;
  uint32_t pair_count; /* inputs whose memory the output may take over */
  eph_slot_pair pairs[2];
} kernel;

/* Makes sure that the output has this shape and memory. With static shapes the host has done it
 * already, and nothing is called. */
static int32_t prepare_output(eph_run* run, const int64_t* shape, uint32_t rank, eph_error* error) {
  const eph_value* value = run->outputs[0];
  if (value->data != NULL && value->rank == rank &&
      (rank == 0 || memcmp(value->shape, shape, rank * sizeof(int64_t)) == 0)) {
    return EPH_OK;
  }
  return run->api->allocate_output(run, 0, EPH_ELEMENT_FLOAT, shape, rank, error);
}

/* The extent of dimension `d` of `rank` dimensions, of which `value` has the last ones. */
static int64_t extent_of(const eph_value* value, uint32_t d, uint32_t rank) {
  const uint32_t missing = rank - value->rank;
  return d < missing ? 1 : value->shape[d - missing];
}

/* The shape of the output, and the steps of both operands. False if they do not fit together. */
static int set_up_walk(const eph_value* const* operands, walk* over) {
  int64_t step[2] = {1, 1};
  for (uint32_t d = over->rank; d-- > 0;) {
    const int64_t a = extent_of(operands[0], d, over->rank);
    const int64_t b = extent_of(operands[1], d, over->rank);
    if (a != b && a != 1 && b != 1) return 0;
    over->shape[d] = a == 1 ? b : a;
    over->at[d] = 0;
    over->step[0][d] = a == 1 ? 0 : step[0];
    over->step[1][d] = b == 1 ? 0 : step[1];
    step[0] *= a;
    step[1] *= b;
  }
  return 1;
}

static int same_shape(const eph_value* a, const eph_value* b) {
  return a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof(int64_t)) == 0);
}

static int32_t compute_equal_shapes(const kernel* self, eph_run* run, const eph_value* a,
                                    const eph_value* b, eph_error* error) {
  const int32_t code = prepare_output(run, a->shape, a->rank, error);
  if (code != EPH_OK) return code;
  const int done =
      compute_elements(self->operation, run, (const float*)a->data, (const float*)b->data,
                       (float*)run->outputs[0]->data, run->outputs[0]->byte_size / sizeof(float));
  return done ? EPH_OK : fail(error, EPH_CANCELLED, "the run was cancelled");
}

static int32_t compute_other_shapes(const kernel* self, eph_run* run, eph_error* error) {
  const eph_value* const* operands = run->inputs;
  walk over;
  over.rank = operands[0]->rank > operands[1]->rank ? operands[0]->rank : operands[1]->rank;
  /* The host keeps the memory for the next run. */
  over.shape = (int64_t*)run->api->allocate_scratch(run, 4 * over.rank * sizeof(int64_t));
  if (over.shape == NULL)
    return fail(error, EPH_OUT_OF_MEMORY, "the host has no memory for four shapes");
  over.at = over.shape + over.rank;
  over.step[0] = over.at + over.rank;
  over.step[1] = over.step[0] + over.rank;
  if (!set_up_walk(operands, &over)) {
    return fail(error, EPH_INVALID_ARGUMENT,
                "the shapes of the two inputs differ in an extent that is 1 in neither; check the "
                "shapes of the model's inputs");
  }
  const int32_t code = prepare_output(run, over.shape, over.rank, error);
  if (code != EPH_OK) return code;
  const int done = compute_broadcast(self->operation, run, (const float*)operands[0]->data,
                                     (const float*)operands[1]->data, (float*)run->outputs[0]->data,
                                     run->outputs[0]->byte_size / sizeof(float), &over);
  return done ? EPH_OK : fail(error, EPH_CANCELLED, "the run was cancelled");
}

static int32_t kernel_compute(eph_computation* computation, void* state, eph_run* run,
                              eph_error* error) {
  const kernel* self = (const kernel*)computation;
  (void)state;
  if (run->outputs[0] == NULL) return EPH_OK; /* the result is not read */
  const eph_value* a = run->inputs[0];
  const eph_value* b = self->operation == RELU ? a : run->inputs[1];
  if (same_shape(a, b)) return compute_equal_shapes(self, run, a, b, error);
  return compute_other_shapes(self, run, error);
}

/* A function that fills a record of the host writes the fields that both sides know, and leaves the
 * smaller of the two sizes in struct_size, which comes first in every record. */
static int32_t fill_record(const void* record, uint64_t size, void* out) {
  uint64_t known = 0;
  memcpy(&known, out, sizeof(known));
  if (size < known) known = size;
  memcpy(out, record, (size_t)known);
  memcpy(out, &known, sizeof(known));
  return EPH_OK;
}

static int32_t kernel_describe(eph_computation* computation, eph_computation_info* out,
                               eph_error* error) {
  const kernel* self = (const kernel*)computation;
  const eph_computation_info info = {.may_inplace = self->pairs,
                                     .may_inplace_count = self->pair_count};
  (void)error;
  return fill_record(&info, sizeof(info), out);
}

static void kernel_destroy(eph_computation* computation) { free(computation); }

static const eph_computation_api kernel_api = {.struct_size = sizeof(eph_computation_api),
                                               .destroy = kernel_destroy,
                                               .compute = kernel_compute,
                                               .describe = kernel_describe};

/* Whether two values have one shape that is known before the run. */
static int have_one_static_shape(const eph_value_info* a, const eph_value_info* b) {
  if (a->rank < 0 || a->rank != b->rank) return 0;
  for (int32_t d = 0; d < a->rank; ++d) {
    if (a->shape[d] < 0 || a->shape[d] != b->shape[d]) return 0;
  }
  return 1;
}

/* An output may take over the memory of an input of its own size, because each element is read
 * before it is written. An input that is broadcast is smaller, and is read again. */
static int32_t find_pairs(const eph_graph* graph, const eph_node_info* node, kernel* made,
                          eph_error* error) {
  eph_value_info output, input;
  int32_t code = get_value(graph, node->outputs[0], &output, error);
  for (uint32_t i = 0; code == EPH_OK && i < node->input_count; ++i) {
    code = get_value(graph, node->inputs[i], &input, error);
    if (code == EPH_OK && have_one_static_shape(&input, &output)) {
      made->pairs[made->pair_count].input = i;
      made->pairs[made->pair_count++].output = 0;
    }
  }
  return code;
}

/* ---- The kernel list ------------------------------------------------------------------------- */

/* Bit n of a rule allows element type n. */
static const eph_type_rule float_only[] = {{0, EPH_RULE_VARIADIC, UINT64_C(1) << EPH_ELEMENT_FLOAT},
                                           {0, EPH_RULE_OUTPUT, UINT64_C(1) << EPH_ELEMENT_FLOAT}};

/* The versions are those at which ONNX changed the operators, and which mean the same for floats.
 * Add and Mul before version 7 broadcast by attributes, so they are left out; so is a version that
 * has not been reviewed yet.
 * */
static const eph_kernel_def kernel_list[] = {{EPH_STRING("Relu"), {NULL, 0}, 6, 14, float_only, 2},
                                             {EPH_STRING("Add"), {NULL, 0}, 7, 14, float_only, 2},
                                             {EPH_STRING("Mul"), {NULL, 0}, 7, 14, float_only, 2}};

/* The order of `kernel_list` is that of the operations. */
static int32_t operation_of(const eph_node_info* node) {
  int32_t operation = RELU;
  while (operation < MUL && !text_is(node->op_type, kernel_list[operation].op_type.data)) {
    ++operation;
  }
  return operation;
}

/* ---- The provider ---------------------------------------------------------------------------- */

/* The host never looks into an eph_provider, so it may be any object of ours. */
typedef struct acme_provider {
  int64_t min_elements; /* the fewest elements of an output for which a node is taken */
} acme_provider;

static int32_t acme_get_devices(const eph_provider_api* self, const eph_host* host,
                                eph_device_list* list, eph_error* error) {
  /* The id is what users and caches know the device by, so it never changes. */
  const eph_device device = {.struct_size = sizeof(device),
                             .id = EPH_STRING("cpu"),
                             .name = EPH_STRING("any processor"),
                             .architecture = EPH_STRING("generic"),
                             .type = EPH_DEVICE_CPU};
  (void)self, (void)host;
  return list->api->add(list, &device, error);
}

static int32_t acme_create(const eph_provider_api* self, const eph_host* host,
                           const eph_provider_config* config, eph_provider** out_provider,
                           eph_error* error) {
  (void)self, (void)host; /* the host's is for logging, and for the interfaces of <ephost/ext/> */
  *out_provider = NULL;
  acme_provider* made = (acme_provider*)calloc(1, sizeof(*made));
  if (made == NULL) return fail(error, EPH_OUT_OF_MEMORY, "the provider ran out of memory");
  /* The manifest declares the options; the host has checked type and range of each. */
  for (uint64_t i = 0; i < config->option_count; ++i) {
    if (text_is(config->options[i].name, "min_elements")) {
      made->min_elements = config->options[i].int_value;
    }
  }
  *out_provider = (eph_provider*)made;
  return EPH_OK;
}

static void acme_destroy(eph_provider* provider) { free(provider); }

/* The number of elements of a value, as far as it is known: -1 if it is not. */
static int64_t known_elements(const eph_value_info* value) {
  int64_t count = 1;
  for (int32_t d = 0; d < value->rank; ++d) {
    if (value->shape[d] < 0) return -1;
    if (value->shape[d] != 0 && count > INT64_MAX / value->shape[d]) return INT64_MAX;
    count *= value->shape[d];
  }
  return value->rank < 0 ? -1 : count;
}

/* Claims the nodes that a kernel matches, and says why it leaves others of them alone; the reason
 * appears in `ephost partition --explain`. Without this function, the host would claim all. */
static int32_t acme_get_capability(eph_provider* provider, const eph_graph* graph,
                                   eph_claims* claims, eph_error* error) {
  const acme_provider* self = (const acme_provider*)provider;
  eph_graph_info info = {.struct_size = sizeof(info)};
  int32_t code = graph->api->get_graph(graph, &info, error);
  for (uint32_t n = 0; code == EPH_OK && n < info.node_count; ++n) {
    eph_node_info node;
    eph_value_info output;
    if (!claims->api->has_kernel(claims, n)) continue;
    code = get_node(graph, n, &node, error);
    if (code == EPH_OK && (node.flags & EPH_NODE_TAKEN) != 0) continue;
    if (code == EPH_OK) code = get_value(graph, node.outputs[0], &output, error);
    if (code != EPH_OK) break;
    const int64_t count = known_elements(&output);
    if (count >= 0 && count < self->min_elements) {
      const eph_string reason = EPH_STRING("its output is smaller than the option min_elements");
      claims->api->decline(claims, n, reason);
    } else {
      code = claims->api->claim_node(claims, n, error);
    }
  }
  return code;
}

static int32_t acme_get_kernels(eph_provider* provider, const eph_kernel_def** out_kernels,
                                uint64_t* out_count, eph_error* error) {
  (void)provider, (void)error;
  *out_kernels = kernel_list;
  *out_count = sizeof(kernel_list) / sizeof(kernel_list[0]);
  return EPH_OK;
}

/* The host asks only for nodes that the kernel list matches. */
static int32_t acme_create_kernel(eph_provider* provider, const eph_graph* graph, uint32_t node,
                                  eph_computation** out_computation, eph_error* error) {
  eph_node_info info;
  (void)provider;
  *out_computation = NULL;
  int32_t code = get_node(graph, node, &info, error);
  if (code != EPH_OK) return code;
  kernel* made = (kernel*)calloc(1, sizeof(*made));
  if (made == NULL) return fail(error, EPH_OUT_OF_MEMORY, "the provider ran out of memory");
  made->base.api = &kernel_api;
  made->operation = operation_of(&info);
  code = find_pairs(graph, &info, made, error);
  if (code == EPH_OK) {
    *out_computation = &made->base;
  } else {
    free(made);
  }
  return code;
}

/* Kernels change nothing but their outputs, so that any number of them may run at the same time. */
static int32_t acme_describe(eph_provider* provider, eph_provider_info* out, eph_error* error) {
  const eph_provider_info info = {.max_concurrent = UINT32_MAX};
  (void)provider, (void)error;
  return fill_record(&info, sizeof(info), out);
}

/* ---- Tables and entry point ------------------------------------------------------------------ */

/* Names and vendor are those of the manifest; the host compares them. A slot that is left out is
 * null, and the header says what that means. */
static const eph_provider_api acme_api = {.struct_size = sizeof(eph_provider_api),
                                          .type_name = EPH_STRING("AcmeExecutionProvider"),
                                          .name = EPH_STRING("acme"),
                                          .vendor = EPH_STRING("Acme Corp."),
                                          .get_devices = acme_get_devices,
                                          .create = acme_create,
                                          .destroy = acme_destroy,
                                          .get_capability = acme_get_capability,
                                          .get_kernels = acme_get_kernels,
                                          .create_kernel = acme_create_kernel,
                                          .describe = acme_describe};

static const eph_provider_api* const provider_list[] = {&acme_api};

static const eph_plugin_api plugin_api = {
    .struct_size = sizeof(eph_plugin_api), .providers = provider_list, .provider_count = 1};

/* The minor version that the plugin was written for, and that its manifest declares. A later header
 * changes nothing about that. */
#define ABI_MINOR 0

static const eph_plugin_api* get_api(const eph_load_info* info) {
  return info->minor == ABI_MINOR ? &plugin_api : NULL;
}

/* The build defines the version, which it reads from the manifest. */
static const eph_plugin_preamble preamble = {.struct_size = sizeof(eph_plugin_preamble),
                                             .abi_minor_min = ABI_MINOR,
                                             .abi_minor_max = ABI_MINOR,
                                             .id = EPH_STRING("com.example.acme"),
                                             .version = EPH_STRING(PLUGIN_VERSION),
                                             .build_flags = EPH_BUILD_FLAGS,
                                             .get_api = get_api};

const eph_plugin_preamble* eph_plugin_v1(void) { return &preamble; }
