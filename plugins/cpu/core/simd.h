// CPU_SIMD before a function compiles it for several instruction sets; the one that the processor
// has is chosen when the plugin is loaded. For hot loops over plain pointers, in anonymous
// namespaces, whose callees are all inlined. CPU_INLINE marks those callees.
//
// CPU_INDEPENDENT before a loop tells that no iteration reads what another one writes. An output
// that is exactly an input (in place) satisfies that.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CPU_SIMD __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CPU_SIMD
#endif

#define CPU_INLINE [[gnu::always_inline]] inline

#if defined(__GNUC__) && !defined(__clang__)
#define CPU_INDEPENDENT _Pragma("GCC ivdep")
#else
#define CPU_INDEPENDENT
#endif
