/*
 * acme_provider.c: an execution provider that compiles: chains of Relu, Add and Mul of floats, in
 * which each node feeds the next one only, become one computation, e.g. y = relu(a * b + c). What
 * it compiled goes into the EP context cache, and comes back from there without the model's nodes.
 *
 * Read from the bottom: entry point, tables, provider, claims, contexts. acme_compile.c makes
 * chains of graphs, acme_chain.c runs them.
 */
#include <ephost/plugin_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acme_chain.h"
#include "acme_common.h"
#include "acme_compile.h"

/* ---- The EP context cache: writing chains, and restoring them -------------------------------- */

/* A payload is the magic and one program for each chain, in this machine's byte order, which the
 * compatibility text names. Each EPContext node notes the index of its program. */
static const char magic[8] = {'C', 'H', 'A', 'I', 'N', 'S', '0', '1'};

static int32_t write_chain(const chain* self, uint32_t index, uint32_t payload,
                           eph_context_writer* writer, eph_error* error) {
  char notes[16];
  eph_string names[MAX_CONSTANTS];
  eph_context_node node = {.struct_size = sizeof(node),
                           .computation = index,
                           .payload = payload,
                           .source = EPH_STRING("AcmeExecutionProvider"),
                           .sdk_version = EPH_STRING(PLUGIN_VERSION),
                           .constants = names,
                           .constant_count = self->what.constant_count};
  const int32_t code = writer->api->write(writer, payload, &self->what, sizeof(self->what), error);
  if (code != EPH_OK) return code;
  node.notes.data = notes;
  node.notes.size = (uint64_t)snprintf(notes, sizeof(notes), "%u", (unsigned)index);
  for (uint32_t c = 0; c < self->what.constant_count; ++c) {
    names[c].data = self->constants[c].name;
    names[c].size = strlen(self->constants[c].name);
  }
  return writer->api->add_node(writer, &node, error);
}

static int32_t acme_get_ep_context_nodes(eph_provider* provider,
                                         eph_computation* const* computations, uint64_t count,
                                         eph_context_writer* writer, eph_error* error) {
  const eph_string own_text = {NULL, 0}; /* nothing beyond get_compatibility */
  uint32_t payload = EPH_NONE;
  (void)provider;
  if (count == 0) return EPH_OK;
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

/* The payload comes from a file: whatever it contains, the answer is a chain that works or
 * EPH_INVALID_GRAPH. */
static int32_t restore_chain(const eph_ep_context* context, eph_computation** out_computation,
                             eph_error* error) {
  const char* bytes = (const char*)context->payload.data;
  const uint64_t size = context->payload.size;
  if (size < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0 ||
      (size - sizeof(magic)) % sizeof(program) != 0) {
    return fail(error, EPH_INVALID_GRAPH, "this is not a complete context of this provider");
  }
  const uint64_t count = (size - sizeof(magic)) / sizeof(program);
  const uint64_t index = parse_index(context->notes, count);
  if (index >= count) {
    return fail(error, EPH_INVALID_GRAPH,
                "the node's notes name a program that the context does not have");
  }
  program what;
  memcpy(&what, bytes + sizeof(magic) + index * sizeof(program), sizeof(what));
  if (what.constant_count != context->constant_count) {
    return fail(error, EPH_INVALID_GRAPH, "the context has other constants than its program");
  }
  return make_chain(&what, context->constants, EPH_INVALID_GRAPH, out_computation, error);
}

/* ---- The provider ---------------------------------------------------------------------------- */

/* The text has two parts: the format of payloads, which must be the same, and the plugin's version,
 * which is at most a reason to recompile. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PAYLOAD_FORMAT "acme-1-big-endian"
#else
#define PAYLOAD_FORMAT "acme-1-little-endian"
#endif
#define COMPATIBILITY PAYLOAD_FORMAT " " PLUGIN_VERSION

/* The host never looks into an eph_provider, so it may be any object of ours. */
typedef struct acme_provider {
  int64_t min_nodes; /* the fewest nodes of a chain that is worth compiling */
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
    if (text_is(config->options[i].name, "min_nodes")) {
      made->min_nodes = config->options[i].int_value;
    }
  }
  *out_provider = (eph_provider*)made;
  return EPH_OK;
}

static void acme_destroy(eph_provider* provider) { free(provider); }

/* Follows a chain from its first node and marks what it takes; returns the number of nodes. */
static uint64_t collect_chain(const eph_graph* graph, uint32_t first, unsigned char* visited,
                              uint32_t* nodes, eph_error* error) {
  uint64_t count = 0, constants = 0;
  uint32_t index = first;
  while (index != EPH_NONE && !visited[index] && count < MAX_STEPS - 1) {
    eph_node_info node;
    eph_value_info output, input;
    if (!is_link(graph, index, &node, &output, error)) break;
    for (uint64_t i = 0; i < node.input_count; ++i) {
      if (get_value(graph, node.inputs[i], &input, error) != EPH_OK) break;
      constants += input.constant != NULL;
    }
    if (constants > MAX_CONSTANTS) break;
    visited[index] = 1;
    nodes[count++] = index;
    index = next_of(&output);
  }
  return count;
}

static int32_t claim_chain(const acme_provider* self, const uint32_t* nodes, uint64_t count,
                           eph_claims* claims, eph_error* error) {
  eph_fused_claim claim = {.struct_size = sizeof(claim),
                           .name = EPH_STRING("chain"),
                           .nodes = nodes,
                           .node_count = count};
  if (count == 0) return EPH_OK;
  if (count >= (uint64_t)self->min_nodes) return claims->api->claim_fused(claims, &claim, error);
  /* This reason appears in `ephost partition --explain`. */
  const eph_string reason = EPH_STRING("its chain is shorter than the option min_nodes");
  for (uint64_t i = 0; i < count; ++i) claims->api->decline(claims, nodes[i], reason);
  return EPH_OK;
}

/* Claims chains. They are convex by construction: only the last node is read from outside. The host
 * drops a bad claim and reports why, so that a mistake here does not break a model. */
static int32_t acme_get_capability(eph_provider* provider, const eph_graph* graph,
                                   eph_claims* claims, eph_error* error) {
  const acme_provider* self = (const acme_provider*)provider;
  eph_graph_info info = {.struct_size = sizeof(info)};
  uint32_t nodes[MAX_STEPS];
  int32_t code = graph->api->get_graph(graph, &info, error);
  if (code != EPH_OK) return code;
  unsigned char* visited = (unsigned char*)calloc((size_t)info.node_count + 1, 1);
  if (visited == NULL) return fail(error, EPH_OUT_OF_MEMORY, "the provider ran out of memory");
  for (uint32_t n = 0; code == EPH_OK && n < info.node_count; ++n) {
    const uint64_t count = collect_chain(graph, n, visited, nodes, error);
    code = claim_chain(self, nodes, count, claims, error);
  }
  free(visited);
  return code;
}

/* Compiles new partitions and restores cached ones. After a failure the host destroys what is in
 * out_computations already. */
static int32_t acme_compile(eph_provider* provider, const eph_partition* partitions,
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

static int32_t acme_get_compatibility(eph_provider* provider, eph_string* out_text,
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
static int32_t acme_validate(const eph_provider_api* self, const eph_host* host,
                             const eph_device* device, eph_string text, int32_t* out_verdict,
                             eph_error* error) {
  (void)self, (void)host, (void)device, (void)error;
  if (text_is(text, COMPATIBILITY)) {
    *out_verdict = EPH_COMPATIBILITY_OPTIMAL;
  } else if (text_starts_with(text, PAYLOAD_FORMAT " ")) {
    *out_verdict = EPH_COMPATIBILITY_PREFER_RECOMPILATION;
  } else if (text_starts_with(text, "acme-")) {
    *out_verdict = EPH_COMPATIBILITY_UNSUPPORTED;
  } else {
    *out_verdict = EPH_COMPATIBILITY_NOT_APPLICABLE;
  }
  return EPH_OK;
}

/* Chains change nothing but their outputs, so that any number of them may run at the same time. */
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
                                          .compile = acme_compile,
                                          .get_ep_context_nodes = acme_get_ep_context_nodes,
                                          .get_compatibility = acme_get_compatibility,
                                          .validate = acme_validate,
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
