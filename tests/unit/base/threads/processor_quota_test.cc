#include "host/base/threads/processor_quota.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/temp_directory.h"

namespace ephost::processor_quota_test {
namespace {

namespace fs = std::filesystem;

constexpr auto kVersion2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
constexpr auto kVersion1 =
    "33 32 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "34 32 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";

// The files of a system whose process is in a cgroup.
class ProcessorQuota : public ::testing::Test {
 protected:
  void mount(const std::string& mountinfo, const std::string& cgroup) {
    root_.write("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + mountinfo);
    root_.write("proc/self/cgroup", cgroup);
  }
  [[nodiscard]] std::optional<uint32_t> quota() const { return processor_quota(root_.path()); }

  test::TempDirectory root_;
};

TEST_F(ProcessorQuota, IsNoneWithoutCgroupsOrWithoutALimit) {
  EXPECT_EQ(quota(), std::nullopt);
  mount(kVersion2, "0::/a\n");
  EXPECT_EQ(quota(), std::nullopt);
  root_.write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  mount(kVersion1, "4:cpu,cpuacct:/a\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(ProcessorQuota, IsRoundedDownAndAtLeastOne) {
  mount(kVersion2, "0::/a\n");
  for (const auto& [text, expected] : {std::pair("200000 100000", 2U),
                                       {"250000 100000", 2U},
                                       {"20000 100000", 1U},
                                       {"1600000 100000", 16U}}) {
    root_.write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_EQ(quota(), expected) << text;
  }
}

TEST_F(ProcessorQuota, IsTheLeastOfAllCgroupsAbove) {
  mount(kVersion2, "0::/a/b/c\n");
  root_.write("sys/fs/cgroup/a/cpu.max", "300000 100000");
  root_.write("sys/fs/cgroup/a/b/cpu.max", "max 100000");
  root_.write("sys/fs/cgroup/a/b/c/cpu.max", "500000 100000");
  EXPECT_EQ(quota(), 3U);
}

TEST_F(ProcessorQuota, IsReadInVersion1WhereTheControllerIsMounted) {
  mount(kVersion1, "5:cpuset:/other\n4:cpu,cpuacct:/a\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "400000\n");
  root_.write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "200000\n");
  EXPECT_EQ(quota(), 2U);
}

// As in a container: the mount shows the container's own cgroup, by its full path or as the root.
TEST_F(ProcessorQuota, IsFoundWhereTheMountShowsTheOwnCgroup) {
  mount("30 23 0:26 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/docker/1/a\n");
  root_.write("sys/fs/cgroup/cpu.max", "700000 100000");
  EXPECT_EQ(quota(), 7U);
  root_.write("sys/fs/cgroup/a/cpu.max", "600000 100000");
  EXPECT_EQ(quota(), 6U);
  mount("30 23 0:26 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/../2\n");
  EXPECT_EQ(quota(), 7U);
}

TEST_F(ProcessorQuota, IgnoresWhatItCannotRead) {
  mount("nonsense\n30 23 - cgroup2\n" + std::string(kVersion2), "0:/a\nx\n0::/a\n");
  root_.write("sys/fs/cgroup/a/cpu.max", "many 100000");
  EXPECT_EQ(quota(), std::nullopt);
  root_.write("sys/fs/cgroup/a/cpu.max", "100000 0");
  EXPECT_EQ(quota(), std::nullopt);
}

}  // namespace
}  // namespace ephost::processor_quota_test
