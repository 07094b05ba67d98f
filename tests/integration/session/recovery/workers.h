// Workers of this process, for tests that end them.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ephost::test {

// A variable of the environment while this object exists; workers get it when they start.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

inline std::vector<pid_t> worker_processes() {
  std::vector<pid_t> found;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) {
      std::ifstream command("/proc/" + std::to_string(child) + "/cmdline");
      std::string program;
      std::getline(command, program, '\0');
      if (std::filesystem::path(program).filename() == "ephost-worker") found.push_back(child);
    }
  }
  return found;
}

// The worker that has loaded the library of a fixture; 0 if there is none.
inline pid_t worker_of(const std::filesystem::path& fixture) {
  for (const pid_t worker : worker_processes()) {
    std::ifstream maps("/proc/" + std::to_string(worker) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(fixture.native() + "/") != std::string::npos) return worker;
    }
  }
  return 0;
}

inline void kill_workers() {
  for (const pid_t worker : worker_processes()) ::kill(worker, SIGKILL);
}

}  // namespace ephost::test
