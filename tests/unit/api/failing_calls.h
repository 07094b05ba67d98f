// A failing call of every function of the C API that returns a status. A function that the API
// gains has to be added here.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/api/api_fixture.h"

namespace ephost::failures_test {

struct FailingCall {
  std::string function;  // "value.create_tensor"
  int32_t code;
  std::function<ephost_status*()> call;
};

// What an out_ parameter holds before a call, and must not hold after it.
template <class T>
T* poison() {
  return reinterpret_cast<T*>(uintptr_t{1});  // NOLINT(performance-no-int-to-ptr)
}

class CApiFailures : public test::CApi {
 protected:
  // Where there is too little room.
  ephost_status* sparse_to_dense(ephost_value** out);
  std::vector<FailingCall> of_values();
  std::vector<FailingCall> of_environments();
  std::vector<FailingCall> of_session_options();
  std::vector<FailingCall> of_sessions();
  std::vector<FailingCall> of_models();
  std::vector<FailingCall> of_tools();
  std::vector<FailingCall> all() {
    std::vector<FailingCall> calls;
    for (auto part : {of_values(), of_environments(), of_session_options(), of_sessions(),
                      of_models(), of_tools()}) {
      std::move(part.begin(), part.end(), std::back_inserter(calls));
    }
    return calls;
  }

  const std::string long_text_ = std::string(100, 'a');  // does not fit into a std::string itself
};

}  // namespace ephost::failures_test
