#include "plugins/dnnl/executor/compiled_partition.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

#include "plugins/dnnl/library/threads.h"

namespace ephost_dnnl {
namespace {

void create_primitive(Program& program, std::size_t i) {
  Step& step = program.steps[i];
  if (step.own != nullptr) return;
  try {
    step.primitive = dnnl::primitive(step.descriptor.get());
    step.descriptor = {};  // the primitive has a copy of these thousands of bytes
  } catch (const dnnl::error& error) {
    throw StepFailed(i,
                     "oneDNN cannot create the primitive of " + step.label + ": " + error.what());
  }
}

// Takes steps from a common counter until none is left; the first failure stops all threads.
class Creator {
 public:
  Creator(Program& program, int library_threads)
      : program_(program), library_threads_(library_threads) {}

  void work() {
    try {
      const ThreadScope scope(library_threads_);
      for (std::size_t i = next_++; i < program_.steps.size(); i = next_++) {
        create_primitive(program_, i);
      }
    } catch (...) {
      next_ = program_.steps.size();
      if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (failed_) std::rethrow_exception(failure_);
  }

 private:
  Program& program_;
  int library_threads_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::exception_ptr failure_;
};

}  // namespace

void* fixed_memory(const Program& program, const Buffer& buffer) {
  if (buffer.place == Place::kConstant) {
    return const_cast<void*>(program.constants[buffer.index].data);
  }
  if (buffer.place == Place::kParameter) {
    return const_cast<char*>(program.parameters[buffer.index].data());
  }
  return nullptr;
}

void create_primitives(Program& program, int threads) {
  // A thread pays off only for several primitives at about half a millisecond each.
  constexpr std::size_t kStepsPerThread = 4;
  const std::size_t workers = std::min(static_cast<std::size_t>(std::max(threads, 1)),
                                       program.steps.size() / kStepsPerThread + 1);
  Creator creator(program, threads);
  std::vector<std::thread> others;
  try {
    for (std::size_t i = 1; i < workers; ++i) others.emplace_back([&creator] { creator.work(); });
  } catch (const std::system_error&) {  // the system has no more threads: continue with these
  }
  creator.work();
  for (std::thread& other : others) other.join();
  creator.rethrow();
}

}  // namespace ephost_dnnl
