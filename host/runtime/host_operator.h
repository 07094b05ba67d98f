// An operator that the host runs itself instead of a provider. Created once for a node and shared
// by all frames of the program.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <string_view>
#include <vector>

namespace ephost::runtime {

class HostStep;
class Program;

class HostOperator {
 public:
  // Owns the programs of the node's bodies.
  explicit HostOperator(std::vector<std::unique_ptr<Program>> bodies);
  HostOperator(const HostOperator&) = delete;
  HostOperator& operator=(const HostOperator&) = delete;
  virtual ~HostOperator();

  // Runs the node once and gives every wanted output its value. May be called concurrently with
  // steps of different frames.
  [[nodiscard]] virtual Status run(HostStep& step) const = 0;

  // The name that profiles show as the provider.
  [[nodiscard]] virtual std::string_view provider_name() const { return "host"; }

  [[nodiscard]] size_t body_count() const { return bodies_.size(); }
  [[nodiscard]] const Program& body(size_t index) const { return *bodies_[index]; }

 private:
  std::vector<std::unique_ptr<Program>> bodies_;
};

}  // namespace ephost::runtime
