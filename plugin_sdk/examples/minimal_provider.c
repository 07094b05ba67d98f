/*
 * minimal_provider.c: a whole execution provider for ephost in one C file, as a tutorial.
 *
 * It needs only the header <ephost/plugin_abi.h> and the C library. The CMakeLists.txt beside it
 * builds it, and minimal.yaml is its manifest. Copy the three files and start from there.
 *
 * The provider shows both ways in which a provider can take work:
 *
 *   - single nodes, run by a kernel of its kernel list: Relu of floats;
 *   - fused nodes, compiled into one computation: chains of Add and Mul in which each node feeds
 * the next one only and all tensors have one static shape, e.g. y = (a + b) * c + d.
 *
 * It can write what it compiled into the EP context cache and restore it from there. To follow the
 * order in which the host calls, read from the bottom: entry point, tables, provider, claims,
 * compilation, computations.
 */
#include <ephost/plugin_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN_VERSION "1.0.0"

/* ---- Small parts ---------------------------------------------------------------------------- */

/* Explains a failure and returns its code, so that functions can end with `return fail(...)`. */
static int32_t fail(eph_error* error, int32_t code, const char* message) {
  eph_string text = {message, strlen(message)};
  error->api->set_message(error, text);
  return code;
}

static int32_t out_of_memory(eph_error* error) {
  return fail(error, EPH_OUT_OF_MEMORY, "the minimal provider ran out of memory");
}

static int text_is(eph_string text, const char* expected) {
  return text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

/* Counts the elements of a shape. False for a negative extent and for more than 2^48 elements:
 * numbers from a graph or a file are never multiplied unchecked. */
static int count_elements(const int64_t* shape, uint32_t rank, uint64_t* out_count) {
  const uint64_t most = UINT64_C(1) << 48;
  *out_count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    if (shape[i] < 0) return 0;
    if (shape[i] != 0 && *out_count > most / (uint64_t)shape[i]) return 0;
    *out_count *= (uint64_t)shape[i];
  }
  return 1;
}

/* Makes sure that output `index` has this shape and memory. With static shapes the host has done it
 * already, and nothing is called. */
static int32_t prepare_output(eph_run* run, uint32_t index, const int64_t* shape, uint32_t rank,
                              eph_error* error) {
  const eph_value* value = run->outputs[index];
  if (value->data != NULL && value->rank == rank &&
      (rank == 0 || memcmp(value->shape, shape, rank * sizeof(int64_t)) == 0)) {
    return EPH_OK;
  }
  return run->api->allocate_output(run, index, EPH_ELEMENT_FLOAT, shape, rank, error);
}

/* ---- A kernel: a computation for a single node ----------------------------------------------- */

/* Asks now and then, so that a run over large tensors ends soon after it is cancelled. */
#define ELEMENTS_BETWEEN_POLLS 65536
static int is_cancelled(const eph_run* run, uint64_t element) {
  return element % ELEMENTS_BETWEEN_POLLS == ELEMENTS_BETWEEN_POLLS - 1 &&
         run->api->is_cancelled(run);
}

static int32_t relu_compute(eph_computation* computation, void* state, eph_run* run,
                            eph_error* error) {
  (void)computation, (void)state;
  const eph_value* in = run->inputs[0];
  if (in == NULL || run->outputs[0] == NULL) return EPH_OK; /* the result is not read */
  const int32_t code = prepare_output(run, 0, in->shape, in->rank, error);
  if (code != EPH_OK) return code;
  const float* x = (const float*)in->data;
  float* y = (float*)run->outputs[0]->data;
  for (uint64_t i = 0; i < in->byte_size / sizeof(float); ++i) {
    if (is_cancelled(run, i)) return fail(error, EPH_CANCELLED, "the run was cancelled");
    y[i] = x[i] < 0 ? 0 : x[i]; /* written so that NaN stays NaN */
  }
  return EPH_OK;
}

/* A function that fills a record of the host writes the fields that both sides know, and leaves the
 * smaller of the two sizes in struct_size. */
static int32_t give_info(eph_computation_info info, eph_computation_info* out) {
  info.struct_size = out->struct_size < sizeof(info) ? out->struct_size : sizeof(info);
  memcpy(out, &info, (size_t)info.struct_size);
  return EPH_OK;
}

/* Tells the planner that the output may take over the input's memory: each element is read before
 * it is written. */
static int32_t relu_describe(eph_computation* computation, eph_computation_info* out,
                             eph_error* error) {
  static const eph_slot_pair inplace = {0, 0};
  const eph_computation_info info = {.may_inplace = &inplace, .may_inplace_count = 1};
  (void)computation, (void)error;
  return give_info(info, out);
}

static void relu_destroy(eph_computation* computation) { free(computation); }

static const eph_computation_api relu_api = {.struct_size = sizeof(eph_computation_api),
                                             .destroy = relu_destroy,
                                             .compute = relu_compute,
                                             .describe = relu_describe};

/* Bit n of a rule allows element type n: input 0 and output 0 must be float. */
static const eph_type_rule float_only[] = {{0, 0, UINT64_C(1) << EPH_ELEMENT_FLOAT},
                                           {0, EPH_RULE_OUTPUT, UINT64_C(1) << EPH_ELEMENT_FLOAT}};

/* The versions are those at which ONNX changed the operator: 6, 13 and 14, which mean the same for
 * floats. A version that has not been reviewed yet is left out. */
static const eph_kernel_def kernel_list[] = {{EPH_STRING("Relu"), {NULL, 0}, 6, 14, float_only, 2}};

/* ---- Chains: computations for fused nodes ---------------------------------------------------- */

#define MAX_RANK 8
#define MAX_STEPS 64

/* The operation of a step, and the operand that stands for the result of the steps before. */
enum { LOAD = 0, ADD = 1, MUL = 2 };
#define RESULT UINT32_MAX

/* What a chain computes: the first step loads an input, each further one adds or multiplies one. It
 * has a fixed size and no pointers, so that it can go into a context payload as it is. */
typedef struct recipe {
  uint32_t rank;
  uint32_t input_count;
  uint32_t step_count;
  uint32_t zero;
  int64_t shape[MAX_RANK]; /* of all tensors; zero beyond the rank */
  struct {
    uint32_t operation;
    uint32_t input; /* index, or RESULT */
  } steps[MAX_STEPS];
} recipe;

typedef struct chain {
  eph_computation base;
  recipe what;
  uint64_t element_count;
} chain;

static void chain_destroy(eph_computation* computation) { free(computation); }

/* The result for element i. */
static float run_steps(const recipe* what, const eph_run* run, uint64_t i) {
  float result = 0;
  for (uint32_t s = 0; s < what->step_count; ++s) {
    const uint32_t input = what->steps[s].input;
    const float x = input == RESULT ? result : ((const float*)run->inputs[input]->data)[i];
    if (what->steps[s].operation == LOAD) result = x;
    if (what->steps[s].operation == ADD) result += x;
    if (what->steps[s].operation == MUL) result *= x;
  }
  return result;
}

static int32_t chain_compute(eph_computation* computation, void* state, eph_run* run,
                             eph_error* error) {
  const chain* self = (const chain*)computation;
  (void)state;
  if (run->input_count != self->what.input_count || run->output_count != 1 ||
      run->outputs[0] == NULL) {
    return fail(error, EPH_INVALID_ARGUMENT, "a chain was run with other inputs or outputs");
  }
  for (uint32_t i = 0; i < run->input_count; ++i) {
    const eph_value* in = run->inputs[i];
    if (in == NULL || in->byte_size != self->element_count * sizeof(float)) {
      return fail(error, EPH_INVALID_ARGUMENT, "an input has another size than the chain");
    }
  }
  const int32_t code = prepare_output(run, 0, self->what.shape, self->what.rank, error);
  if (code != EPH_OK) return code;
  for (uint64_t i = 0; i < self->element_count; ++i) {
    if (is_cancelled(run, i)) return fail(error, EPH_CANCELLED, "the run was cancelled");
    ((float*)run->outputs[0]->data)[i] = run_steps(&self->what, run, i);
  }
  return EPH_OK;
}

static const eph_computation_api chain_api = {
    .struct_size = sizeof(eph_computation_api), .destroy = chain_destroy, .compute = chain_compute};

/* Whether a chain with this recipe accesses only inputs and elements that exist, wherever the
 * recipe came from. */
static int recipe_is_valid(const recipe* what, uint64_t* out_element_count) {
  if (what->rank > MAX_RANK || what->zero != 0 || what->input_count > MAX_STEPS) return 0;
  if (!count_elements(what->shape, what->rank, out_element_count)) return 0;
  if (what->step_count < 1 || what->step_count > MAX_STEPS) return 0;
  for (uint32_t s = 0; s < what->step_count; ++s) {
    const uint32_t input = what->steps[s].input;
    if (what->steps[s].operation > MUL || (what->steps[s].operation == LOAD) != (s == 0)) return 0;
    if (input >= what->input_count && (input != RESULT || s == 0)) return 0;
  }
  return 1;
}

/* Makes a chain, or fails with `code` if the recipe is invalid. */
static int32_t make_chain(const recipe* what, int32_t code, eph_computation** out_computation,
                          eph_error* error) {
  uint64_t element_count = 0;
  if (!recipe_is_valid(what, &element_count)) {
    return fail(error, code, "the recipe of a chain is invalid; compile the model again");
  }
  chain* made = (chain*)calloc(1, sizeof(*made));
  if (made == NULL) return out_of_memory(error);
  made->base.api = &chain_api;
  made->what = *what;
  made->element_count = element_count;
  *out_computation = &made->base;
  return EPH_OK;
}

/* ---- Looking at graphs ----------------------------------------------------------------------- */

/* The caller of a function that fills a record sets in it how much of the record it knows. */
static int get_node(const eph_graph* graph, uint32_t index, eph_node_info* out, eph_error* error) {
  memset(out, 0, sizeof(*out));
  out->struct_size = sizeof(*out);
  return graph->api->get_node(graph, index, out, error) == EPH_OK;
}

static int get_value(const eph_graph* graph, uint32_t index, eph_value_info* out,
                     eph_error* error) {
  memset(out, 0, sizeof(*out));
  out->struct_size = sizeof(*out);
  return graph->api->get_value(graph, index, out, error) == EPH_OK;
}

static int get_graph(const eph_graph* graph, eph_graph_info* out, eph_error* error) {
  memset(out, 0, sizeof(*out));
  out->struct_size = sizeof(*out);
  return graph->api->get_graph(graph, out, error) == EPH_OK;
}

/* Whether a value is computed at run time and is a tensor of floats of known shape. */
static int is_plain_tensor(const eph_value_info* value) {
  uint64_t count = 0;
  return value->kind == EPH_KIND_TENSOR && value->element_type == EPH_ELEMENT_FLOAT &&
         value->constant == NULL && value->rank >= 0 && value->rank <= MAX_RANK &&
         count_elements(value->shape, (uint32_t)value->rank, &count);
}

static int same_shape(const eph_value_info* a, const eph_value_info* b) {
  if (a->rank != b->rank) return 0;
  return a->rank == 0 || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof(int64_t)) == 0;
}

/* Whether a node may be part of a chain: a free Add or Mul without broadcasting. */
static int is_link(const eph_graph* graph, uint32_t index, eph_node_info* node,
                   eph_value_info* output, eph_error* error) {
  if (!get_node(graph, index, node, error) || (node->flags & EPH_NODE_TAKEN) != 0) return 0;
  if (!text_is(node->op_type, "Add") && !text_is(node->op_type, "Mul")) return 0;
  if (node->domain.size != 0 || node->since_version < 7 || node->since_version > 14) return 0;
  if (node->input_count != 2 || node->output_count != 1) return 0;
  if (!get_value(graph, node->outputs[0], output, error) || !is_plain_tensor(output)) return 0;
  for (uint64_t i = 0; i < 2; ++i) {
    eph_value_info input;
    if (!get_value(graph, node->inputs[i], &input, error)) return 0;
    if (!is_plain_tensor(&input) || !same_shape(&input, output)) return 0;
  }
  return 1;
}

/* The node that continues the chain: the only reader of the output. */
static uint32_t next_of(const eph_value_info* output) {
  if ((output->flags & EPH_VALUE_GRAPH_OUTPUT) != 0 || output->consumer_count == 0) return EPH_NONE;
  for (uint64_t i = 1; i < output->consumer_count; ++i) {
    if (output->consumers[i] != output->consumers[0]) return EPH_NONE;
  }
  return output->consumers[0];
}

/* ---- Compiling a chain from its graph -------------------------------------------------------- */

/* Adds the step that combines the result so far with value `index`: with an input of the partition,
 * or with the result itself. */
static int add_step(const eph_graph_info* info, uint32_t operation, uint32_t index, uint32_t result,
                    recipe* what) {
  if (what->step_count == MAX_STEPS) return 0;
  uint32_t input = 0;
  while (input < info->input_count && info->inputs[input] != index) ++input;
  if (index == result) input = RESULT;
  if (input == info->input_count) return 0;
  what->steps[what->step_count].operation = operation;
  what->steps[what->step_count].input = input;
  ++what->step_count;
  return 1;
}

/* Adds the steps of one node, and sets `result` to its output. */
static int add_node(const eph_graph* graph, const eph_graph_info* info, uint32_t index,
                    uint32_t* result, recipe* what, eph_error* error) {
  eph_node_info node;
  eph_value_info output;
  if (!is_link(graph, index, &node, &output, error)) return 0;
  const uint32_t operation = text_is(node.op_type, "Add") ? ADD : MUL;
  /* The result of the node before may stand on either side. */
  const int side = index == 0 || node.inputs[0] == *result ? 0 : 1;
  if (index == 0 && !add_step(info, LOAD, node.inputs[0], EPH_NONE, what)) return 0;
  if (index != 0 && node.inputs[side] != *result) return 0;
  if (!add_step(info, operation, node.inputs[1 - side], *result, what)) return 0;
  what->rank = (uint32_t)output.rank;
  if (output.rank > 0) memcpy(what->shape, output.shape, what->rank * sizeof(int64_t));
  *result = node.outputs[0];
  return 1;
}

static int32_t compile_chain(const eph_graph* graph, eph_computation** out_computation,
                             eph_error* error) {
  eph_graph_info info;
  recipe what = {0};
  uint32_t result = EPH_NONE;
  if (!get_graph(graph, &info, error) || info.output_count != 1) {
    return fail(error, EPH_EP_FAIL, "a partition does not have one output");
  }
  what.input_count = (uint32_t)info.input_count;
  for (uint32_t n = 0; n < info.node_count; ++n) {
    if (!add_node(graph, &info, n, &result, &what, error)) {
      return fail(error, EPH_EP_FAIL, "a partition is not a chain of Add and Mul");
    }
  }
  if (result != info.outputs[0])
    return fail(error, EPH_EP_FAIL, "a chain does not end in the output of the partition");
  return make_chain(&what, EPH_EP_FAIL, out_computation, error);
}

/* ---- The EP context cache: writing chains, and restoring them -------------------------------- */

/* The payload is the magic and one recipe for each chain, in this machine's byte order, which the
 * compatibility text names. Each EPContext node notes the index of its recipe. */
static const char magic[8] = {'M', 'I', 'N', 'I', 'M', 'A', 'L', '1'};

static int32_t write_chain(const chain* self, uint32_t index, uint32_t payload,
                           eph_context_writer* writer, eph_error* error) {
  char notes[16];
  eph_context_node node = {.struct_size = sizeof(node),
                           .computation = index,
                           .payload = payload,
                           .source = EPH_STRING("MinimalExecutionProvider"),
                           .sdk_version = EPH_STRING(PLUGIN_VERSION)};
  int32_t code = writer->api->write(writer, payload, &self->what, sizeof(self->what), error);
  if (code != EPH_OK) return code;
  node.notes.data = notes;
  node.notes.size = (uint64_t)snprintf(notes, sizeof(notes), "%u", (unsigned)index);
  return writer->api->add_node(writer, &node, error);
}

static int32_t minimal_get_ep_context_nodes(eph_provider* provider,
                                            eph_computation* const* computations, uint64_t count,
                                            eph_context_writer* writer, eph_error* error) {
  uint32_t payload = EPH_NONE;
  (void)provider;
  if (count == 0) return EPH_OK;
  /* Nothing beyond get_compatibility: a provider for several devices would name the device here. */
  const eph_string own_text = {NULL, 0};
  int32_t code = writer->api->begin_payload(writer, own_text, &payload, error);
  if (code == EPH_OK) code = writer->api->write(writer, payload, magic, sizeof(magic), error);
  for (uint32_t i = 0; i < count && code == EPH_OK; ++i) {
    code = write_chain((const chain*)computations[i], i, payload, writer, error);
  }
  return code;
}

/* The number in `text`, up to `most`; more than `most` if it is not a number. */
static uint64_t parse_index(eph_string text, uint64_t most) {
  uint64_t number = 0;
  for (uint64_t i = 0; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9' || number > most) return most + 1;
    number = number * 10 + (uint64_t)(text.data[i] - '0');
  }
  return text.size == 0 ? most + 1 : number;
}

/* The payload comes from a file: whatever it holds, the answer is a chain that works or
 * EPH_INVALID_GRAPH. */
static int32_t restore_chain(const eph_ep_context* context, eph_computation** out_computation,
                             eph_error* error) {
  const char* bytes = (const char*)context->payload.data;
  const uint64_t size = context->payload.size;
  if (size < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0 ||
      (size - sizeof(magic)) % sizeof(recipe) != 0) {
    return fail(error, EPH_INVALID_GRAPH, "this is not a complete context of the minimal provider");
  }
  const uint64_t count = (size - sizeof(magic)) / sizeof(recipe);
  const uint64_t index = parse_index(context->notes, count);
  if (index >= count) {
    return fail(error, EPH_INVALID_GRAPH,
                "the node's notes name a recipe that the context does not have");
  }
  recipe what;
  memcpy(&what, bytes + sizeof(magic) + index * sizeof(recipe), sizeof(what));
  return make_chain(&what, EPH_INVALID_GRAPH, out_computation, error);
}

/* ---- The provider ---------------------------------------------------------------------------- */

/* The text has two parts: the format of payloads, which must be the same, and the plugin's version,
 * which is at most a reason to recompile. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PAYLOAD_FORMAT "minimal-1-big-endian"
#else
#define PAYLOAD_FORMAT "minimal-1-little-endian"
#endif
#define COMPATIBILITY PAYLOAD_FORMAT " " PLUGIN_VERSION

/* The host never looks into an eph_provider, so it may be any object of ours. */
typedef struct minimal_provider {
  int64_t min_chain; /* the minimum number of nodes for a computation of their own */
} minimal_provider;

static int32_t minimal_get_devices(const eph_provider_api* self, const eph_host* host,
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

/* A provider of an accelerator would now open config->devices, or nothing at all if config->purpose
 * has EPH_PURPOSE_COMPILE_ONLY. */
static int32_t minimal_create(const eph_provider_api* self, const eph_host* host,
                              const eph_provider_config* config, eph_provider** out_provider,
                              eph_error* error) {
  (void)self; /* for a function that serves several tables */
  (void)host; /* for logging, and for the interfaces of <ephost/ext/> */
  *out_provider = NULL;
  minimal_provider* made = (minimal_provider*)calloc(1, sizeof(*made));
  if (made == NULL) return out_of_memory(error);
  made->min_chain = 2;
  /* The manifest declares the options; the host has checked type and range of each. */
  for (uint64_t i = 0; i < config->option_count; ++i) {
    if (text_is(config->options[i].name, "min_chain")) {
      made->min_chain = config->options[i].int_value;
    }
  }
  *out_provider = (eph_provider*)made;
  return EPH_OK;
}

static void minimal_destroy(eph_provider* provider) { free(provider); }

/* Follows a chain from its first node and marks what it takes; returns the number of nodes. */
static uint64_t collect_chain(const eph_graph* graph, uint32_t first, unsigned char* visited,
                              uint32_t* nodes, eph_error* error) {
  uint64_t count = 0;
  uint32_t index = first;
  while (index != EPH_NONE && !visited[index] && count < MAX_STEPS - 1) {
    eph_node_info node;
    eph_value_info output;
    if (!is_link(graph, index, &node, &output, error)) break;
    visited[index] = 1;
    nodes[count++] = index;
    index = next_of(&output);
  }
  return count;
}

static int32_t claim_chain(const minimal_provider* self, const uint32_t* nodes, uint64_t count,
                           eph_claims* claims, eph_error* error) {
  eph_fused_claim claim = {.struct_size = sizeof(claim),
                           .name = EPH_STRING("chain"),
                           .nodes = nodes,
                           .node_count = count};
  if (count >= (uint64_t)self->min_chain) return claims->api->claim_fused(claims, &claim, error);
  /* This reason appears in `ephost partition --explain`. */
  if (count != 0) {
    const eph_string reason = EPH_STRING("its chain is shorter than the option min_chain");
    claims->api->decline(claims, nodes[0], reason);
  }
  return EPH_OK;
}

/* Claims what the provider wants. A chain is convex by construction: only its last node is read
 * from outside. The host drops a bad claim and reports why, so that a mistake here does not break a
 * model. */
static int32_t minimal_get_capability(eph_provider* provider, const eph_graph* graph,
                                      eph_claims* claims, eph_error* error) {
  const minimal_provider* self = (const minimal_provider*)provider;
  eph_graph_info info;
  uint32_t nodes[MAX_STEPS];
  int32_t code = EPH_OK;
  if (!get_graph(graph, &info, error))
    return fail(error, EPH_FAIL, "the host does not give its graph");
  unsigned char* visited = (unsigned char*)calloc(info.node_count + 1, 1);
  if (visited == NULL) return out_of_memory(error);
  for (uint32_t n = 0; code == EPH_OK && n < info.node_count; ++n) {
    if (visited[n]) continue;
    if (claims->api->has_kernel(claims, n)) {
      code = claims->api->claim_node(claims, n, error);
    } else {
      const uint64_t count = collect_chain(graph, n, visited, nodes, error);
      code = claim_chain(self, nodes, count, claims, error);
    }
  }
  free(visited);
  return code;
}

static int32_t minimal_get_kernels(eph_provider* provider, const eph_kernel_def** out_kernels,
                                   uint64_t* out_count, eph_error* error) {
  (void)provider, (void)error;
  *out_kernels = kernel_list;
  *out_count = sizeof(kernel_list) / sizeof(kernel_list[0]);
  return EPH_OK;
}

/* The host asks only for nodes that the kernel list matches. With several entries, this would look
 * at the node's operator and attributes. */
static int32_t minimal_create_kernel(eph_provider* provider, const eph_graph* graph, uint32_t node,
                                     eph_computation** out_computation, eph_error* error) {
  (void)provider, (void)graph, (void)node;
  *out_computation = (eph_computation*)calloc(1, sizeof(eph_computation));
  if (*out_computation == NULL) return out_of_memory(error);
  (*out_computation)->api = &relu_api;
  return EPH_OK;
}

/* Compiles new partitions and restores cached ones. After a failure the host destroys what is in
 * out_computations already. */
static int32_t minimal_compile(eph_provider* provider, const eph_partition* partitions,
                               uint64_t stride, uint64_t count, eph_computation** out_computations,
                               eph_error* error) {
  (void)provider;
  for (uint64_t i = 0; i < count; ++i) {
    /* A later host may pass longer records, so the stride counts and not their size here. */
    const void* record = (const char*)partitions + i * stride;
    const eph_partition* partition = (const eph_partition*)record;
    const int32_t code = partition->ep_context == NULL
                             ? compile_chain(partition->graph, &out_computations[i], error)
                             : restore_chain(partition->ep_context, &out_computations[i], error);
    if (code != EPH_OK) return code;
  }
  return EPH_OK;
}

static int32_t minimal_get_compatibility(eph_provider* provider, eph_string* out_text,
                                         eph_error* error) {
  const eph_string text = EPH_STRING(COMPATIBILITY);
  (void)provider, (void)error;
  *out_text = text;
  return EPH_OK;
}

static int text_starts_with(eph_string text, const char* start) {
  const size_t size = strlen(start);
  return text.size >= size && memcmp(text.data, start, size) == 0;
}

/* Asked without a provider. The answer is the same for each device here. */
static int32_t minimal_validate(const eph_provider_api* self, const eph_host* host,
                                const eph_device* device, eph_string text, int32_t* out_verdict,
                                eph_error* error) {
  (void)self, (void)host, (void)device, (void)error;
  if (text_is(text, COMPATIBILITY)) {
    *out_verdict = EPH_COMPATIBILITY_OPTIMAL;
  } else if (text_starts_with(text, PAYLOAD_FORMAT " ")) {
    *out_verdict = EPH_COMPATIBILITY_PREFER_RECOMPILATION;
  } else if (text_starts_with(text, "minimal-")) {
    *out_verdict = EPH_COMPATIBILITY_UNSUPPORTED;
  } else {
    *out_verdict = EPH_COMPATIBILITY_NOT_APPLICABLE;
  }
  return EPH_OK;
}

/* Computations change nothing but their outputs, so that any number of them may run at the same
 * time. Without this function, the host would make one call after the other. */
static int32_t minimal_describe(eph_provider* provider, eph_provider_info* out, eph_error* error) {
  eph_provider_info info = {.struct_size = sizeof(info), .max_concurrent = UINT32_MAX};
  (void)provider, (void)error;
  if (out->struct_size < info.struct_size) info.struct_size = out->struct_size;
  memcpy(out, &info, (size_t)info.struct_size);
  return EPH_OK;
}

/* ---- Tables and entry point ------------------------------------------------------------------ */

/* Names and vendor are those of the manifest; the host compares them. A slot that is left out is
 * null, and the header says what that means. */
static const eph_provider_api minimal_api = {.struct_size = sizeof(eph_provider_api),
                                             .type_name = EPH_STRING("MinimalExecutionProvider"),
                                             .name = EPH_STRING("minimal"),
                                             .vendor = EPH_STRING("ephost examples"),
                                             .get_devices = minimal_get_devices,
                                             .create = minimal_create,
                                             .destroy = minimal_destroy,
                                             .get_capability = minimal_get_capability,
                                             .get_kernels = minimal_get_kernels,
                                             .create_kernel = minimal_create_kernel,
                                             .compile = minimal_compile,
                                             .get_ep_context_nodes = minimal_get_ep_context_nodes,
                                             .get_compatibility = minimal_get_compatibility,
                                             .validate = minimal_validate,
                                             .describe = minimal_describe};

static const eph_provider_api* const provider_list[] = {&minimal_api};

static const eph_plugin_api plugin_api = {
    .struct_size = sizeof(eph_plugin_api), .providers = provider_list, .provider_count = 1};

/* The minor version that the plugin was written for, and that its manifest declares. A later header
 * changes nothing about that. */
#define ABI_MINOR 0

static const eph_plugin_api* get_api(const eph_load_info* info) {
  return info->minor == ABI_MINOR ? &plugin_api : NULL;
}

static const eph_plugin_preamble preamble = {.struct_size = sizeof(eph_plugin_preamble),
                                             .abi_minor_min = ABI_MINOR,
                                             .abi_minor_max = ABI_MINOR,
                                             .id = EPH_STRING("org.ephost.examples.minimal"),
                                             .version = EPH_STRING(PLUGIN_VERSION),
                                             .build_flags = EPH_BUILD_FLAGS,
                                             .get_api = get_api};

const eph_plugin_preamble* eph_plugin_v1(void) { return &preamble; }
