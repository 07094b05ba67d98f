// The C++ wrapper of the streams of ephost.device/1 as the host sees it.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <ephost/plugin.hpp>
#include <memory>

#include "tests/support/fake_host.h"

namespace {

using ephost::test::FakeError;
using ephost::test::FakeHost;

// Does everything at once, and notes what it was asked for.
class ImmediateStream : public eph::Stream {
 public:
  struct Failing {
    bool fails = false;
  };
  ImmediateStream(int& live, Failing& failing) : live_(live), failing_(failing) { ++live_; }
  ~ImmediateStream() override { --live_; }

  void enqueue(eph::ArrayView<eph_copy> copies, uint64_t step) override {
    check();
    for (const eph_copy& copy : copies) std::memcpy(copy.to, copy.from, copy.size);
    last_step_ = step;
  }
  eph_point record() override { return ++recorded_; }
  void wait(eph::Stream& other, eph_point point) override {
    if (static_cast<ImmediateStream&>(other).recorded_ < point) {
      throw eph::Failure(EPH_INVALID_ARGUMENT, "the point was not recorded");
    }
  }
  eph_point last_reached() override { return recorded_; }
  bool wait_host(eph_point point, uint64_t timeout_ns) override {
    if (failing_.fails) throw eph::StreamFailure(EPH_ENGINE_ERROR, "it hung", last_step_);
    return point <= recorded_ || timeout_ns == UINT64_MAX;
  }
  void notify(eph_point, void (*done)(void* context, int32_t code), void* context) override {
    check();
    done(context, EPH_OK);
  }

 private:
  void check() const {
    if (failing_.fails) throw eph::Failure(EPH_DEVICE_LOST, "it was pulled out");
  }

  int& live_;
  Failing& failing_;
  eph_point recorded_ = 0;
  uint64_t last_step_ = EPH_NO_STEP;
};

int live_streams = 0;
int32_t last_purpose = -1;
ImmediateStream::Failing failing;

int launches = 0;

class CountedCapture : public eph::Capture {
 public:
  void launch(eph::Stream&, uint64_t step) override { launches += static_cast<int>(step); }
};

class HostMemory : public eph::CapturingDevice {
 public:
  void begin_capture(eph::Stream&) override {
    if (failing.fails) throw eph::Failure(EPH_FAIL, "it cannot");
  }
  std::unique_ptr<eph::Capture> end_capture(eph::Stream&) override {
    return failing.fails ? nullptr : std::make_unique<CountedCapture>();
  }
  eph::ArrayView<eph_memory_info> memories() override {
    static constexpr eph_memory_info kMemory = eph::make_memory("ram", 64);
    return {&kMemory, 1};
  }
  void* allocate(uint32_t, uint64_t) override { return nullptr; }
  void release(uint32_t, void*) noexcept override {}
  void copy(const eph_copy&) override {}
  std::unique_ptr<eph::Stream> create_stream(const eph_stream_config& config) override {
    if (failing.fails) throw eph::Failure(EPH_DEVICE_LOST, "it was pulled out");
    last_purpose = config.purpose;
    return std::make_unique<ImmediateStream>(live_streams, failing);
  }
};

class StreamProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "StreamExecutionProvider";
  static constexpr std::string_view kName = "stream";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<HostMemory> open_device(eph::Host, const eph_device&) {
    return std::make_unique<HostMemory>();
  }
  static std::unique_ptr<StreamProvider> create(eph::Host, const eph::Config&) {
    return std::make_unique<StreamProvider>();
  }
};

}  // namespace

EPH_DEFINE_PLUGIN("org.ephost.tests.wrapper_streams", "1.0.0", StreamProvider)

namespace {

class WrapperStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    failing.fails = false;
    const eph_provider_api& api = *ephost::test::get_api(eph_plugin_v1())->providers[0];
    table_ =
        static_cast<const eph_device_api*>(api.get_extension(&api, EPH_STRING(EPH_EXT_DEVICE)));
    ASSERT_NE(table_, nullptr);
    const eph_device device = {sizeof(eph_device), EPH_STRING("one")};
    ASSERT_EQ(table_->open(table_, &host_, &device, &device_, &error_), EPH_OK);
    stream_ = create(EPH_STREAM_COMPUTE);
  }
  void TearDown() override {
    table_->destroy_stream(device_, stream_);
    EXPECT_EQ(live_streams, 0);
    table_->close(device_);
  }
  eph_stream* create(int32_t purpose) {
    const eph_stream_config config = {sizeof(config), purpose, 0};
    eph_stream* made = nullptr;
    EXPECT_EQ(table_->create_stream(device_, &config, &made, &error_), EPH_OK);
    EXPECT_EQ(last_purpose, purpose);
    return made;
  }
  eph_point record() {
    eph_point point = 0;
    EXPECT_EQ(table_->record(device_, stream_, &point, &error_), EPH_OK);
    return point;
  }

  FakeHost host_;
  FakeError error_;
  const eph_device_api* table_ = nullptr;
  eph_device_handle* device_ = nullptr;
  eph_stream* stream_ = nullptr;
};

TEST_F(WrapperStreams, EnqueueRecordAndWait) {
  char to[8] = {};
  // Records of a later host are longer.
  struct Longer {
    eph_copy known;
    uint64_t added = 77;
  };
  const std::array<Longer, 2> copies = {
      {{{sizeof(Longer), to, "1234", 1, 0, 4}}, {{sizeof(Longer), to + 4, "567", 1, 0, 4}}}};
  EXPECT_EQ(
      table_->enqueue_copies(device_, stream_, &copies[0].known, sizeof(Longer), 2, 7, &error_),
      EPH_OK);
  EXPECT_STREQ(to, "1234567");
  const eph_copy plain = {sizeof(eph_copy), to, "ab", 1, 0, 2};
  EXPECT_EQ(table_->enqueue_copies(device_, stream_, &plain, sizeof(plain), 1, 8, &error_), EPH_OK);
  EXPECT_STREQ(to, "ab34567");

  EXPECT_EQ(record(), 1U);
  EXPECT_EQ(record(), 2U);
  eph_point reached = 0;
  EXPECT_EQ(table_->query(device_, stream_, &reached, &error_), EPH_OK);
  EXPECT_EQ(reached, 2U);
  uint64_t step = 0;
  EXPECT_EQ(table_->wait_host(device_, stream_, 2, 0, &step, &error_), EPH_OK);
  EXPECT_EQ(step, EPH_NO_STEP);
  EXPECT_EQ(table_->wait_host(device_, stream_, 3, 0, &step, &error_), EPH_DEADLINE_EXCEEDED);

  eph_stream* const other = create(EPH_STREAM_COPY_OUT);
  EXPECT_EQ(table_->wait(device_, other, stream_, 2, &error_), EPH_OK);
  EXPECT_EQ(table_->wait(device_, other, stream_, 3, &error_), EPH_INVALID_ARGUMENT);
  table_->destroy_stream(device_, other);

  int32_t code = -1;
  const auto done = [](void* context, int32_t given) { *static_cast<int32_t*>(context) = given; };
  EXPECT_EQ(table_->notify(device_, stream_, 2, done, &code, &error_), EPH_OK);
  EXPECT_EQ(code, EPH_OK);
}

TEST_F(WrapperStreams, CaptureAndLaunch) {
  launches = 0;
  ASSERT_EQ(table_->begin_capture(device_, stream_, &error_), EPH_OK);
  eph_capture* capture = nullptr;
  ASSERT_EQ(table_->end_capture(device_, stream_, &capture, &error_), EPH_OK);
  EXPECT_EQ(table_->launch(device_, stream_, capture, 40, &error_), EPH_OK);
  EXPECT_EQ(table_->launch(device_, stream_, capture, 2, &error_), EPH_OK);
  EXPECT_EQ(launches, 42);
  table_->destroy_capture(device_, capture);
  failing.fails = true;
  EXPECT_EQ(table_->begin_capture(device_, stream_, &error_), EPH_FAIL);
  EXPECT_EQ(table_->end_capture(device_, stream_, &capture, &error_), EPH_FAIL);
  EXPECT_EQ(capture, nullptr);
}

TEST_F(WrapperStreams, CarryFailures) {
  char to = 0;
  const eph_copy copy = {sizeof(eph_copy), &to, "a", 1, 0, 1};
  EXPECT_EQ(table_->enqueue_copies(device_, stream_, &copy, sizeof(copy), 1, 41, &error_), EPH_OK);
  const eph_point point = record();
  failing.fails = true;
  uint64_t step = 0;
  EXPECT_EQ(table_->wait_host(device_, stream_, point, UINT64_MAX, &step, &error_),
            EPH_ENGINE_ERROR);
  EXPECT_EQ(step, 41U);
  EXPECT_EQ(error_.message, "it hung");
  EXPECT_EQ(table_->enqueue_copies(device_, stream_, &copy, sizeof(copy), 1, 42, &error_),
            EPH_DEVICE_LOST);
  eph_stream* made = stream_;
  const eph_stream_config config = {sizeof(config), EPH_STREAM_COMPUTE, 0};
  EXPECT_EQ(table_->create_stream(device_, &config, &made, &error_), EPH_DEVICE_LOST);
  EXPECT_EQ(made, nullptr);
}

}  // namespace
