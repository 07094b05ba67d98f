// What the layer "trace" shows of arguments, and which memory it reads for that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <ephost/sdk/basics.hpp>
#include <string>
#include <vector>

#include "host/layers/decorate/host_object.h"
#include "host/layers/trace/arguments.h"
#include "tests/support/fake_graph.h"
#include "tests/support/fake_run.h"

namespace ephost::layers::trace_arguments_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

template <auto Member, class... A>
std::string text_before(A... arguments) {
  ArgumentText text(Moment::kBefore);
  text.add_all(kSlot<Member>.parameters, arguments...);
  return text.text();
}

// An address that must not be read.
template <class T = void>
T* nowhere() {
  return reinterpret_cast<T*>(uintptr_t{64});
}

constexpr const void* kBytes = "abc";
constexpr eph_error* kNoError = nullptr;

TEST(TraceArguments, ReadArraysWhereTheSlotSaysSo) {
  const std::array<int64_t, 2> shape = {2, 3};
  const std::array<uint32_t, 3> nodes = {0, 1, 5};
  const std::array<eph_string, 2> symbols = {{EPH_STRING("batch"), {}}};
  EXPECT_EQ(text_before<&eph_run_api::allocate_output>(1U, 1, shape.data(), 2U, kNoError),
            R"({"index":1,"element_type":1,"shape":[2,3],"rank":2})");
  EXPECT_EQ(
      text_before<&eph_run_api::make_tensor>(1, shape.data(), 2U, nowhere<eph_value*>(), kNoError),
      R"({"element_type":1,"shape":[2,3],"rank":2})");
  EXPECT_EQ(text_before<&eph_shape_wishes_api::add>(nodes.data(), uint64_t{3}, symbols.data(),
                                                    uint64_t{2}, kNoError),
            R"({"nodes":[0,1,5],"node_count":3,"symbols":["batch",""],"symbol_count":2})");
  EXPECT_THAT(text_before<&eph_context_writer_api::write>(7U, kBytes, uint64_t{3}, kNoError),
              AllOf(HasSubstr(R"({"payload":7,"data":{"bytes":3,"checksum":")"),
                    HasSubstr(R"("size":3})")));
}

TEST(TraceArguments, SayWhereAnArrayIsMissing) {
  const auto* const no_texts = static_cast<const eph_string*>(nullptr);
  const auto* const no_nodes = static_cast<const uint32_t*>(nullptr);
  EXPECT_EQ(text_before<&eph_shape_wishes_api::add>(no_nodes, uint64_t{3}, no_texts, uint64_t{2},
                                                    kNoError),
            R"({"nodes":null,"node_count":3,"symbols":null,"symbol_count":2})");
  const void* const nothing = nullptr;
  EXPECT_EQ(text_before<&eph_context_writer_api::write>(7U, nothing, uint64_t{3}, kNoError),
            R"({"payload":7,"data":{"bytes":3},"size":3})");
}

TEST(TraceArguments, ShowOptionsAndProfiles) {
  eph_option option = {};
  option.name = EPH_STRING("threads");
  option.string_value = EPH_STRING("4");
  const eph_option* const options = &option;
  EXPECT_EQ(text_before<&eph_run_provider_api::set_options>(options, uint64_t{1}, kNoError),
            R"({"options":{"threads":"4"},"count":1})");
  const eph_extent_range range = {EPH_STRING("x"), EPH_STRING("batch"), 0, 0, 1, 8, 32};
  const eph_value_range sizes = {EPH_STRING("sizes"), 1, -1, 0, 640};
  const eph_shape_profile profile = {sizeof(profile), &range, 1, &sizes, 1};
  const eph_shape_profile* const profiles = &profile;
  EXPECT_EQ(text_before<&eph_shapes_provider_api::set_profiles>(profiles, uint64_t{sizeof(profile)},
                                                                uint64_t{1}, kNoError),
            R"({"profiles":[[{"input":"x","symbol":"batch","axis":0,"least":1,"best":8,)"
            R"("greatest":32},{"input":"sizes","element":1,"least":-1,"best":0,"greatest":640}]],)"
            R"("stride":40,"profile_count":1})");
}

// A number after a pointer does not make an array of it.
TEST(TraceArguments, ReadNothingBehindHandlesAndValues) {
  test::FakeGraph graph;
  const eph_graph* const handle = &graph;
  EXPECT_EQ(text_before<&eph_provider_api::create_kernel>(handle, 4000000U,
                                                          nowhere<eph_computation*>(), kNoError),
            R"({"graph":{"name":"fake","nodes":0,"inputs":0,"outputs":0},"node":4000000})");
  EXPECT_EQ(text_before<&eph_provider_api::get_ep_context_nodes>(
                nowhere<eph_computation* const>(), uint64_t{1000}, nowhere<eph_context_writer>(),
                kNoError),
            R"({"count":1000})");
  EXPECT_EQ(text_before<&eph_run_api::set_element>(nowhere<eph_value>(), uint64_t{1000},
                                                   eph::to_abi("text"), kNoError),
            R"({"element":1000,"text":"text"})");
  EXPECT_EQ(
      text_before<&eph_run_api::make_sequence>(nowhere<const eph_value>(), uint64_t{1}, uint64_t{2},
                                               nowhere<const eph_value* const>(), uint64_t{1000},
                                               nowhere<const eph_value*>(), kNoError),
      R"({"base":"set","position":1,"removed":2,"inserted_count":1000})");
  EXPECT_EQ(text_before<&eph_run_api::set_output>(0U, nowhere<const eph_value>(), kNoError),
            R"({"index":0,"value":"set"})");
  EXPECT_EQ(text_before<&eph_constants_api::release>(nowhere<const void>(), uint64_t{1000}),
            R"({"size":1000})");
  EXPECT_EQ(text_before<&eph_device_api::allocate>(1U, uint64_t{64}, nowhere<void*>(), kNoError),
            R"({"memory":1,"size":64})");
  EXPECT_EQ(text_before<&eph_device_api::release>(1U, nowhere()), R"({"memory":1})");
}

TEST(TraceArguments, ReadHostMemoryOnlyOfACopy) {
  const auto text_of_copy = [](Moment moment, uint32_t to_memory, const void* to,
                               uint32_t from_memory, const void* from) {
    ArgumentText text(moment);
    const eph_copy copy = {sizeof(copy), const_cast<void*>(to), from, to_memory, from_memory, 3};
    text.add_copies(&copy, sizeof(copy), 1, nullptr);
    return text.text();
  };
  EXPECT_EQ(text_of_copy(Moment::kBefore, 2, nowhere(), 1, nowhere()),
            R"({"copies":[{"to_memory":2,"from_memory":1,"size":3}]})");
  EXPECT_EQ(text_of_copy(Moment::kAfter, 2, nowhere(), 1, nowhere()), R"({"copies":[{}]})");
  EXPECT_THAT(text_of_copy(Moment::kBefore, 1, nowhere(), 0, kBytes),
              AllOf(HasSubstr(R"("from":{"bytes":3,"checksum":")"), Not(HasSubstr(R"("to":)"))));
  EXPECT_THAT(text_of_copy(Moment::kAfter, 0, kBytes, 1, nowhere()),
              HasSubstr(R"([{"to":{"bytes":3,"checksum":")"));
}

class TraceValues : public ::testing::Test {
 protected:
  // What is shown of a run with this input.
  static std::string text_of(const eph_value& value) {
    const eph_value* const input = &value;
    eph_run run = {};
    run.inputs = &input;
    run.input_count = 1;
    ArgumentText text(Moment::kBefore);
    const eph_run* const handle = &run;
    text.add_all("run", handle);
    return text.text();
  }
  static eph_value texts_of(const std::vector<eph_string>& texts, const int64_t& count) {
    eph_value value = {};
    value.data = const_cast<eph_string*>(texts.data());
    value.shape = &count;
    value.rank = 1;
    value.byte_size = texts.size() * sizeof(eph_string);
    value.kind = EPH_KIND_TENSOR;
    value.element_type = EPH_ELEMENT_STRING;
    return value;
  }
};

TEST_F(TraceValues, HaveChecksumsOfTheirTexts) {
  const int64_t two = 2;
  const std::vector<eph_string> texts = {EPH_STRING("ab"), EPH_STRING("c")};
  const std::vector<eph_string> others = {EPH_STRING("a"), EPH_STRING("bc")};
  const std::string copy = "ab";
  const std::vector<eph_string> same = {eph::to_abi(copy), EPH_STRING("c")};
  EXPECT_THAT(text_of(texts_of(texts, two)), HasSubstr("\"checksum\":\""));
  EXPECT_EQ(text_of(texts_of(texts, two)), text_of(texts_of(same, two)));
  EXPECT_NE(text_of(texts_of(texts, two)), text_of(texts_of(others, two)));
}

TEST_F(TraceValues, HaveTheCountsOfSequencesAndMaps) {
  const int64_t two = 2;
  const std::vector<eph_string> texts = {EPH_STRING("ab"), EPH_STRING("c")};
  std::vector<eph_value> parts = {texts_of(texts, two), texts_of(texts, two)};
  const int64_t three = 3;
  eph_value value = {};
  value.data = parts.data();
  value.shape = &three;
  value.rank = 1;
  value.element_type = EPH_ELEMENT_STRING;
  value.kind = EPH_KIND_SEQUENCE;
  EXPECT_THAT(text_of(value), HasSubstr(R"({"kind":2,"type":8,"elements":3})"));
  value.kind = EPH_KIND_MAP;
  EXPECT_THAT(text_of(value), HasSubstr(R"({"kind":3,"type":8,"elements":2})"));
}

TEST_F(TraceValues, AreNotReadInMemoriesOfDevices) {
  test::FloatTensor tensor{{3}, {1, 2, 3}};
  EXPECT_THAT(text_of(tensor.value), HasSubstr("checksum"));
  tensor.value.memory = 1;
  tensor.value.data = nowhere();
  EXPECT_THAT(text_of(tensor.value), AllOf(HasSubstr("\"memory\":1"), Not(HasSubstr("checksum"))));
}

}  // namespace
}  // namespace ephost::layers::trace_arguments_test
