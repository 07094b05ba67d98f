// A host of a later minor version, which knows one more field of every record that has a size: its
// headers, host/plugin/record_layout.h and slots.h come from scripts/grow_abi.py. Here it meets
// records, and a plugin, of today's version.
#include <ephost/ext/constants.h>
#include <ephost/ext/device.h>
#include <ephost/ext/graph_wishes.h>
#include <ephost/ext/operators.h>
#include <ephost/ext/progress.h>
#include <ephost/ext/shapes.h>
#include <ephost/ext/shared_contexts.h>
#include <ephost/ext/thread_pool.h>
#include <ephost/plugin_abi.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "host/plugin/adopt.h"
#include "host/plugin/negotiate.h"
#include "tests/support/status_matchers.h"

// The example, built from today's headers.
extern "C" const eph_plugin_preamble* eph_plugin_v1();

namespace ephost::plugin::grown_host_test {
namespace {

using test::IsOk;

constexpr CallSite kSite{"AcmeExecutionProvider", "get_table"};

template <class Record>
concept Adopted = requires(Record record) {
  RecordLayout<Record>::kFields;
  record.added_by_trial;
};

size_t adopted_records = 0;

// A record of `size` bytes, today's size, with bytes after it that must not be read or written.
template <class Record>
void expect_taken([[maybe_unused]] size_t size) {
  if constexpr (Adopted<Record>) {
    ++adopted_records;
    ASSERT_EQ(sizeof(Record), size + sizeof(uint64_t));
    std::vector<unsigned char> given(size + 64, 0xa5);
    const uint64_t stated = size;
    std::memcpy(given.data(), &stated, sizeof(stated));
    const auto adopted = adopt<Record>(given.data(), kSite);
    ASSERT_THAT(adopted, IsOk());
    EXPECT_EQ(adopted->struct_size, size);
    EXPECT_EQ(adopted->added_by_trial, 0U) << RecordLayout<Record>::kName;
    EXPECT_EQ(std::memcmp(reinterpret_cast<const unsigned char*>(&*adopted) + sizeof(stated),
                          given.data() + sizeof(stated), size - sizeof(stated)),
              0);

    Record record;
    std::memset(&record, 0x3c, sizeof(record));
    const std::vector<unsigned char> before = given;
    EXPECT_EQ(fill(record, reinterpret_cast<Record*>(given.data())), EPH_OK);
    EXPECT_EQ(std::memcmp(given.data() + size, before.data() + size, 64), 0)
        << RecordLayout<Record>::kName << " is filled beyond today's size";
    EXPECT_EQ(given[size - 1], 0x3c);
  }
}

TEST(GrownHost, TakesAndFillsTodaysRecords) {
  adopted_records = 0;
#define SIZE(type, size) expect_taken<type>(size);
#define FIELD(type, field, offset, size)
#define CONSTANT(name, number)
#include "tests/abi/layout.golden"
#undef CONSTANT
#undef FIELD
#undef SIZE
  EXPECT_GE(adopted_records, 15U);
}

TEST(GrownHost, LoadsTodaysPlugin) {
  manifest::Manifest manifest;
  manifest.provider = "MinimalExecutionProvider";
  manifest.name = "minimal";
  manifest.vendor = "ephost examples";
  manifest.version = {1, 0, 0, {}, {}};
  manifest.abi = {1, 0, 0};
  manifest.context_sources = {"MinimalExecutionProvider"};
  HostOffer host;
  host.minor_max = EPH_ABI_MINOR + 1;
  const auto adopted = negotiate(eph_plugin_v1(), manifest, host);
  ASSERT_THAT(adopted, IsOk());
  EXPECT_EQ(adopted->abi_minor, uint32_t{EPH_ABI_MINOR});
  EXPECT_NE(adopted->provider.compile, nullptr);
  EXPECT_EQ(adopted->provider.added_by_trial, 0U);
  EXPECT_EQ(adopted->api.added_by_trial, 0U);
  EXPECT_EQ(adopted->preamble.added_by_trial, 0U);
}

}  // namespace
}  // namespace ephost::plugin::grown_host_test
