/*
 * graph_wishes.h: the optional interface "ephost.graph_wishes/1", which a provider offers to the
 * host through its get_provider_extension. It is for providers that take patterns of nodes which
 * the host's own passes would change before the provider is asked, such as weights that are
 * unpacked by a few nodes.
 *
 * Before the host asks a provider for its claims, it simplifies the graph: nodes that depend on
 * constants only are computed, nodes that give their input unchanged are removed, and calls of
 * functions that no provider claims are replaced by the functions' bodies. A provider names the
 * operators that are to reach it as they are in the model. The host
 *
 *   - does not compute a node with such an operator, even if all its inputs are constants;
 *   - does not remove it if it gives its input unchanged, nor a node that does so and reads from it
 *     or is read by it;
 *   - asks all providers about it, if it is the call of a function, before it looks at its body. (A
 *     function of the model that has the name of an operator is another matter: a provider would
 * take it for that operator, so its body always takes its place.)
 *
 * The wishes of all providers of a session hold for the whole graph, with the bodies of its nodes.
 * They end with the providers' claims: what no provider takes falls to the CPU provider, and the
 * host may simplify it then. QuantizeLinear and DequantizeLinear need no wish, as they reach the
 * providers as they are. Constant nodes always become constants. Nodes that no output of the graph
 * depends on are removed.
 *
 * This header follows the rules of <ephost/plugin_abi.h>, which explains the marks [required],
 * [owner] and `struct_size`.
 */
#ifndef EPHOST_EXT_GRAPH_WISHES_H_
#define EPHOST_EXT_GRAPH_WISHES_H_

#include <ephost/plugin_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EPH_EXT_GRAPH_WISHES "ephost.graph_wishes/1"

/* An operator, or a function of the model. */
typedef struct eph_kept_operator {
  uint64_t struct_size;
  eph_string op_type;
  eph_string domain; /* empty: ai.onnx */
  /* Lowest and highest since_version of the operator, both inclusive, as in eph_kernel_def. A
   * function of the model has the version of its domain that the model imports. */
  int32_t since_version;
  int32_t until_version;
} eph_kept_operator;

typedef struct eph_graph_wishes_api {
  uint64_t struct_size;

  /* The operators that are to reach the provider unchanged, in an array with *out_stride bytes from
   * one record to the next. They live as long as the provider, and depend on nothing but its
   * options and devices, so that equal sessions see equal graphs. Called once, after `create`.
   * [required] [owner] */
  int32_t (*get_kept_operators)(eph_provider* provider, const eph_kept_operator** out_operators,
                                uint64_t* out_stride, uint64_t* out_count,
                                eph_error* error) EPH_NOEXCEPT;
} eph_graph_wishes_api;

#ifdef __cplusplus
}
#endif

#endif /* EPHOST_EXT_GRAPH_WISHES_H_ */
