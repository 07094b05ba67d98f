#include "host/context/named_constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/checks.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"

namespace ephost::context::named_constants_test {
namespace {

using graph::testing::GraphBuilder;
using test::IsOk;
using testing::four;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kChecksum = "xxh3:00112233445566778899aabbccddeeff:16";

std::string entry(std::string_view name) {
  return "float[4] " + std::string(kChecksum) + " " + std::string(name);
}

// A node that names these entries, beside the constants w and v.
graph::Graph graph_with(const std::vector<std::string>& entries) {
  graph::Graph graph = GraphBuilder()
                           .input("x", testing::vector_type())
                           .constant("w", four(1))
                           .constant("v", four(2))
                           .build();
  graph::Node node = make_ep_context_node(testing::embedded_node("p", "payload"));
  node.attributes.push_back({std::string(kNamedConstantsAttribute), entries});
  node.inputs = {0};
  node.outputs = {graph.add_value({.name = "y", .type = testing::vector_type()})};
  graph.outputs = node.outputs;
  graph.add_node(std::move(node));
  graph::connect(graph);
  return graph;
}

std::string refusal(const std::vector<std::string>& entries) {
  const graph::Graph graph = graph_with(entries);
  const auto read = read_ep_context_node(graph, 0);
  if (read.ok()) return "accepted";
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidGraph);
  return read.status().message();
}

TEST(NamedConstants, AreReadAsTheyAreWritten) {
  for (const std::string name : {"w", "a name with spaces", " ", "\n", "\xc3\xa9"}) {
    const auto parsed = parse_named_constant(entry(name));
    ASSERT_TRUE(parsed) << name;
    EXPECT_EQ(parsed->name, name);
    EXPECT_EQ(parsed->type, "float[4]");
    EXPECT_EQ(parsed->checksum.size, 16U);
    EXPECT_EQ(to_string(*parsed), entry(name));
  }
}

TEST(NamedConstants, AreRefusedInAnyOtherForm) {
  const std::string good = entry("w");
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(parse_named_constant(good.substr(0, size))) << size;
  }
  EXPECT_FALSE(parse_named_constant(" " + good));
  EXPECT_FALSE(parse_named_constant("float[4]  " + std::string(kChecksum) + " w"));
  EXPECT_FALSE(parse_named_constant("float[4] xxh3:zz:16 w"));
}

TEST(NamedConstants, ComeBackFromANode) {
  EpContextNode attributes = testing::embedded_node("p", "payload");
  attributes.constants = {*parse_named_constant(entry("w")), *parse_named_constant(entry("v"))};
  const std::vector<NamedConstant> expected = attributes.constants;
  graph::Graph graph;
  graph.add_node(make_ep_context_node(std::move(attributes)));
  const auto read = read_ep_context_node(graph, 0);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->constants, expected);
  const graph::Node without = make_ep_context_node(testing::embedded_node("p", "payload"));
  EXPECT_EQ(without.attribute(kNamedConstantsAttribute), nullptr);
}

TEST(NamedConstants, OfANodeAreRefusedIfTheyAreMalformed) {
  EXPECT_EQ(refusal({entry("w"), entry("v")}), "accepted");
  EXPECT_THAT(refusal({"w"}), HasSubstr("has the entry \"w\", which is not a type, a checksum"));
  EXPECT_THAT(refusal({entry("w"), entry("w")}), HasSubstr("names \"w\" twice"));
  graph::Graph graph = graph_with({});
  graph.nodes[0].attributes.back().value = std::string("w");
  EXPECT_THAT(read_ep_context_node(graph, 0).status().message(),
              HasSubstr("\"__ephost_constants\" of EPContext node \"p\" is not a list of strings"));
}

TEST(NamedConstants, AreKeptWhereTheyExist) {
  graph::Graph graph = graph_with({entry("v"), entry("nowhere"), entry("x"), entry("w")});
  keep_named_constants(graph);
  EXPECT_EQ(graph::check_graph(graph).message(), "");
  EXPECT_EQ(graph.nodes[0].kept_constants, (std::vector<graph::ValueId>{2, 1}));
  graph::Graph damaged = graph_with({"w"});
  keep_named_constants(damaged);
  EXPECT_THAT(damaged.nodes[0].kept_constants, IsEmpty());
}

TEST(NamedConstants, AreKeptInBodiesToo) {
  graph::Graph graph = GraphBuilder()
                           .node("If", {}, {"y"})
                           .subgraph("then_branch", graph_with({entry("w")}))
                           .build();
  keep_named_constants(graph);
  EXPECT_EQ(graph.nodes[0].subgraph("then_branch")->nodes[0].kept_constants,
            (std::vector<graph::ValueId>{1}));
}

TEST(NamedConstants, OfTextAreCheckedWithTheSizeOfEachText) {
  const auto bytes_of = [](std::vector<std::string> texts) {
    graph::Tensor tensor;
    tensor.type = graph::ElementType::kString;
    tensor.shape = {static_cast<int64_t>(texts.size())};
    tensor.strings = std::make_shared<const std::vector<std::string>>(std::move(texts));
    return testing::text_of(checked_bytes(tensor));
  };
  EXPECT_EQ(bytes_of({"ab"}), std::string("\2\0\0\0\0\0\0\0ab", 10));
  EXPECT_NE(bytes_of({"ab", "c"}), bytes_of({"a", "bc"}));
}

}  // namespace
}  // namespace ephost::context::named_constants_test
