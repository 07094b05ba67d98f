// Values of the application in the memory of devices: made, copied, bound, kept from run to run and
// shared between sessions.
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>

#include "tests/integration/session/devices/device_sample.h"
#include "tests/integration/session/devices/random_model.h"
#include "tests/support/status_matchers.h"

namespace ephost::device_values_test {
namespace {

using test::alternating;
using test::float_type;
using test::floats_of;
using test::GraphBuilder;
using test::Inputs;
using test::IsOk;
using test::kAlternating;
using test::kX;
using test::named_floats;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class DeviceValues : public test::DeviceSessions {
 protected:
  // y = x + x. As both operands are x, the sum does not take its place.
  static graph::Graph doubled() {
    GraphBuilder builder;
    builder.input("x", float_type(graph::Shape{4}));
    builder.node("Add", {"x", "x"}, {"y"}).output("y");
    return test::with_type(builder.build(), "y", float_type(graph::Shape{4}));
  }
};

TEST_P(DeviceValues, AreCopiedToTheDeviceAndBack) {
  {
    auto session = create(write(alternating()), on_device());
    ASSERT_THAT(session, IsOk());
    for (const char* const name : {"dram", "sram"}) {
      Value value = on_npu({1, 2, 3}, name);
      EXPECT_EQ(value.memory_info(), memory(name));
      EXPECT_TRUE(value.bytes().empty());
      EXPECT_TRUE(value.elements<float>().empty());
      EXPECT_NE(value.device_data(), nullptr);
      EXPECT_EQ(value.byte_size(), 12U);
      EXPECT_THAT(value.shape(), ElementsAre(3));
      EXPECT_THAT(read(value), ElementsAre(1, 2, 3));

      Value host = *Value::of<float>({3}, std::vector<float>{7, 8, 9});
      ASSERT_THAT(value.copy_from(host), IsOk());
      EXPECT_THAT(read(value), ElementsAre(7, 8, 9));
      ASSERT_THAT(host.copy_from(on_npu({4, 5, 6}, name)), IsOk());
      EXPECT_THAT(floats_of(host), ElementsAre(4, 5, 6));
      Value other = *Value::allocate(memory(), ElementType::kFloat, {3});
      ASSERT_THAT(other.copy_from(value), IsOk());
      EXPECT_THAT(read(other), ElementsAre(7, 8, 9));
      EXPECT_EQ(other.copy_from(on_npu({1, 2})).code(), StatusCode::kInvalidArgument);
    }
    const auto none = Value::allocate(memory(), ElementType::kFloat, {0, 3});
    ASSERT_THAT(none, IsOk());
    EXPECT_THAT(read(*none), SizeIs(0));
  }
  (void)report();
}

TEST_P(DeviceValues, AreNamedByTheirMemory) {
  auto session = create(write(alternating()), on_device());
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(session->memory_info_for_inputs(), ElementsAre(memory()));
  EXPECT_THAT(session->memory_info_for_outputs(), ElementsAre(memory()));
  const auto in = [&](const std::string& name, const std::string& type, int32_t number) {
    return Value::allocate({.name = name, .device_type = type, .device_id = number},
                           ElementType::kFloat, {1});
  };
  ASSERT_THAT(in("sram", "npu", 0), IsOk());
  EXPECT_EQ(in("sram", "npu", 0)->memory_info(), memory("sram"));
  EXPECT_EQ(in("", "npu", 0)->memory_info(), memory());
  for (const auto& unknown : {in("dram", "npu", 1), in("dram", "gpu", 0), in("rom", "npu", 0)}) {
    EXPECT_EQ(unknown.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(unknown.status().message(), HasSubstr(kind_.provider + ".dram"));
  }
  const auto text = Value::of_strings({1}, {"a"})->copy_to(memory());
  EXPECT_THAT(text.status().message(), HasSubstr("strings"));

  // Another provider has a device of the same names.
  SessionOptions other;
  other.append_execution_provider("more_streams");
  auto second = create(write(alternating()), other);
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(in("dram", "npu", 0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(in(memory().name, "npu", 0), IsOk());
}

TEST_P(DeviceValues, EnterAndLeaveRunsWithoutTheHost) {
  const auto model = write(doubled());
  {
    auto session = create(model, on_device());
    ASSERT_THAT(session, IsOk());
    auto binding = session->create_binding();
    ASSERT_THAT(binding, IsOk());
    const Value x = on_npu(kX);  // one copy in
    const Value y = *Value::allocate(memory(), ElementType::kFloat, {4});
    ASSERT_THAT(binding->bind_input("x", x), IsOk());
    ASSERT_THAT(binding->bind_output("y", y), IsOk());
    for (int i = 0; i < 4; ++i) ASSERT_THAT(session->run(*binding), IsOk());
    EXPECT_EQ(binding->outputs()[0].device_data(), y.device_data());
    EXPECT_THAT(read(y), ElementsAre(2, -10, 4, -2));  // one copy out
    EXPECT_EQ(read(x), kX);                            // another one
  }
  const test::DeviceReport counts = report();
  EXPECT_EQ(counts.copies_in, 1U);
  EXPECT_EQ(counts.copies_out, 2U);
}

// Whatever a run did with memory of the application, the next one with values in host memory has
// its own.
TEST_P(DeviceValues, MayChangeWithValuesInHostMemory) {
  for (const bool is_open : {false, true}) {
    for (const bool is_one_step : {false, true}) {
      graph::Graph graph = is_one_step ? doubled() : alternating();
      const std::vector<float> expected =
          is_one_step ? std::vector<float>{2, -10, 4, -2} : kAlternating;
      for (graph::Value& value : graph.values) {
        if (is_open && !value.is_constant()) value.type = float_type(graph::Shape{-1});
      }
      auto session = create(write(std::move(graph)), on_device());
      ASSERT_THAT(session, IsOk());
      auto binding = session->create_binding();
      ASSERT_THAT(binding, IsOk());
      const Value x = on_npu(kX);
      const Value other_x = on_npu({0, 0, 0, 0});
      for (int i = 0; i < 12; ++i) {
        SCOPED_TRACE(std::to_string(i) + (is_open ? " open" : ""));
        const bool is_in = i % 2 == 0;
        const bool is_out = i % 3 == 0;
        ASSERT_THAT(binding->bind_input("x", is_in ? x : named_floats("x", {4}, kX).value), IsOk());
        ASSERT_THAT(binding->bind_output("y", is_out ? memory() : MemoryInfo::cpu()), IsOk());
        ASSERT_THAT(session->run(*binding), IsOk());
        EXPECT_EQ(binding->outputs()[0].memory_info(), is_out ? memory() : MemoryInfo::cpu());
        EXPECT_EQ(read(binding->outputs()[0]), expected);
        EXPECT_EQ(read(x), kX);
        EXPECT_EQ(run(*session, kX), expected);
        const auto direct = session->run(Inputs{{"x", is_in ? x : other_x}});
        ASSERT_THAT(direct, IsOk());
        EXPECT_EQ(direct->front().memory_info(), MemoryInfo::cpu());
        if (!is_in) continue;
        EXPECT_EQ(floats_of(direct->front()), expected);
      }
    }
  }
  (void)report();
}

// Where no step would copy the value to that memory, the host copies before the run and after it.
TEST_P(DeviceValues, MayLieInAnyMemory) {
  {
    SessionOptions options = on_device();
    options.append_execution_provider("more_streams");
    auto session = create(write(alternating()), options);
    ASSERT_THAT(session, IsOk());
    SessionOptions others;
    others.append_execution_provider("more_streams");
    auto other = create(write(alternating()), others);
    ASSERT_THAT(other, IsOk());
    const MemoryInfo foreign = {.name = "more_streams.dram", .device_type = "npu"};
    for (const MemoryInfo& from : {memory(), memory("sram"), foreign, MemoryInfo::cpu()}) {
      for (const MemoryInfo& to : {memory(), memory("sram"), foreign, MemoryInfo::cpu()}) {
        SCOPED_TRACE(from.name + " to " + to.name);
        for (Session* const one : {&*session, &*other}) {
          auto binding = one->create_binding();
          ASSERT_THAT(binding, IsOk());
          const Value x = *Value::of<float>({4}, kX).value().copy_to(from);
          Value y = *Value::allocate(to, ElementType::kFloat, {4});
          ASSERT_THAT(binding->bind_input("x", x), IsOk());
          ASSERT_THAT(binding->bind_output("y", y), IsOk());
          for (int i = 0; i < 2; ++i) ASSERT_THAT(one->run(*binding), IsOk());
          EXPECT_EQ(read(y), kAlternating);
          ASSERT_THAT(binding->bind_output("y", to), IsOk());
          for (int i = 0; i < 2; ++i) ASSERT_THAT(one->run(*binding), IsOk());
          EXPECT_EQ(binding->outputs()[0].memory_info(), to);
          EXPECT_EQ(read(binding->outputs()[0]), kAlternating);
          EXPECT_EQ(read(x), kX);
        }
      }
    }
  }
  (void)report();
}

// What a run makes may be what the next one reads: its memory is not written then.
TEST_P(DeviceValues, ArePassedFromRunToRun) {
  for (const bool is_open : {false, true}) {
    graph::Graph graph = doubled();
    for (graph::Value& value : graph.values) {
      if (is_open) value.type = float_type(graph::Shape{-1});
    }
    auto session = create(write(std::move(graph)), on_device());
    ASSERT_THAT(session, IsOk());
    auto binding = session->create_binding();
    ASSERT_THAT(binding, IsOk());
    ASSERT_THAT(binding->bind_output("y", memory()), IsOk());
    Value x = on_npu({1, 2, 3, 4});
    const Value first = x;
    for (int i = 0; i < 5; ++i) {
      ASSERT_THAT(binding->bind_input("x", x), IsOk());
      ASSERT_THAT(session->run(*binding), IsOk());
      x = binding->outputs()[0];
      EXPECT_EQ(x.memory_info(), memory());
    }
    EXPECT_THAT(read(x), ElementsAre(32, 64, 96, 128));
    EXPECT_THAT(read(first), ElementsAre(1, 2, 3, 4));
    // In place.
    ASSERT_THAT(binding->bind_output("y", x), IsOk());
    for (int i = 0; i < 2; ++i) {
      ASSERT_THAT(binding->bind_input("x", x), IsOk());
      ASSERT_THAT(session->run(*binding), IsOk());
    }
    EXPECT_THAT(read(x), ElementsAre(128, 256, 384, 512));
  }
  (void)report();
}

// y is bound to the memory of x, which is read again after y has been written.
TEST_P(DeviceValues, AreNotWrittenWhileTheyAreRead) {
  GraphBuilder builder;
  builder.input("x", float_type(graph::Shape{4}));
  builder.node("Add", {"x", "x"}, {"y"}).output("y");
  builder.node("Mul", {"y", "x"}, {"z"}).output("z");
  graph::Graph graph = builder.build();
  for (graph::Value& value : graph.values) value.type = float_type(graph::Shape{4});
  {
    auto session = create(write(std::move(graph)), on_device());
    ASSERT_THAT(session, IsOk());
    auto binding = session->create_binding();
    ASSERT_THAT(binding, IsOk());
    const Value x = on_npu({1, 2, 3, 4});
    ASSERT_THAT(binding->bind_input("x", x), IsOk());
    ASSERT_THAT(binding->bind_output("y", x), IsOk());
    ASSERT_THAT(binding->bind_output("z", memory()), IsOk());
    ASSERT_THAT(session->run(*binding), IsOk());
    EXPECT_THAT(read(x), ElementsAre(2, 4, 6, 8));
    EXPECT_THAT(read(binding->outputs()[1]), ElementsAre(2, 8, 18, 32));
    EXPECT_EQ(binding->outputs()[0].device_data(), x.device_data());

    ASSERT_THAT(binding->bind_output("z", x), IsOk());
    EXPECT_THAT(session->run(*binding).message(), HasSubstr("memory in common"));
  }
  (void)report();
}

TEST_P(DeviceValues, OutliveTheirSessionAndServeOthers) {
  std::optional<Value> kept;
  {
    auto session = create(write(doubled()), on_device());
    ASSERT_THAT(session, IsOk());
    auto binding = session->create_binding();
    ASSERT_THAT(binding, IsOk());
    ASSERT_THAT(binding->bind_input("x", on_npu(kX)), IsOk());
    ASSERT_THAT(binding->bind_output("y", memory()), IsOk());
    ASSERT_THAT(session->run(*binding), IsOk());
    kept = binding->outputs()[0];
  }
  EXPECT_THAT(read(*kept), ElementsAre(2, -10, 4, -2));
  {
    auto session = create(write(doubled()), on_device());
    ASSERT_THAT(session, IsOk());
    const auto outputs = session->run(Inputs{{"x", *kept}});
    ASSERT_THAT(outputs, IsOk());
    EXPECT_THAT(floats_of(outputs->front()), ElementsAre(4, -20, 8, -4));
  }
  kept.reset();
  (void)report();
}

TEST_P(DeviceValues, StayBoundWhenARunFails) {
  {
    auto session = create(write(alternating()), on_device());
    ASSERT_THAT(session, IsOk());
    auto binding = session->create_binding();
    ASSERT_THAT(binding, IsOk());
    const Value y = *Value::allocate(memory("sram"), ElementType::kFloat, {4});  // made elsewhere
    ASSERT_THAT(binding->bind_output("y", y), IsOk());
    EXPECT_FALSE(session->run(*binding).ok());  // x is missing
    ASSERT_THAT(binding->bind_input("x", on_npu(kX)), IsOk());
    ASSERT_THAT(session->run(*binding), IsOk());
    EXPECT_EQ(binding->outputs()[0].device_data(), y.device_data());
    EXPECT_EQ(read(y), kAlternating);

    const Value part = *Value::allocate(memory(), ElementType::kFloat, {3});
    EXPECT_EQ(binding->bind_output("y", part).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(binding->bind_input("x", part).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(session->run(Inputs{{"x", part}}).status().code(), StatusCode::kInvalidArgument);
  }
  (void)report();
}

TEST_P(DeviceValues, AreReadWhereTheHostWantsThem) {
  {
    auto session = create(write(alternating()), on_device());
    ASSERT_THAT(session, IsOk());
    const Value x = on_npu({1, 2, 3});
    const auto sequence = Value::sequence({x, x});
    ASSERT_THAT(sequence, IsOk());
    EXPECT_THAT(floats_of(sequence->parts()[1]), ElementsAre(1, 2, 3));
    const auto keys = Value::of<int64_t>({3}, std::vector<int64_t>{5, 6, 7})->copy_to(memory());
    ASSERT_THAT(keys, IsOk());
    const auto map = Value::map(*keys, x);
    ASSERT_THAT(map, IsOk());
    EXPECT_THAT(floats_of(map->parts()[1]), ElementsAre(1, 2, 3));
    const auto sparse = Value::of_sparse({.shape = {9}, .values = x, .indices = {1, 4, 8}});
    ASSERT_THAT(sparse, IsOk());
    EXPECT_THAT(floats_of(*sparse->to_dense()), ElementsAre(0, 1, 0, 0, 2, 0, 0, 0, 3));
  }
  (void)report();
}

// Inputs and outputs of random models in any memory, also in one for both, from run to run, give
// the bits that the CPU gives.
TEST_P(DeviceValues, GiveTheSameBitsInRandomModels) {
  for (uint64_t seed = 0; seed < test::random_model_count(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::RandomDeviceModel random = test::random_device_model(seed);
    const std::string mine = random.on_device;
    const auto model = write(std::move(random.graph));
    SessionOptions cpu;
    cpu.set_graph_optimization_level(GraphOptimizationLevel::kDisableAll);
    auto expected_session = create(model, cpu);
    ASSERT_THAT(expected_session, IsOk());
    SessionOptions options = on_device({{"nodes", seed % 2 == 0 ? std::string() : mine},
                                        {"sram", random.in_sram},
                                        {"must_share", seed % 3 == 1 ? "Add,Sub,Neg" : ""},
                                        {"fuse", seed % 4 == 0 ? "1" : "0"}});
    options.enable_mem_pattern(seed % 7 != 0).enable_mem_reuse(seed % 5 != 0);
    if (seed % 3 == 0) {
      options.set_execution_mode(ExecutionMode::kParallel).set_inter_op_num_threads(3);
    }
    {
      auto session = create(model, options);
      ASSERT_THAT(session, IsOk());
      std::mt19937_64 dice(seed);
      const std::vector<MemoryInfo> places = {MemoryInfo::cpu(), memory(), memory("sram")};
      const auto any_place = [&] { return places[dice() % places.size()]; };
      auto binding = session->create_binding();
      ASSERT_THAT(binding, IsOk());
      for (int round = 0; round < 6; ++round) {
        std::vector<float> x(8);
        for (float& element : x) element = static_cast<float>(dice() % 23) / 7 - 1;
        const Value host = *Value::of<float>({8}, x);
        const auto expected = expected_session->run(Inputs{{"x", host}});
        const Value given = *host.copy_to(any_place());
        ASSERT_THAT(binding->bind_input("x", given), IsOk());
        bool is_overwritten = false;
        for (size_t i = 0; i < expected->size(); ++i) {
          const std::string& name = session->outputs()[i].name;
          const auto place = any_place();
          if (!is_overwritten && dice() % 4 == 0) {
            is_overwritten = true;
            ASSERT_THAT(binding->bind_output(name, given), IsOk());
            continue;
          }
          if (dice() % 3 == 0) continue;  // as in the round before
          if (dice() % 2 == 0) {
            ASSERT_THAT(binding->bind_output(name, place), IsOk());
          } else {
            const Value memory = *Value::allocate(place, ElementType::kFloat, {8});
            ASSERT_THAT(binding->bind_output(name, memory), IsOk());
          }
        }
        ASSERT_THAT(session->run(*binding), IsOk());
        const std::vector<Value> outputs = binding->outputs();
        for (size_t i = 0; i < outputs.size(); ++i) {
          const Value copy = *outputs[i].copy_to(MemoryInfo::cpu());
          ASSERT_TRUE(std::ranges::equal(copy.bytes(), (*expected)[i].bytes()))
              << "round " << round << ", output " << i;
        }
        if (!is_overwritten) {
          ASSERT_EQ(read(given), x);
        }
      }
    }
    (void)report();
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceValues, ::testing::ValuesIn(test::device_kinds()),
                         test::name_of);

}  // namespace
}  // namespace ephost::device_values_test
