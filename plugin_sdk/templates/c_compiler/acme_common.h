/* acme_common.h: small functions that the other sources share. */
#ifndef PLUGIN_COMMON_H_
#define PLUGIN_COMMON_H_

#include <ephost/plugin_abi.h>
#include <string.h>

/* Explains a failure and returns its code, so that functions can end with `return fail(...)`. */
static inline int32_t fail(eph_error* error, int32_t code, const char* message) {
  const eph_string text = {message, strlen(message)};
  error->api->set_message(error, text);
  return code;
}

static inline int text_is(eph_string text, const char* expected) {
  return text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

/* The caller of a function that fills a record sets in it how much of the record it knows. */
static inline int32_t get_node(const eph_graph* graph, uint32_t index, eph_node_info* out,
                               eph_error* error) {
  memset(out, 0, sizeof(*out));
  out->struct_size = sizeof(*out);
  return graph->api->get_node(graph, index, out, error);
}

static inline int32_t get_value(const eph_graph* graph, uint32_t index, eph_value_info* out,
                                eph_error* error) {
  memset(out, 0, sizeof(*out));
  out->struct_size = sizeof(*out);
  return graph->api->get_value(graph, index, out, error);
}

/* Counts the elements of a shape. False for a negative extent and for more than 2^48 elements:
 * numbers from a graph or a file are never multiplied unchecked. */
static inline int count_elements(const int64_t* shape, uint32_t rank, uint64_t* out_count) {
  const uint64_t most = UINT64_C(1) << 48;
  *out_count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    if (shape[i] < 0) return 0;
    if (shape[i] != 0 && *out_count > most / (uint64_t)shape[i]) return 0;
    *out_count *= (uint64_t)shape[i];
  }
  return 1;
}

/* A function that fills a record of the host writes the fields that both sides know, and leaves the
 * smaller of the two sizes in struct_size, which comes first in every record. */
static inline int32_t fill_record(const void* record, uint64_t size, void* out) {
  uint64_t known = 0;
  memcpy(&known, out, sizeof(known));
  if (size < known) known = size;
  memcpy(out, record, (size_t)known);
  memcpy(out, &known, sizeof(known));
  return EPH_OK;
}

#endif
