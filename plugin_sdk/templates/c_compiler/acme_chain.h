/*
 * acme_chain.h: chains, which are what this provider runs: a program of steps, and the computation
 * that is made of it.
 */
#ifndef PLUGIN_CHAIN_H_
#define PLUGIN_CHAIN_H_

#include <ephost/plugin_abi.h>

#define MAX_RANK 8
#define MAX_STEPS 64
#define MAX_CONSTANTS 16

/* The operation of a step. The first step loads its operand; each further one changes the result.
 */
enum { LOAD = 0, ADD = 1, MUL = 2, RELU = 3 };
/* An operand: this plus the index of a constant, RESULT, or else the index of an input. */
#define FIRST_CONSTANT UINT32_C(0x10000)
#define RESULT UINT32_MAX

/* What a chain computes. It has a fixed size and no pointers, so that it can go into a context
 * payload as it is. Constants are not part of it: the host keeps them. */
typedef struct program {
  uint32_t rank;
  uint32_t input_count;
  uint32_t constant_count;
  uint32_t step_count;
  int64_t shape[MAX_RANK]; /* of all values but constants; zero beyond the rank */
  struct {
    uint32_t operation;
    uint32_t operand;
  } steps[MAX_STEPS];
} program;

/* A constant of the partition. Its record lives no longer than the graph, but its elements live as
 * long as the computation. */
typedef struct constant {
  char* name; /* in the graph; owned */
  const float* elements;
  uint64_t step; /* from one element to the next: 0 where one element counts for all */
} constant;

typedef struct chain {
  eph_computation base;
  program what;
  uint64_t element_count;
  constant constants[MAX_CONSTANTS];
  eph_slot_pair pairs[MAX_STEPS]; /* the output may take over the memory of each input */
} chain;

/* Makes a chain with copies of the constants' names, or fails with `code` if something is wrong
 * with the program or the constants. The elements of the constants live as long as the chain. */
int32_t make_chain(const program* what, const eph_named_value* constants, int32_t code,
                   eph_computation** out_computation, eph_error* error);

#endif
