/* acme_compile.h: from the nodes of a graph to chains. */
#ifndef PLUGIN_COMPILE_H_
#define PLUGIN_COMPILE_H_

#include <ephost/plugin_abi.h>

/* Whether a node may be part of a chain. Fills `node` and `output`, its only output. */
int is_link(const eph_graph* graph, uint32_t index, eph_node_info* node, eph_value_info* output,
            eph_error* error);

/* The node that continues the chain: the only reader of the output. EPH_NONE: the chain ends. */
uint32_t next_of(const eph_value_info* output);

/* Makes the chain of a partition's graph. EPH_EP_FAIL if it is not a chain. */
int32_t compile_chain(const eph_graph* graph, eph_computation** out_computation, eph_error* error);

#endif
