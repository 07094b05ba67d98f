// ImageExecutionProvider: one kernel, for ImageDecoder.
#include <algorithm>
#include <ephost/plugin.hpp>

#include "plugins/image/decode.h"

namespace ephost_image {
namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 27;  // as in the manifest
constexpr int64_t kMostPixels = int64_t{1} << 30;

struct Settings {
  uint64_t max_pixels = kMaxPixels;
  bool gives_empty = false;  // instead of failing, for what cannot be decoded
};

enum class PixelFormat : uint8_t { kRgb, kBgr, kGray };

[[noreturn]] void fail(int32_t code, const std::string& label, const std::string& message) {
  throw eph::Failure(code, label + ": " + message);
}

class ImageDecoder final : public eph::Computation {
 public:
  ImageDecoder(const eph::NodeView& node, Settings settings)
      : label_("ImageDecoder node '" + std::string(node.name()) + "'"), settings_(settings) {
    const std::string_view format = node.get_string("pixel_format", "RGB");
    if (format == "RGB") {
      format_ = PixelFormat::kRgb;
    } else if (format == "BGR") {
      format_ = PixelFormat::kBgr;
    } else if (format == "Grayscale") {
      format_ = PixelFormat::kGray;
    } else {
      fail(EPH_INVALID_GRAPH, label_,
           "attribute pixel_format '" + std::string(format) +
               "' is unknown; use RGB, BGR or Grayscale");
    }
  }

  void compute(eph::Run& run, eph::State*) override {
    const eph_value& file = *run.input(0);
    if (file.rank != 1) {
      fail(
          EPH_INVALID_ARGUMENT, label_,
          "the input has rank " + std::to_string(file.rank) + "; an image file is a list of bytes");
    }
    // What may still fail without an error must not have an output yet.
    const bool is_direct = format_ != PixelFormat::kGray && !settings_.gives_empty;
    Canvas canvas(settings_.max_pixels, [&](int64_t height, int64_t width) {
      if (is_direct) return allocate(run, height, width);
      return static_cast<uint8_t*>(run.scratch(3 * static_cast<uint64_t>(height * width)));
    });
    try {
      decode({run.input_data<uint8_t>(0), static_cast<std::size_t>(file.byte_size)}, canvas);
    } catch (const Undecodable& error) {
      if (!settings_.gives_empty) fail(EPH_INVALID_ARGUMENT, label_, error.what());
      allocate(run, 0, 0);
      return;
    } catch (const TooLarge& error) {
      fail(EPH_INVALID_ARGUMENT, label_, error.what());
    }
    if (format_ == PixelFormat::kBgr) swap_to_bgr(canvas.data(), canvas.pixels());
    if (is_direct) return;
    uint8_t* const pixels =
        allocate(run, static_cast<int64_t>(canvas.height()), static_cast<int64_t>(canvas.width()));
    if (format_ == PixelFormat::kGray) {
      convert_to_gray(canvas.data(), pixels, canvas.pixels());
    } else {
      std::copy_n(canvas.data(), 3 * canvas.pixels(), pixels);
    }
  }

 private:
  uint8_t* allocate(eph::Run& run, int64_t height, int64_t width) const {
    const std::vector<int64_t> shape = {height, width, format_ == PixelFormat::kGray ? 1 : 3};
    return run.allocate_data<uint8_t>(0, shape);
  }

  std::string label_;
  Settings settings_;
  PixelFormat format_ = PixelFormat::kRgb;
};

class ImageProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "ImageExecutionProvider";
  static constexpr std::string_view kName = "image";
  static constexpr std::string_view kVendor = "ephost";

  static void get_devices(eph::Host, eph::DeviceList& list) {
    eph_device device = {};
    device.id = EPH_STRING("cpu");
    device.type = EPH_DEVICE_CPU;
    device.name = EPH_STRING("Host processor");
    device.vendor = EPH_STRING("generic");
    device.architecture = EPH_STRING("generic");
    list.add(device);
  }

  static std::unique_ptr<ImageProvider> create(eph::Host, const eph::Options& options) {
    const int64_t max_pixels = options.get_int("max_pixels", kMaxPixels);
    if (max_pixels < 1 || max_pixels > kMostPixels) {
      throw eph::Failure(EPH_INVALID_ARGUMENT, "option max_pixels=" + std::to_string(max_pixels) +
                                                   " is outside of 1.." +
                                                   std::to_string(kMostPixels));
    }
    const std::string_view undecodable = options.get_string("undecodable", "error");
    if (undecodable != "error" && undecodable != "empty") {
      throw eph::Failure(EPH_INVALID_ARGUMENT, "option undecodable='" + std::string(undecodable) +
                                                   "' is neither error nor empty");
    }
    auto provider = std::make_unique<ImageProvider>();
    provider->settings_ = {static_cast<uint64_t>(max_pixels), undecodable == "empty"};
    return provider;
  }

  eph::ArrayView<eph_kernel_def> kernels() {
    static constexpr uint64_t kBytes = uint64_t{1} << EPH_ELEMENT_UINT8;
    static constexpr eph_type_rule kRules[] = {{0, 0, kBytes}, {0, EPH_RULE_OUTPUT, kBytes}};
    // Models of opsets that the host has no definitions for state their opset as each operator's
    // version; up to this one the operator has not changed.
    static constexpr int32_t kNewestOpset = 25;
    static const eph_kernel_def kDecoder = {
        EPH_STRING("ImageDecoder"), {}, 20, kNewestOpset, kRules, std::size(kRules)};
    return {&kDecoder, 1};
  }

  std::unique_ptr<eph::Computation> create_kernel(const eph::GraphView& graph, uint32_t node) {
    return std::make_unique<ImageDecoder>(graph.node(node), settings_);
  }

 private:
  Settings settings_;
};

}  // namespace
}  // namespace ephost_image

EPH_DEFINE_PLUGIN("org.ephost.image", "0.1.0", ephost_image::ImageProvider)
