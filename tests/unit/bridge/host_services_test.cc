#include "host/bridge/host_services.h"

#include <ephost/ext/constants.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "host/base/file.h"
#include "host/bridge/abi_text.h"
#include "tests/support/temp_directory.h"

namespace ephost::bridge {
namespace {

TEST(HostServices, HasWhatItOffers) {
  const HostServices services("test", nullptr, {});
  EXPECT_FALSE(offered_extensions().empty());
  for (const std::string& id : offered_extensions()) {
    EXPECT_NE(services.api->get_extension(&services, to_abi(id)), nullptr) << id;
  }
  EXPECT_EQ(services.api->get_extension(&services, to_abi("ephost.time_travel/1")), nullptr);
}

TEST(HostServices, ConstantsStayReadableWhenTheyAreReleased) {
  const test::TempDirectory dir;
  const std::string content(1 << 20, 'c');
  const MappedFile file = *MappedFile::open(dir.write("weights", content));
  const HostServices services("test", nullptr, {});
  const auto* constants = static_cast<const eph_constants_api*>(
      services.api->get_extension(&services, to_abi(EPH_EXT_CONSTANTS)));
  ASSERT_NE(constants, nullptr);
  constants->release(&services, file.bytes().data(), file.bytes().size());
  constants->release(&services, content.data(), content.size());
  constants->release(&services, nullptr, 0);
  EXPECT_EQ(std::memcmp(file.bytes().data(), content.data(), content.size()), 0);
  EXPECT_EQ(content.find_first_not_of('c'), std::string::npos);
}

}  // namespace
}  // namespace ephost::bridge
