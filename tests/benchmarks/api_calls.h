// A session whose model has one input of floats, run in the ways that there are to call ephost.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <memory>

namespace ephost::benchmarks {

class Runs {
 public:
  Runs() = default;
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;
  virtual ~Runs() = default;

  // With inputs by name; the outputs are new values.
  virtual Status run() = 0;
  // With bound inputs and outputs.
  virtual Status run_with_binding() = 0;
};

// Calls what is behind the API, which is linked statically.
Result<std::unique_ptr<Runs>> open_inside(const std::filesystem::path& model);
// Call the library, through its tables or the C++ wrapper.
Result<std::unique_ptr<Runs>> open_from_c(const std::filesystem::path& model);
Result<std::unique_ptr<Runs>> open_from_cpp(const std::filesystem::path& model);

}  // namespace ephost::benchmarks
