// Hooks that make OpenMP usable in processes that are forked from this one, as Python's
// multiprocessing does.
#pragma once

namespace ephost_cpu {

// From now on until the plugin is unloaded, a thread that forks ends its OpenMP threads before
// that; its next parallel region starts others. A child has none of them, and would wait for them
// forever.
void let_children_use_openmp();

// Ends those of the calling thread now: for the end of a provider, after which the plugin may be
// unloaded, while the OpenMP runtime stays.
void end_openmp_threads();

}  // namespace ephost_cpu
