// Gives every kernel of the provider random nodes, in models as a session reads them: most come
// from a valid node by a few changes of its attributes, inputs, shapes, types and elements. A
// session must answer them, the same way twice, or refuse them with a message that names the node
// and its operator; the sanitizers check that nothing undefined happens. What was inferred about
// the outputs must be what comes out. Each kernel must also have answered at least once, or the
// rest would prove little.
//
// Environment variables, for longer runs and for looking at one case:
//   RANDOM_NODES=100            nodes for each kernel
//   RANDOM_NODES_FROM=1         the first of them
//   RANDOM_NODES_OPERATOR=Conv  only of this operator
//   RANDOM_NODES_TRACE=1        prints each case before it runs, and how it ends
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include "host/base/text.h"
#include "host/onnx_io/opsets/operator_schemas.h"
#include "tests/support/host_api.h"
#include "tests/support/single_node_graph.h"
#include "tests/unit/plugins/cpu/random_models/microsoft_schemas.h"
#include "tests/unit/plugins/cpu/random_models/random_node.h"

// Absurd sizes must not exhaust the machine's memory: larger allocations fail.
#if defined(__SANITIZE_ADDRESS__)
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=1024:allocator_may_return_null=1";
}
#endif

namespace ephost::test::every_kernel_test {
namespace {

constexpr int kShards = 4;
constexpr time_t kSecondsForACase = 60;  // of the processor

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, rlim_t{4} << 30);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
#endif
}

// A case that hangs ends the process; 0 for no limit.
void limit_time(time_t seconds) {
  const itimerval limit = {{}, {seconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

const onnx::OpSchema& schema_of(const eph_kernel_def& kernel, int opset) {
  const std::string domain(eph::view(kernel.domain));
  const std::string op_type(eph::view(kernel.op_type));
  const onnx::OpSchema* schema = domain == "com.microsoft"
                                     ? find_microsoft_schema(op_type)
                                     : onnx_io::find_schema(domain, op_type, opset);
  if (schema == nullptr) throw std::runtime_error("a kernel for an unknown operator");
  return *schema;
}

// For each input, the element types that the kernel takes and some others; then those of any input.
std::vector<std::vector<int32_t>> types_of(const eph_kernel_def& kernel) {
  std::vector<std::vector<int32_t>> types;
  for (uint64_t r = 0; r < kernel.rule_count; ++r) {
    const eph_type_rule& rule = kernel.rules[r];
    if ((rule.flags & EPH_RULE_OUTPUT) != 0) continue;
    types.resize(std::max<std::size_t>(types.size(), rule.slot + 1));
    for (int32_t type = 1; type <= EPH_ELEMENT_INT2; ++type) {
      if ((rule.element_types >> type & 1) != 0) types[rule.slot].push_back(type);
    }
  }
  types.push_back({EPH_ELEMENT_FLOAT, EPH_ELEMENT_DOUBLE, EPH_ELEMENT_INT32, EPH_ELEMENT_INT64,
                   EPH_ELEMENT_UINT8, EPH_ELEMENT_BOOL, EPH_ELEMENT_STRING, EPH_ELEMENT_FLOAT16,
                   EPH_ELEMENT_COMPLEX64});
  for (auto& list : types) {
    if (list.empty()) list = types.back();
  }
  return types;
}

// Whether the kernel is the one for the node, so that the host uses no other.
bool fits(const eph_kernel_def& kernel, const RandomNode& node, const onnx::OpSchema& schema) {
  if (schema.SinceVersion() < kernel.since_version) return false;
  for (uint64_t r = 0; r < kernel.rule_count; ++r) {
    const eph_type_rule& rule = kernel.rules[r];
    const bool is_variadic = (rule.flags & EPH_RULE_VARIADIC) != 0;
    const std::size_t end = is_variadic ? node.inputs.size() : rule.slot + 1;
    for (std::size_t i = rule.slot; i < std::min(end, node.inputs.size()); ++i) {
      if ((rule.flags & EPH_RULE_OUTPUT) != 0 || !node.inputs[i].is_given) continue;
      const onnx::TypeProto& type = node.inputs[i].type;
      const int32_t element = type.tensor_type().elem_type();
      if (type.has_tensor_type() && (rule.element_types >> element & 1) == 0) return false;
    }
  }
  return true;
}

bool is_random(const std::string& op_type) {
  static const std::set<std::string> kNames = {
      "Bernoulli",     "Dropout",          "Multinomial",      "RandomNormal",
      "RandomUniform", "RandomNormalLike", "RandomUniformLike"};
  return kNames.count(op_type) != 0;
}

bool are_equal(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Value& x, const Value& y) {
    const std::span<const std::byte> bytes = x.bytes();
    return x.kind() == y.kind() && std::ranges::equal(x.shape(), y.shape()) &&
           x.strings() == y.strings() &&
           std::equal(bytes.begin(), bytes.end(), y.bytes().begin(), y.bytes().end()) &&
           are_equal(x.parts(), y.parts());
  });
}

class EveryKernel : public ::testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() {
    limit_memory();
    EnvironmentOptions options;
    options.plugin_directories = {EPHOST_PLUGINS};
    options.search_default_directories = false;
    environment_ = new Environment(Environment::create(options).value());
    valid_nodes_ = new std::map(read_valid_nodes(VALID_NODES));
  }
  static void TearDownTestSuite() {
    delete environment_;
    delete valid_nodes_;
  }

  // True where the kernel answered.
  static bool run(const eph_kernel_def& kernel, int64_t number);

 private:
  static RandomNode start(const onnx::OpSchema& schema, int64_t number, Dice& dice);
  static Result<std::vector<Value>> answer(const RandomModel& random);

  static Environment* environment_;
  static std::map<std::string, std::vector<RandomNode>>* valid_nodes_;
};

Environment* EveryKernel::environment_ = nullptr;
std::map<std::string, std::vector<RandomNode>>* EveryKernel::valid_nodes_ = nullptr;

// The first nodes are the valid ones as they are.
RandomNode EveryKernel::start(const onnx::OpSchema& schema, int64_t number, Dice& dice) {
  const auto found = valid_nodes_->find(full_name(schema.domain(), schema.Name()));
  if (found == valid_nodes_->end()) return plain_node(schema);
  const std::vector<RandomNode>& nodes = found->second;
  return number < std::ssize(nodes) ? nodes[static_cast<std::size_t>(number)] : dice.pick(nodes);
}

// Compares outputs about which the model declares nothing with what was inferred about them.
void expect_inferred(const RandomModel& random, const Session& session,
                     const Result<std::vector<Value>>& outputs) {
  const auto& stated = random.model.graph().output();
  for (int i = 0; i < stated.size(); ++i) {
    const ValueDescription& inferred = session.outputs()[static_cast<std::size_t>(i)];
    // Nothing is inferred for element types that the version does not have.
    if (stated[i].has_type() || inferred.element_type == ElementType::kUndefined) continue;
    EXPECT_THAT(outputs.status().message(),
                ::testing::Not(::testing::HasSubstr("\"" + inferred.name + "\" came out as")));
    if (!outputs.ok()) continue;
    const Value& value = (*outputs)[static_cast<std::size_t>(i)];
    if (value.kind() != ValueKind::kTensor || !inferred.has_shape) continue;
    const std::vector<int64_t> shape(value.shape().begin(), value.shape().end());
    EXPECT_EQ(value.element_type(), inferred.element_type);
    EXPECT_TRUE(std::equal(shape.begin(), shape.end(), inferred.shape.begin(), inferred.shape.end(),
                           [](int64_t is, int64_t was) { return was < 0 || is == was; }))
        << inferred.name << " was inferred as " << inferred.type << " and has the shape "
        << ::testing::PrintToString(shape);
  }
}

// What the model says of the inputs. In half of the nodes it says all that shapes are inferred
// from.
void state_inputs(RandomNode& node, Dice& dice) {
  using Stated = RandomInput::Stated;
  const bool says_all = dice.one_in(2);
  for (RandomInput& input : node.inputs) {
    const bool is_first = &input == &node.inputs.front();
    input.stated = says_all ? (is_first ? Stated::kShape : Stated::kConstant)
                            : static_cast<Stated>(dice.roll(0, 3));
  }
}

Result<std::vector<Value>> EveryKernel::answer(const RandomModel& random) {
  const std::string bytes = random.model.SerializeAsString();
  EPHOST_ASSIGN_OR_RETURN(
      Session session,
      Session::create(*environment_,
                      ModelBytes{std::as_bytes(std::span(bytes.data(), bytes.size()))}));
  Result<std::vector<Value>> ran = session.run(random.inputs);
  expect_inferred(random, session, ran);
  EPHOST_ASSIGN_OR_RETURN(std::vector<Value> outputs, std::move(ran));
  const std::string& op_type = random.model.graph().node(0).op_type();
  if (!is_random(op_type)) {
    const Result<std::vector<Value>> again = session.run(random.inputs);
    if (!again.ok()) return again.status();
    EXPECT_TRUE(are_equal(outputs, *again))
        << op_type << " gives different answers to the same inputs";
  }
  return outputs;
}

bool EveryKernel::run(const eph_kernel_def& kernel, int64_t number) {
  const std::string op_type(eph::view(kernel.op_type));
  const std::string name = full_name(std::string(eph::view(kernel.domain)), op_type) + " " +
                           std::to_string(kernel.since_version) + " " + std::to_string(number);
  Dice dice(name);
  const int opset = number < 10
                        ? kernel.until_version
                        : static_cast<int>(dice.roll(kernel.since_version, kernel.until_version));
  const onnx::OpSchema& schema = schema_of(kernel, opset);
  RandomNode node = start(schema, number, dice);
  fit(node, schema);
  const auto types = types_of(kernel);
  for (int64_t i = number < 10 ? 0 : dice.roll(0, 3); i > 0; --i) {
    change(node, schema, types, dice);
  }
  state_inputs(node, dice);
  const RandomModel random = make_model(node, schema, opset, dice);
  if (random.model.graph().output().empty()) return false;
  const bool traces = setting("RANDOM_NODES_TRACE", 0) != 0;
  if (traces) std::cerr << name << ": " << random.model.ShortDebugString() << std::endl;
  SCOPED_TRACE(name);
  limit_time(kSecondsForACase);
  const Result<std::vector<Value>> outputs = answer(random);
  limit_time(0);
  if (traces) std::cerr << "  " << outputs.status().to_string() << "\n";
  if (!outputs.ok()) {
    EXPECT_TRUE(is_valid_utf8(outputs.status().message()));
    // A node that no provider takes may have been replaced by its body, whose nodes are then named.
    EXPECT_THAT(outputs.status().message(),
                ::testing::AnyOf(::testing::ContainsRegex(op_type + " node \"tested\""),
                                 ::testing::ContainsRegex("[A-Z][A-Za-z]+ node \"tested/")));
  }
  return outputs.ok() && fits(kernel, node, schema);
}

TEST_P(EveryKernel, AnswersOrRefusesWhatItIsGiven) {
  PluginSession plugin(CPU_PLUGIN);
  const eph_kernel_def* kernels = nullptr;
  uint64_t count = 0;
  FakeError error;
  ASSERT_EQ(plugin.api().get_kernels(plugin.provider(), &kernels, &count, &error), EPH_OK);
  const char* only = std::getenv("RANDOM_NODES_OPERATOR");
  const int64_t from = setting("RANDOM_NODES_FROM", 0);
  const int64_t end = from + setting("RANDOM_NODES", 50);
  for (auto k = static_cast<uint64_t>(GetParam()); k < count; k += kShards) {
    const std::string op_type(eph::view(kernels[k].op_type));
    if (only != nullptr && only != op_type) continue;
    int64_t answered = 0;
    for (int64_t number = from; number < end; ++number) {
      if (run(kernels[k], number)) ++answered;
    }
    EXPECT_GT(answered, 0) << op_type << " " << kernels[k].since_version << " never answered";
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, EveryKernel, ::testing::Range(0, kShards));

}  // namespace
}  // namespace ephost::test::every_kernel_test
