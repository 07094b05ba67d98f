// A program that uses ONNX Runtime and ephost at the same time: both run the same model, in turns,
// with the same result. Debian's ONNX Runtime shares libonnx and libprotobuf with ephost.
//
//   api_onnxruntime_neighbour PLUGIN_DIRECTORY MODEL
#include <ephost/ephost.h>
#include <ephost/throwing.h>
#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iostream>
#include <span>
#include <vector>

namespace {

using ephost::value_or_throw;

// A model of one input of floats, whose first output is compared.
class WithEphost {
 public:
  WithEphost(const char* plugin_directory, const char* model)
      : environment_(create_environment(plugin_directory)),
        session_(value_or_throw(ephost::Session::create(environment_, model))) {}

  const std::vector<int64_t>& shape() const { return session_.inputs().front().shape; }

  std::vector<float> run(std::vector<float> elements) {
    const auto input =
        value_or_throw(ephost::Value::of<float>(shape(), std::span<const float>(elements)));
    const std::vector<ephost::NamedValue> inputs = {{session_.inputs().front().name, input}};
    const auto outputs = value_or_throw(session_.run(inputs));
    const std::span<const float> result = outputs.front().elements<float>();
    return {result.begin(), result.end()};
  }

 private:
  static ephost::Environment create_environment(const char* plugin_directory) {
    ephost::EnvironmentOptions options;
    options.plugin_directories = {plugin_directory};
    options.search_default_directories = false;
    return value_or_throw(ephost::Environment::create(options));
  }

  ephost::Environment environment_;
  ephost::Session session_;
};

class WithOnnxRuntime {
 public:
  explicit WithOnnxRuntime(const char* model)
      : session_(environment_, model, Ort::SessionOptions()) {}

  std::vector<float> run(std::vector<float> elements, const std::vector<int64_t>& shape) {
    const Ort::AllocatorWithDefaultOptions allocator;
    const auto input_name = session_.GetInputNameAllocated(0, allocator);
    const auto output_name = session_.GetOutputNameAllocated(0, allocator);
    const Ort::Value input = Ort::Value::CreateTensor<float>(
        Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault), elements.data(),
        elements.size(), shape.data(), shape.size());
    const char* const inputs[] = {input_name.get()};
    const char* const outputs[] = {output_name.get()};
    const auto made = session_.Run(Ort::RunOptions(), inputs, &input, 1, outputs, 1);
    const auto* const data = made[0].GetTensorData<float>();
    return {data, data + made[0].GetTensorTypeAndShapeInfo().GetElementCount()};
  }

 private:
  Ort::Env environment_;
  Ort::Session session_;
};

bool are_equal(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, [](float x, float y) { return std::abs(x - y) < 1e-4F; });
}

bool agree(WithEphost& ephost, WithOnnxRuntime& onnxruntime) {
  uint64_t count = 1;
  for (const int64_t extent : ephost.shape()) count *= static_cast<uint64_t>(extent);
  std::vector<float> elements(count);
  for (uint64_t i = 0; i < count; ++i) elements[i] = std::sin(static_cast<float>(i));
  const std::vector<float> first = ephost.run(elements);
  return are_equal(first, onnxruntime.run(elements, ephost.shape())) &&
         are_equal(first, ephost.run(elements));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: api_onnxruntime_neighbour PLUGIN_DIRECTORY MODEL\n";
    return 2;
  }
  try {
    bool good = true;
    {
      // Either may be there first.
      WithEphost ephost(argv[1], argv[2]);
      WithOnnxRuntime onnxruntime(argv[2]);
      good = agree(ephost, onnxruntime);
    }
    WithOnnxRuntime onnxruntime(argv[2]);
    WithEphost ephost(argv[1], argv[2]);
    good = agree(ephost, onnxruntime) && good;
    std::cout << (good ? "both agree\n" : "they differ\n");
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
