/*
 * Counts the allocations of a process that preloads this library (LD_PRELOAD). Works for programs
 * in any language that take memory from the C library.
 *
 * At exit the process appends the number of all its allocations to the file that
 * EPHOST_ALLOCATION_COUNT names. `ephost bench` counts those of a part of its runs: it finds the
 * two exported functions at run time (host/cli/measure/allocation_counter.h) and does without them
 * if this library is not preloaded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The C library's own allocator, under the names that it keeps for replacements of malloc. */
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* memory);

static atomic_ullong allocations;

/* Written while no counting is active, read while it is. */
static const uintptr_t* plugin_ranges;
static size_t plugin_range_count;
static atomic_bool counting;
static atomic_ullong counted;
static atomic_ullong counted_of_host;
/* The host runs a model on the thread that requests it; other threads belong to plugins. */
static _Thread_local bool is_counting_thread;
static _Thread_local bool is_inside;

static bool is_plugin_code(const void* address) {
  const uintptr_t value = (uintptr_t)address;
  for (size_t i = 0; i < plugin_range_count; ++i) {
    if (value >= plugin_ranges[2 * i] && value < plugin_ranges[2 * i + 1]) return true;
  }
  return false;
}

static bool is_of_host(void) {
  void* frames[64];
  const int depth = backtrace(frames, 64);
  for (int i = 0; i < depth; ++i) {
    if (is_plugin_code(frames[i])) return false;
  }
  return is_counting_thread;
}

static void count(void) {
  atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
  if (!atomic_load_explicit(&counting, memory_order_relaxed) || is_inside) return;
  is_inside = true; /* inspecting the stack may itself allocate */
  atomic_fetch_add_explicit(&counted, 1, memory_order_relaxed);
  if (is_of_host()) atomic_fetch_add_explicit(&counted_of_host, 1, memory_order_relaxed);
  is_inside = false;
}

/* Starts counting from zero on this thread. `ranges` are `range_count` pairs of addresses, the code
 * of the plugins; they are borrowed until the same thread stops counting. */
void ephost_start_counting_allocations(const uintptr_t* ranges, size_t range_count) {
  void* frame[1];
  (void)backtrace(frame, 1); /* the first inspection of a stack loads a library */
  plugin_ranges = ranges;
  plugin_range_count = range_count;
  atomic_store(&counted, 0);
  atomic_store(&counted_of_host, 0);
  is_counting_thread = true;
  atomic_store(&counting, true);
}

void ephost_stop_counting_allocations(uint64_t* out_all, uint64_t* out_of_host) {
  atomic_store(&counting, false);
  is_counting_thread = false;
  *out_all = atomic_load(&counted);
  *out_of_host = atomic_load(&counted_of_host);
}

void* malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void* calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}

void* realloc(void* memory, size_t size) {
  count();
  return __libc_realloc(memory, size);
}

/* Replaced too, so that memory returns to its allocator, whatever else is preloaded. */
void free(void* memory) { __libc_free(memory); }

void* memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** out_memory, size_t alignment, size_t size) {
  const bool is_power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!is_power_of_two || alignment % sizeof(void*) != 0) return EINVAL;
  void* memory = memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *out_memory = memory;
  return 0;
}

__attribute__((destructor)) static void report(void) {
  const char* path = getenv("EPHOST_ALLOCATION_COUNT");
  if (path == NULL) return;
  char text[32];
  const int size = snprintf(text, sizeof(text), "%llu\n", atomic_load(&allocations));
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0) return;
  if (write(file, text, (size_t)size) != size) perror(path);
  close(file);
}
