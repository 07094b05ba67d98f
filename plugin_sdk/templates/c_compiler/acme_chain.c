/*
 * acme_chain.c: programs, and the computations that run them on the processor. Replace the loops by
 * what your device does.
 */
#include "acme_chain.h"

#include <stdlib.h>
#include <string.h>

#include "acme_common.h"

/* ---- Programs -------------------------------------------------------------------------------- */

static int operand_exists(const program* what, uint32_t operand, int is_first) {
  if (operand == RESULT) return !is_first;
  if (operand >= FIRST_CONSTANT) return operand - FIRST_CONSTANT < what->constant_count;
  return operand < what->input_count;
}

/* Whether a program accesses only operands and elements that exist, wherever it came from. */
static int program_is_valid(const program* what, uint64_t* out_element_count) {
  if (what->rank > MAX_RANK || what->input_count > MAX_STEPS) return 0;
  if (what->constant_count > MAX_CONSTANTS) return 0;
  if (!count_elements(what->shape, what->rank, out_element_count)) return 0;
  if (what->step_count < 1 || what->step_count > MAX_STEPS) return 0;
  for (uint32_t s = 0; s < what->step_count; ++s) {
    if (what->steps[s].operation > RELU) return 0;
    if ((what->steps[s].operation == LOAD) != (s == 0)) return 0;
    if (!operand_exists(what, what->steps[s].operand, s == 0)) return 0;
  }
  return 1;
}

/* ---- Running them ---------------------------------------------------------------------------- */

static void chain_destroy(eph_computation* computation) {
  chain* self = (chain*)computation;
  if (self == NULL) return;
  for (uint32_t c = 0; c < self->what.constant_count; ++c) free(self->constants[c].name);
  free(self);
}

/* The elements of an operand, and the step from one to the next. */
static const float* find_operand(const chain* self, const eph_run* run, uint32_t operand,
                                 uint64_t* out_step) {
  if (operand >= FIRST_CONSTANT) {
    const constant* found = &self->constants[operand - FIRST_CONSTANT];
    *out_step = found->step;
    return found->elements;
  }
  *out_step = 1;
  return (const float*)run->inputs[operand]->data;
}

static float apply(uint32_t operation, float result, float operand) {
  if (operation == LOAD) return operand;
  if (operation == ADD) return result + operand;
  if (operation == MUL) return result * operand;
  return result < 0 ? 0 : result; /* written so that NaN stays NaN */
}

#define BLOCK 1024

/* Runs all steps on `size` elements, from `begin` on. They are read before they are written, so
 * that the output may have the memory of an input. */
static void run_block(const chain* self, const eph_run* run, uint64_t begin, uint64_t size) {
  float result[BLOCK] = {0};
  for (uint32_t s = 0; s < self->what.step_count; ++s) {
    const uint32_t operation = self->what.steps[s].operation;
    const uint32_t operand = self->what.steps[s].operand;
    uint64_t step = 1;
    const float* x = operand == RESULT ? result : find_operand(self, run, operand, &step);
    if (operand != RESULT) x += begin * step;
    for (uint64_t i = 0; i < size; ++i) result[i] = apply(operation, result[i], x[i * step]);
  }
  memcpy((float*)run->outputs[0]->data + begin, result, (size_t)size * sizeof(float));
}

static int32_t check_arguments(const chain* self, const eph_run* run, eph_error* error) {
  if (run->input_count != self->what.input_count || run->output_count != 1) {
    return fail(error, EPH_INVALID_ARGUMENT, "a chain was run with other inputs or outputs");
  }
  for (uint32_t i = 0; i < run->input_count; ++i) {
    const eph_value* in = run->inputs[i];
    if (in == NULL || in->byte_size != self->element_count * sizeof(float)) {
      return fail(error, EPH_INVALID_ARGUMENT, "an input has another size than the chain");
    }
  }
  return EPH_OK;
}

/* Gives the output its shape and memory. The host has done it already, unless it knows no shape. */
static int32_t prepare_output(const program* what, eph_run* run, eph_error* error) {
  const eph_value* value = run->outputs[0];
  if (value->data != NULL && value->rank == what->rank &&
      (what->rank == 0 || memcmp(value->shape, what->shape, what->rank * sizeof(int64_t)) == 0)) {
    return EPH_OK;
  }
  return run->api->allocate_output(run, 0, EPH_ELEMENT_FLOAT, what->shape, what->rank, error);
}

static int32_t chain_compute(eph_computation* computation, void* state, eph_run* run,
                             eph_error* error) {
  const chain* self = (const chain*)computation;
  (void)state;
  int32_t code = check_arguments(self, run, error);
  if (code == EPH_OK && run->outputs[0] == NULL) return EPH_OK; /* the result is not read */
  if (code == EPH_OK) code = prepare_output(&self->what, run, error);
  if (code != EPH_OK) return code;
  for (uint64_t begin = 0; begin < self->element_count; begin += BLOCK) {
    const uint64_t rest = self->element_count - begin;
    if (run->api->is_cancelled(run)) return fail(error, EPH_CANCELLED, "the run was cancelled");
    run_block(self, run, begin, rest < BLOCK ? rest : BLOCK);
  }
  return EPH_OK;
}

/* ---- Making chains --------------------------------------------------------------------------- */

/* Copies text, with a terminator. Null if memory runs out. */
static char* copy_text(eph_string text) {
  char* copy = (char*)malloc((size_t)text.size + 1);
  if (copy == NULL) return NULL;
  if (text.size != 0) memcpy(copy, text.data, (size_t)text.size);
  copy[text.size] = '\0';
  return copy;
}

static int32_t chain_describe(eph_computation* computation, eph_computation_info* out,
                              eph_error* error) {
  const chain* self = (const chain*)computation;
  const eph_computation_info info = {.may_inplace = self->pairs,
                                     .may_inplace_count = self->what.input_count};
  (void)error;
  return fill_record(&info, sizeof(info), out);
}

static const eph_computation_api chain_api = {.struct_size = sizeof(eph_computation_api),
                                              .destroy = chain_destroy,
                                              .compute = chain_compute,
                                              .describe = chain_describe};

/* Whether a value can be a constant of a chain of so many elements. */
static int is_fitting_constant(const eph_value* value, uint64_t element_count) {
  return value != NULL && value->kind == EPH_KIND_TENSOR &&
         value->element_type == EPH_ELEMENT_FLOAT && value->memory == 0 &&
         (value->byte_size == sizeof(float) || value->byte_size == element_count * sizeof(float));
}

int32_t make_chain(const program* what, const eph_named_value* constants, int32_t code,
                   eph_computation** out_computation, eph_error* error) {
  uint64_t element_count = 0;
  if (!program_is_valid(what, &element_count)) {
    return fail(error, code, "the program of a chain is invalid; compile the model again");
  }
  for (uint32_t c = 0; c < what->constant_count; ++c) {
    if (!is_fitting_constant(constants[c].value, element_count)) {
      return fail(error, code, "a constant does not fit its chain; compile the model again");
    }
  }
  chain* made = (chain*)calloc(1, sizeof(*made));
  if (made == NULL) return fail(error, EPH_OUT_OF_MEMORY, "the provider ran out of memory");
  made->base.api = &chain_api;
  made->what = *what;
  made->element_count = element_count;
  for (uint32_t i = 0; i < what->input_count; ++i) made->pairs[i].input = i;
  for (uint32_t c = 0; c < what->constant_count; ++c) {
    made->constants[c].elements = (const float*)constants[c].value->data;
    made->constants[c].step = constants[c].value->byte_size == sizeof(float) ? 0 : 1;
    made->constants[c].name = copy_text(constants[c].name);
    if (made->constants[c].name != NULL) continue;
    chain_destroy(&made->base);
    return fail(error, EPH_OUT_OF_MEMORY, "the provider ran out of memory");
  }
  *out_computation = &made->base;
  return EPH_OK;
}
