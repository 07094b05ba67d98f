/* acme_compile.c: see acme_compile.h. For more operators, start with operation_of and add_node. */
#include "acme_compile.h"

#include <string.h>

#include "acme_chain.h"
#include "acme_common.h"

/* ---- Looking at graphs ----------------------------------------------------------------------- */

/* Whether a value is computed at run time and is a tensor of floats of known shape. */
static int is_plain_tensor(const eph_value_info* value) {
  uint64_t count = 0;
  return value->kind == EPH_KIND_TENSOR && value->element_type == EPH_ELEMENT_FLOAT &&
         value->rank >= 0 && value->rank <= MAX_RANK &&
         count_elements(value->shape, (uint32_t)value->rank, &count);
}

static int same_shape(const eph_value_info* a, const eph_value_info* b) {
  if (a->rank != b->rank) return 0;
  return a->rank == 0 || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof(int64_t)) == 0;
}

/* Whether an operand of a node fits: a tensor of the output's shape, or a constant of one element.
 */
static int is_operand(const eph_value_info* input, const eph_value_info* output) {
  if (!is_plain_tensor(input)) return 0;
  if (same_shape(input, output)) return 1;
  return input->constant != NULL && input->constant->byte_size == sizeof(float);
}

/* The operation of a node; LOAD if it is not one of ours. The versions are those at which ONNX
 * changed the operators, and which mean the same for floats. */
static uint32_t operation_of(const eph_node_info* node) {
  if (node->domain.size != 0 || node->since_version > 14) return LOAD;
  if (text_is(node->op_type, "Relu") && node->since_version >= 6) return RELU;
  if (text_is(node->op_type, "Add") && node->since_version >= 7) return ADD;
  if (text_is(node->op_type, "Mul") && node->since_version >= 7) return MUL;
  return LOAD;
}

int is_link(const eph_graph* graph, uint32_t index, eph_node_info* node, eph_value_info* output,
            eph_error* error) {
  if (get_node(graph, index, node, error) != EPH_OK) return 0;
  if ((node->flags & EPH_NODE_TAKEN) != 0 || operation_of(node) == LOAD) return 0;
  if (get_value(graph, node->outputs[0], output, error) != EPH_OK) return 0;
  if (!is_plain_tensor(output)) return 0;
  for (uint64_t i = 0; i < node->input_count; ++i) {
    eph_value_info input;
    if (get_value(graph, node->inputs[i], &input, error) != EPH_OK) return 0;
    if (!is_operand(&input, output)) return 0;
  }
  return 1;
}

uint32_t next_of(const eph_value_info* output) {
  if ((output->flags & EPH_VALUE_GRAPH_OUTPUT) != 0 || output->consumer_count == 0) return EPH_NONE;
  for (uint64_t i = 1; i < output->consumer_count; ++i) {
    if (output->consumers[i] != output->consumers[0]) return EPH_NONE;
  }
  return output->consumers[0];
}

/* ---- Compiling ------------------------------------------------------------------------------- */

/* A program that is being made. */
typedef struct builder {
  const eph_graph* graph;
  eph_graph_info info;
  uint32_t result; /* the value that the steps so far compute */
  program what;
  eph_named_value constants[MAX_CONSTANTS];
} builder;

/* The operand that stands for a value of the graph. False if there are too many constants. */
static int find_value(builder* made, uint32_t value, uint32_t* out_operand, eph_error* error) {
  eph_value_info found;
  if (value == made->result) return *out_operand = RESULT, 1;
  for (uint32_t i = 0; i < made->what.input_count; ++i) {
    if (made->info.inputs[i] == value) return *out_operand = i, 1;
  }
  if (get_value(made->graph, value, &found, error) != EPH_OK) return 0;
  if (found.constant == NULL || made->what.constant_count == MAX_CONSTANTS) return 0;
  for (uint32_t c = 0; c < made->what.constant_count; ++c) {
    if (made->constants[c].value == found.constant) return *out_operand = FIRST_CONSTANT + c, 1;
  }
  made->constants[made->what.constant_count].name = found.name;
  made->constants[made->what.constant_count].value = found.constant;
  *out_operand = FIRST_CONSTANT + made->what.constant_count++;
  return 1;
}

static int add_step(builder* made, uint32_t operation, uint32_t value, eph_error* error) {
  uint32_t operand = 0;
  if (made->what.step_count == MAX_STEPS || !find_value(made, value, &operand, error)) return 0;
  made->what.steps[made->what.step_count].operation = operation;
  made->what.steps[made->what.step_count++].operand = operand;
  return 1;
}

/* Adds the steps of one node, whose output is then the result. */
static int add_node(builder* made, uint32_t index, eph_error* error) {
  eph_node_info node;
  eph_value_info output;
  if (!is_link(made->graph, index, &node, &output, error)) return 0;
  if (index == 0) {
    if (!add_step(made, LOAD, node.inputs[0], error)) return 0;
    made->result = node.inputs[0];
  }
  /* The result of the node before may stand on either side. */
  const uint64_t last = node.input_count - 1;
  const uint32_t other = node.inputs[0] == made->result ? node.inputs[last] : node.inputs[0];
  if (node.inputs[0] != made->result && node.inputs[last] != made->result) return 0;
  if (!add_step(made, operation_of(&node), other, error)) return 0;
  made->what.rank = (uint32_t)output.rank;
  if (output.rank > 0) {
    memcpy(made->what.shape, output.shape, made->what.rank * sizeof(int64_t));
  }
  made->result = node.outputs[0];
  return 1;
}

int32_t compile_chain(const eph_graph* graph, eph_computation** out_computation, eph_error* error) {
  builder made = {.graph = graph, .info = {.struct_size = sizeof(made.info)}, .result = EPH_NONE};
  const int32_t code = graph->api->get_graph(graph, &made.info, error);
  if (code != EPH_OK) return code;
  if (made.info.output_count != 1 || made.info.input_count > MAX_STEPS) {
    return fail(error, EPH_EP_FAIL, "a partition has other inputs or outputs than a chain");
  }
  made.what.input_count = (uint32_t)made.info.input_count;
  for (uint32_t n = 0; n < made.info.node_count; ++n) {
    if (!add_node(&made, n, error)) {
      return fail(error, EPH_EP_FAIL,
                  "a partition is not a chain of Relu, Add and Mul with at most 16 constants");
    }
  }
  if (made.result != made.info.outputs[0]) {
    return fail(error, EPH_EP_FAIL, "a chain does not end in the output of the partition");
  }
  return make_chain(&made.what, made.constants, EPH_EP_FAIL, out_computation, error);
}
