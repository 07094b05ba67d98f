#include "tests/unit/plugins/dnnl/failing_library.h"

#include <dlfcn.h>

#include <utility>

namespace ephost::test {
namespace {

std::atomic<FailingLibrary*> current = nullptr;

Execution describe(const_dnnl_primitive_t primitive) {
  Execution execution;
  const_dnnl_primitive_desc_t descriptor = nullptr;
  dnnl_primitive_get_primitive_desc(primitive, &descriptor);
  dnnl_primitive_desc_query(descriptor, dnnl_query_primitive_kind, 0, &execution.kind);
  const char* implementation = nullptr;
  dnnl_primitive_desc_query(descriptor, dnnl_query_impl_info_str, 0, &implementation);
  execution.implementation = implementation;
  return execution;
}

}  // namespace

FailingLibrary::FailingLibrary(Predicate fails) : fails_(std::move(fails)) { current = this; }
FailingLibrary::~FailingLibrary() { current = nullptr; }

bool FailingLibrary::fails(const Execution& execution) {
  if (!fails_(execution)) return false;
  ++failures_;
  return true;
}

}  // namespace ephost::test

extern "C" dnnl_status_t dnnl_primitive_execute(const_dnnl_primitive_t primitive,
                                                dnnl_stream_t stream, int count,
                                                const dnnl_exec_arg_t* arguments) {
  using Execute = decltype(&dnnl_primitive_execute);
  static const auto execute = reinterpret_cast<Execute>(dlsym(RTLD_NEXT, "dnnl_primitive_execute"));
  ephost::test::FailingLibrary* library = ephost::test::current;
  if (library != nullptr && library->fails(ephost::test::describe(primitive))) {
    return dnnl_runtime_error;
  }
  return execute(primitive, stream, count, arguments);
}
