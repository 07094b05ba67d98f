#include "tests/unit/plugins/dnnl/failing_library.h"

#include <dlfcn.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

#include "tests/unit/plugins/dnnl/guarded_library.h"

namespace ephost::test {
namespace {

std::atomic<FailingLibrary*> current = nullptr;
std::atomic<StrayingLibrary*> straying = nullptr;

Execution describe(const_dnnl_primitive_t primitive) {
  Execution execution;
  const_dnnl_primitive_desc_t descriptor = nullptr;
  dnnl_primitive_get_primitive_desc(primitive, &descriptor);
  dnnl_primitive_desc_query(descriptor, dnnl_query_primitive_kind, 0, &execution.kind);
  const char* implementation = nullptr;
  dnnl_primitive_desc_query(descriptor, dnnl_query_impl_info_str, 0, &implementation);
  execution.implementation = implementation;
  const_dnnl_primitive_attr_t attributes = nullptr;
  const_dnnl_post_ops_t post_ops = nullptr;
  dnnl_primitive_desc_get_attr(descriptor, &attributes);
  dnnl_primitive_attr_get_post_ops(attributes, &post_ops);
  execution.has_post_ops = dnnl_post_ops_len(post_ops) > 0;
  return execution;
}

std::size_t size_of(const_dnnl_memory_t memory) {
#if DNNL_VERSION_MAJOR >= 3
  const_dnnl_memory_desc_t layout = nullptr;
#else
  const dnnl_memory_desc_t* layout = nullptr;
#endif
  dnnl_memory_get_memory_desc(memory, &layout);
  return dnnl_memory_desc_get_size(layout);
}

}  // namespace

FailingLibrary::FailingLibrary(Predicate fails) : fails_(std::move(fails)) { current = this; }
FailingLibrary::~FailingLibrary() { current = nullptr; }

bool FailingLibrary::fails(const Execution& execution) {
  if (!fails_(execution)) return false;
  ++failures_;
  return true;
}

StrayingLibrary::StrayingLibrary(Predicate strays, int64_t distance, bool writes)
    : strays_(std::move(strays)), distance_(distance), writes_(writes) {
  straying = this;
}
StrayingLibrary::~StrayingLibrary() { straying = nullptr; }

void StrayingLibrary::stray(const Execution& execution, const_dnnl_memory_t output) {
  if (!strays_(execution)) return;
  ++accesses_;
  void* data = nullptr;
  dnnl_memory_get_data_handle(output, &data);
  const auto end = distance_ < 0 ? 0 : static_cast<int64_t>(size_of(output));
  volatile char* const address = static_cast<char*>(data) + end + distance_;
  if (writes_) {
    *address = 1;
  } else {
    static_cast<void>(*address);
  }
}

namespace {

// Calls the library itself, and touches what is to be touched.
dnnl_status_t execute_straying(const_dnnl_primitive_t primitive, dnnl_stream_t stream,
                               const std::vector<dnnl_exec_arg_t>& arguments) {
  using Function = decltype(&dnnl_primitive_execute);
  static const auto execute =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "dnnl_primitive_execute"));
  if (StrayingLibrary* const strayed = straying) {
    for (const auto& [argument, memory] : arguments) {
      if (argument == DNNL_ARG_DST) strayed->stray(describe(primitive), memory);
    }
  }
  return execute(primitive, stream, static_cast<int>(arguments.size()), arguments.data());
}

dnnl_status_t execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream,
                      const std::vector<dnnl_exec_arg_t>& arguments) {
  FailingLibrary* const library = current;
  if (library != nullptr && library->fails(describe(primitive))) return dnnl_runtime_error;
  GuardedLibrary* const guarded = GuardedLibrary::current();
  if (guarded == nullptr) return execute_straying(primitive, stream, arguments);
  return guarded->execute(describe(primitive).implementation, primitive, stream, arguments,
                          &execute_straying);
}

}  // namespace
}  // namespace ephost::test

extern "C" dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive,
                                                dnnl_stream_t stream, int count,
                                                const dnnl_exec_arg_t* arguments) {
  return ephost::test::execute(primitive, stream, {arguments, arguments + count});
}
