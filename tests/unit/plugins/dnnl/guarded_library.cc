#include "tests/unit/plugins/dnnl/guarded_library.h"

#include <algorithm>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "plugins/dnnl/library/guarded_memory.h"

namespace ephost::test {
namespace {

using ephost_dnnl::GuardedMemory;

thread_local GuardedLibrary* guarded = nullptr;

// The arguments of one execution; those at one address share an area.
class GuardedArguments {
 public:
  explicit GuardedArguments(const std::vector<dnnl_exec_arg_t>& arguments) {
    for (const auto& [number, memory] : arguments) {
      dnnl::memory passed;
      passed.reset(memory, true);
      void* const address = passed.get_data_handle();
      const auto known = std::find(addresses_.begin(), addresses_.end(), address);
      areas_.push_back(static_cast<std::size_t>(known - addresses_.begin()));
      if (known == addresses_.end()) {
        addresses_.push_back(address);
        sizes_.push_back(0);
      }
      std::size_t& size = sizes_[areas_.back()];
      size = std::max(size, passed.get_desc().get_size());
      numbers_.push_back(number);
      passed_.push_back(std::move(passed));
    }
  }

  // Runs on copies. Returns what was touched beyond them.
  std::optional<std::string> run(GuardedMemory::Side side,
                                 const std::function<void(std::vector<dnnl_exec_arg_t>)>& execute) {
    const GuardedMemory memory(sizes_, side);
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (sizes_[i] > 0) std::memcpy(memory.data(i), addresses_[i], sizes_[i]);
    }
    std::vector<dnnl::memory> copies;
    std::vector<dnnl_exec_arg_t> arguments;
    for (std::size_t i = 0; i < passed_.size(); ++i) {
      copies.emplace_back(passed_[i].get_desc(), passed_[i].get_engine(), memory.data(areas_[i]));
      arguments.push_back({numbers_[i], copies.back().get()});
    }
    execute(arguments);
    results_.clear();
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      results_.emplace_back(static_cast<const char*>(memory.data(i)), sizes_[i]);
    }
    const std::optional<ephost_dnnl::Touch> touch = memory.touch();
    if (!touch) return std::nullopt;
    const auto at = std::find(areas_.begin(), areas_.end(), touch->area) - areas_.begin();
    return to_text(*touch) + " argument " + std::to_string(numbers_[static_cast<std::size_t>(at)]);
  }

  // Copies what the last run has changed; constants may lie in memory that must not be written.
  void store_results() const {
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (results_[i].empty()) continue;
      if (std::memcmp(addresses_[i], results_[i].data(), results_[i].size()) == 0) continue;
      std::memcpy(addresses_[i], results_[i].data(), results_[i].size());
    }
  }

 private:
  std::vector<dnnl::memory> passed_;  // by argument, like the next two
  std::vector<int> numbers_;          // DNNL_ARG_*
  std::vector<std::size_t> areas_;
  std::vector<void*> addresses_;  // by area, like the next two
  std::vector<std::size_t> sizes_;
  std::vector<std::string> results_;
};

}  // namespace

GuardedLibrary::GuardedLibrary() { guarded = this; }
GuardedLibrary::~GuardedLibrary() { guarded = nullptr; }

GuardedLibrary* GuardedLibrary::current() { return guarded; }

dnnl_status_t GuardedLibrary::execute(const std::string& implementation,
                                      const_dnnl_primitive_t primitive, dnnl_stream_t stream,
                                      const std::vector<dnnl_exec_arg_t>& arguments,
                                      const Execute& library) {
  GuardedArguments copies(arguments);
  dnnl_status_t status = dnnl_success;
  for (const auto side : {GuardedMemory::Side::kBehind, GuardedMemory::Side::kBefore}) {
    const auto touched = copies.run(side, [&](const std::vector<dnnl_exec_arg_t>& passed) {
      status = library(primitive, stream, passed);
      dnnl_stream_wait(stream);
    });
    if (touched) touches_.push_back(implementation + " " + *touched);
    if (status != dnnl_success) return status;
  }
  copies.store_results();
  return status;
}

}  // namespace ephost::test
