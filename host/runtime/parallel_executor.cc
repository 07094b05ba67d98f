#include "host/runtime/parallel_executor.h"

#include <algorithm>
#include <utility>

#include "host/base/thrown.h"

namespace ephost::runtime {

ParallelExecutor::ParallelExecutor(ThreadPool& pool, uint32_t threads)
    : pool_(pool), threads_(threads) {}

Status ParallelExecutor::run(const plan::StepDependencies& dependencies, StepRunner& runner) {
  runner_ = &runner;
  reset(dependencies);
  const uint32_t first_steps = ready_count_;
  {
    const ThreadPool::Opening opening(pool_, *this, threads_ - 1);
    if (first_steps > 1) pool_.wake(std::min(threads_, first_steps) - 1);
    work_to_the_end();
  }
  return std::exchange(failure_, Status());
}

void ParallelExecutor::reset(const plan::StepDependencies& dependencies) {
  dependencies_ = &dependencies;
  const size_t count = dependencies.waits_for.size();
  if (capacity_ < count) {
    waits_for_ = std::make_unique<std::atomic<uint32_t>[]>(count);
    capacity_ = count;
    ready_.reserve(count);
  }
  ready_.clear();
  for (uint32_t step = 0; step < count; ++step) {
    waits_for_[step].store(dependencies.waits_for[step], std::memory_order_relaxed);
    if (dependencies.waits_for[step] == 0) ready_.push_back(step);  // ascending: a heap
  }
  ready_count_ = static_cast<uint32_t>(ready_.size());
  unfinished_ = count;
  stopping_ = false;
}

uint32_t ParallelExecutor::take() {
  if (ready_.empty() || stopping_) return plan::kNoStep;
  std::ranges::pop_heap(ready_, std::greater());
  const uint32_t step = ready_.back();
  ready_.pop_back();
  ready_count_.fetch_sub(1);
  return step;
}

void ParallelExecutor::work_to_the_end() {
  std::unique_lock lock(mutex_);
  while (unfinished_ != 0 && !stopping_) {
    const uint32_t step = take();
    caller_waits_ = step == plan::kNoStep;
    if (caller_waits_) {
      changed_.wait(lock, [&] { return unfinished_ == 0 || stopping_ || !ready_.empty(); });
      continue;
    }
    lock.unlock();
    run_line(step, 0);
    lock.lock();
  }
}

void ParallelExecutor::help(uint32_t helper) noexcept {
  while (true) {
    uint32_t step = plan::kNoStep;
    {
      const std::lock_guard lock(mutex_);
      step = take();
    }
    if (step == plan::kNoStep) return;
    run_line(step, helper + 1);
  }
}

void ParallelExecutor::run_line(uint32_t step, uint32_t lane) {
  while (step != plan::kNoStep && !is_stopping()) {
    Status status;
    try {
      status = runner_->run_step(step, lane);
    } catch (const std::exception& exception) {
      status = status_of_thrown(exception);
    }
    if (!status.ok()) return fail(std::move(status));
    step = finish(step);
  }
}

uint32_t ParallelExecutor::finish(uint32_t step) {
  uint32_t next = plan::kNoStep;
  for (const uint32_t successor : dependencies_->successors_of(step)) {
    if (waits_for_[successor].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    if (next == plan::kNoStep) {
      next = successor;
    } else {
      offer(successor);
    }
  }
  if (unfinished_.fetch_sub(1) == 1) {
    const std::lock_guard lock(mutex_);
    changed_.notify_one();
  }
  return next;
}

void ParallelExecutor::offer(uint32_t step) {
  bool is_awaited = false;
  {
    const std::lock_guard lock(mutex_);
    ready_.push_back(step);
    std::ranges::push_heap(ready_, std::greater());
    ready_count_.fetch_add(1);
    is_awaited = std::exchange(caller_waits_, false);
    if (is_awaited) changed_.notify_one();
  }
  if (!is_awaited) pool_.wake();
}

void ParallelExecutor::fail(Status status) {
  const std::lock_guard lock(mutex_);
  if (!stopping_) failure_ = std::move(status);
  stopping_ = true;
  changed_.notify_one();
}

}  // namespace ephost::runtime
