// Reports are snapshots: they outlive what they are about. So do handles that keep others alive.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/unit/api/api_fixture.h"

namespace ephost::reports_test {
namespace {

using test::c_api;
using test::code_of;

class CApiReports : public test::CApi {
 protected:
  void release_environment() {
    c_api().environment->release(environment_);
    environment_ = nullptr;
  }
  void release_session() {
    c_api().session->release(session_);
    session_ = nullptr;
  }
};

TEST_F(CApiReports, OutliveTheEnvironment) {
  const ephost_plugin_list* plugins = nullptr;
  const ephost_device_list* devices = nullptr;
  const ephost_plugin_description* plugin = nullptr;
  const ephost_model_partitioning* partitioning = nullptr;
  const ephost_model_plan* plan = nullptr;
  const ephost_model_api& model = *c_api().model;
  ASSERT_EQ(c_api().environment->plugins(environment_, &plugins), nullptr);
  ASSERT_EQ(c_api().environment->devices(environment_, &devices), nullptr);
  ASSERT_EQ(c_api().plugin->inspect(environment_, "cpu", &plugin), nullptr);
  ASSERT_EQ(model.partition(environment_, model_.c_str(), options_, EPHOST_PARTITION_CLAIMS,
                            &partitioning),
            nullptr);
  ASSERT_EQ(model.plan(environment_, model_.c_str(), options_, &plan), nullptr);
  const test::TempDirectory folder;
  const std::string file = folder.write("s.yaml", "selection: 1\nproviders: [nobody]\n").string();
  const ephost_selection_report* selection = nullptr;
  ASSERT_EQ(c_api().plugin->check_selection(environment_, file.c_str(), EPHOST_SELECTION_LOAD,
                                            &selection),
            nullptr);
  TearDown();
  environment_ = nullptr;
  options_ = nullptr;
  session_ = nullptr;
  binding_ = nullptr;
  value_ = nullptr;

  ASSERT_GT(plugins->plugin_count, 0U);
  bool found = false;
  for (uint64_t i = 0; i < plugins->plugin_count; ++i) {
    found = found || std::string(plugins->plugins[i]->provider) == "CPUExecutionProvider";
  }
  EXPECT_TRUE(found);
  EXPECT_GT(devices->device_count, 0U);
  EXPECT_STREQ(plugin->plugin->name, "cpu");
  EXPECT_GT(plugin->kernel_count, 0U);
  ASSERT_EQ(partitioning->graph_count, 1U);
  ASSERT_EQ(partitioning->graphs[0]->node_count, 1U);
  EXPECT_STREQ(partitioning->graphs[0]->nodes[0]->op, "Add");
  EXPECT_STREQ(partitioning->graphs[0]->nodes[0]->provider, "CPUExecutionProvider");
  ASSERT_EQ(selection->finding_count, 1U);
  EXPECT_EQ(selection->findings[0]->line, 2U);
  ASSERT_EQ(selection->provider_count, 2U);
  EXPECT_STREQ(selection->providers[0]->provider, "");
  EXPECT_STREQ(selection->providers[1]->provider, "CPUExecutionProvider");
  EXPECT_EQ(selection->providers[1]->is_appended, 1);
  ASSERT_EQ(plan->graph_count, 1U);
  ASSERT_EQ(plan->graphs[0]->step_count, 1U);
  EXPECT_STREQ(plan->graphs[0]->steps[0]->inputs[0], "x");
  for (const void* report :
       std::array<const void*, 6>{plugins, devices, plugin, partitioning, plan, selection}) {
    c_api().release_report(report);
  }
}

TEST_F(CApiReports, OfConfigurationEntriesNeedNothingElse) {
  const ephost_config_entry_list* list = nullptr;
  ASSERT_EQ(c_api().session_options->known_config_entries(&list), nullptr);
  ASSERT_GT(list->entry_count, 0U);
  for (uint64_t i = 0; i < list->entry_count; ++i) {
    const ephost_config_entry& entry = *list->entries[i];
    EXPECT_EQ(entry.struct_size, sizeof(entry));
    EXPECT_STRNE(entry.key, "");
    EXPECT_STRNE(entry.subject, "") << entry.key;
    EXPECT_STRNE(entry.values, "") << entry.key;
    EXPECT_STRNE(entry.default_value, "") << entry.key;
    EXPECT_STRNE(entry.meaning, "") << entry.key;
  }
  c_api().release_report(list);
}

TEST_F(CApiReports, OfMetricsAreSnapshotsThatOutliveTheEnvironment) {
  ephost_environment_options options = EPHOST_INIT(options);
  options.metrics = 1;
  ephost_environment* environment = nullptr;
  ASSERT_EQ(c_api().environment->create(&options, &environment), nullptr);
  const ephost_metrics* metrics = nullptr;
  char* text = nullptr;
  ASSERT_EQ(c_api().environment->metrics(environment, &metrics), nullptr);
  ASSERT_EQ(c_api().environment->prometheus_text(environment, &text), nullptr);
  ephost_session* session = nullptr;
  EXPECT_EQ(code_of(c_api().session->create(environment, "missing", nullptr, &session)),
            EPHOST_NO_SUCHFILE);
  c_api().environment->release(environment);
  ASSERT_GT(metrics->metric_count, 1U);
  EXPECT_STREQ(metrics->metrics[0]->name, "ephost_build_info");
  EXPECT_EQ(metrics->metrics[0]->type, EPHOST_METRIC_GAUGE);
  ASSERT_EQ(metrics->metrics[0]->sample_count, 1U);
  EXPECT_STREQ(metrics->metrics[0]->samples[0]->labels[0].value, c_api().version);
  EXPECT_STREQ(metrics->metrics[1]->name, "ephost_sessions_total");
  EXPECT_EQ(metrics->metrics[1]->sample_count, 0U);
  EXPECT_NE(std::string(text).find("# TYPE ephost_sessions_total counter\n"), std::string::npos);
  c_api().release_text(text);
  c_api().release_report(metrics);
}

TEST_F(CApiReports, OfOptionsDoNotChangeWithThem) {
  const ephost_session_options_api& api = *c_api().session_options;
  ASSERT_EQ(api.add_config_entry(options_, "a", "1"), nullptr);
  const ephost_session_options_info* info = nullptr;
  ASSERT_EQ(api.info(options_, &info), nullptr);
  ASSERT_EQ(api.add_config_entry(options_, "a", "2"), nullptr);
  ASSERT_EQ(info->config_entry_count, 1U);
  EXPECT_STREQ(info->config_entries[0].value, "1");
  EXPECT_STREQ(api.get_config_entry(options_, "a"), "2");
  EXPECT_EQ(api.get_config_entry(options_, "b"), nullptr);
  c_api().release_report(info);
}

TEST_F(CApiReports, OfASessionLiveAsLongAsIt) {
  release_environment();
  const ephost_session_info& info = *c_api().session->info(session_);
  ASSERT_EQ(info.input_count, 1U);
  EXPECT_STREQ(info.inputs[0]->name, "x");
  EXPECT_STREQ(info.inputs[0]->type, "float[2]");
  ASSERT_EQ(info.output_count, 1U);
  EXPECT_STREQ(info.outputs[0]->name, "y");
  EXPECT_EQ(info.cache_use->outcome, EPHOST_CACHE_OFF);
  ASSERT_EQ(info.provider_count, 1U);
  EXPECT_EQ(info.providers[0]->node_count, 1U);
  EXPECT_EQ(info.host_node_count, 0U);
  EXPECT_EQ(code_of(run(nullptr)), EPHOST_OK);
}

TEST_F(CApiReports, AndValuesOutliveBindingAndSession) {
  const ephost_session_api& api = *c_api().session;
  release_environment();
  release_session();
  ASSERT_EQ(api.bind_input(binding_, "x", value_), nullptr);
  ASSERT_EQ(api.run_with_binding(binding_, nullptr), nullptr);
  ephost_value* output = nullptr;
  ASSERT_EQ(api.get_output(binding_, 0, &output), nullptr);
  api.release_binding(binding_);
  binding_ = nullptr;
  ephost_value_info info = {};
  info.struct_size = sizeof(info);
  c_api().value->get_info(output, &info);
  ASSERT_EQ(info.element_count, 2U);
  EXPECT_EQ(static_cast<const float*>(info.data)[1], 2.0F);
  c_api().value->release(output);
}

}  // namespace
}  // namespace ephost::reports_test
