// A progress line on the terminal: "compiling model.onnx ... 12 s". It appears after a second, and
// only if standard error is a terminal.
#pragma once

#include <ephost/session_options.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace ephost::cli {

class Activity {
 public:
  // Shows nothing if `enabled` is false.
  explicit Activity(std::string what, bool enabled = true);
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  // Clears the line.
  ~Activity();

  // Changes the text of the line. May be called from any thread.
  void update(std::string what);
  // Lets the line say too what the host and the providers do while a session is created, or a model
  // compiled, with these options: "compiling model.onnx, acme packing weights 40 %". The object
  // has to live that long.
  void follow(SessionOptions& options);

 private:
  void show();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace ephost::cli
