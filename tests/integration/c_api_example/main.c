/*
 * The C API as an application uses it: it lists plugins and devices, runs a model by name and with
 * bound values, compiles it to a context model, runs that, and reads a report.
 *
 *   c_api_example PLUGIN_DIRECTORY MODEL CONTEXT_MODEL
 */
#include <ephost/c_api.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything is called through these tables. */
static const ephost_api* api;

/* Prints a failure, releases it, and says whether there was none. */
static int ok(ephost_status* status, const char* what) {
  if (status == NULL) return 1;
  fprintf(stderr, "%s: %s: %s\n", what, api->status->code_name(api->status->code(status)),
          api->status->message(status));
  api->status->release(status);
  return 0;
}

/* ---- Environment and devices ---------------------------------------------------------------- */

static ephost_environment* create_environment(const char* plugin_directory) {
  ephost_environment_options options = EPHOST_INIT(options);
  options.plugin_directories = &plugin_directory;
  options.plugin_directory_count = 1;
  ephost_environment* environment = NULL;
  ok(api->environment->create(&options, &environment), "creating the environment");
  return environment;
}

/* Reports belong to the caller; one call releases a report with everything in it. */
static int print_devices(const ephost_environment* environment) {
  const ephost_device_list* list = NULL;
  if (!ok(api->environment->devices(environment, &list), "listing devices")) return 0;
  for (uint64_t i = 0; i < list->device_count; ++i) {
    printf("device %s of %s\n", list->devices[i]->id, list->devices[i]->provider);
  }
  for (uint64_t i = 0; i < list->failed_count; ++i) {
    printf("%s: %s\n", list->failed[i]->provider, list->failed[i]->reason.message);
  }
  api->release_report(list);
  return 1;
}

/* The dnnl provider first; the CPU provider comes last by itself. */
static ephost_session_options* create_options(void) {
  ephost_session_options* options = NULL;
  if (!ok(api->session_options->create(&options), "creating options")) return NULL;
  ephost_provider_request request = EPHOST_INIT(request);
  request.name = "dnnl";
  if (ok(api->session_options->append_execution_provider(options, &request), "adding dnnl")) {
    return options;
  }
  api->session_options->release(options);
  return NULL;
}

/* ---- Runs ----------------------------------------------------------------------------------- */

/* A tensor for the model's first input, with the same numbers every time. */
static ephost_value* create_input(const ephost_session* session) {
  const ephost_value_description* input = api->session->info(session)->inputs[0];
  ephost_value* value = NULL;
  if (!ok(api->value->create_tensor(EPHOST_ELEMENT_FLOAT, input->shape, input->rank, &value),
          "creating the input")) {
    return NULL;
  }
  ephost_value_info info = EPHOST_INIT(info);
  api->value->get_info(value, &info);
  float* elements = info.data;
  for (uint64_t i = 0; i < info.element_count; ++i) elements[i] = sinf(0.1F * (float)(i + 1));
  return value;
}

/* Runs by name: everything is checked, and the output belongs to the caller. */
static ephost_value* run_once(ephost_session* session, const ephost_value* input) {
  const ephost_session_info* info = api->session->info(session);
  ephost_run_options options = EPHOST_INIT(options);
  options.tag = "first run";
  options.timeout_ns = UINT64_C(60000000000);
  ephost_value* output = NULL;
  ok(api->session->run(session, &options, &info->inputs[0]->name, &input, 1,
                       &info->outputs[0]->name, 1, &output),
     "running");
  return output;
}

/* Runs with bound values: for many runs in a row, which then allocate nothing. */
static ephost_value* run_often(ephost_session* session, const ephost_value* input, int times) {
  ephost_binding* binding = NULL;
  if (!ok(api->session->create_binding(session, &binding), "creating a binding")) return NULL;
  int good =
      ok(api->session->bind_input(binding, api->session->info(session)->inputs[0]->name, input),
         "binding the input");
  for (int i = 0; good && i < times; ++i) {
    good = ok(api->session->run_with_binding(binding, NULL), "running with a binding");
  }
  ephost_value* output = NULL;
  if (good) ok(api->session->get_output(binding, 0, &output), "getting the output");
  api->session->release_binding(binding);
  return output;
}

static int agree(const ephost_value* a, const ephost_value* b) {
  if (a == NULL || b == NULL) return 0;
  ephost_value_info left = EPHOST_INIT(left);
  ephost_value_info right = EPHOST_INIT(right);
  api->value->get_info(a, &left);
  api->value->get_info(b, &right);
  if (left.element_count == 0 || left.byte_size != right.byte_size) return 0;
  const float* x = left.data;
  const float* y = right.data;
  for (uint64_t i = 0; i < left.element_count; ++i) {
    if (!(fabsf(x[i] - y[i]) <= 1e-4F + 1e-3F * fabsf(y[i]))) return 0;
  }
  return 1;
}

/* Creates a session of the model, runs it, and compares with `expected`, if there is one. The
 * caller gets what the first run gave; null if anything went wrong. */
static ephost_value* run_model(const ephost_environment* environment, const char* model,
                               const ephost_session_options* options,
                               const ephost_value* expected) {
  ephost_session* session = NULL;
  if (!ok(api->session->create(environment, model, options, &session), "creating a session")) {
    return NULL;
  }
  ephost_value* input = create_input(session);
  ephost_value* once = input == NULL ? NULL : run_once(session, input);
  ephost_value* often = once == NULL ? NULL : run_often(session, input, 10);
  const int same = agree(often, once) && (expected == NULL || agree(once, expected));
  /* Null is fine for every release function. */
  api->value->release(often);
  api->value->release(input);
  api->session->release(session);
  if (same) return once;
  api->value->release(once);
  fprintf(stderr, "%s: a run failed or differs from the others\n", model);
  return NULL;
}

/* ---- Compilation, reports, errors ----------------------------------------------------------- */

static int compile(const ephost_environment* environment, const ephost_session_options* options,
                   const char* model, const char* context_model) {
  ephost_compilation compilation = EPHOST_INIT(compilation);
  compilation.input_model_path = model;
  compilation.output_model_path = context_model;
  const ephost_compile_report* report = NULL;
  if (!ok(api->model->compile(environment, options, &compilation, &report), "compiling")) return 0;
  for (uint64_t i = 0; i < report->file_count; ++i) {
    printf("wrote %s, %" PRIu64 " bytes\n", report->files[i]->path, report->files[i]->bytes);
  }
  const int compiled = report->partition_count > 0;
  api->release_report(report);
  return compiled;
}

static int print_plan(const ephost_environment* environment, const ephost_session_options* options,
                      const char* model) {
  const ephost_model_plan* plan = NULL;
  if (!ok(api->model->plan(environment, model, options, &plan), "planning")) return 0;
  const ephost_graph_plan* graph = plan->graphs[0];
  printf("%" PRIu64 " steps\n", graph->step_count);
  for (uint64_t i = 0; i < graph->block_count; ++i) {
    printf("%s memory: %" PRIu64 " bytes\n", graph->blocks[i]->memory,
           graph->blocks[i]->peak_bytes);
  }
  const int planned = graph->step_count > 0;
  api->release_report(plan);
  return planned;
}

/* A failure has a code, and a message that says what to do. */
static int explain_missing_model(const ephost_environment* environment) {
  ephost_session* session = NULL;
  ephost_status* status = api->session->create(environment, "/missing.onnx", NULL, &session);
  const int explained = api->status->code(status) == EPHOST_NO_SUCHFILE && session == NULL &&
                        strstr(api->status->message(status), "/missing.onnx") != NULL;
  printf("as expected: %s\n", api->status->message(status));
  api->status->release(status);
  return explained;
}

static int run_all(const ephost_environment* environment, const ephost_session_options* options,
                   const char* model, const char* context_model) {
  ephost_value* expected = run_model(environment, model, options, NULL);
  if (expected == NULL) return 0;
  int good = compile(environment, options, model, context_model);
  if (good) {
    ephost_value* again = run_model(environment, context_model, options, expected);
    good = again != NULL;
    api->value->release(again);
  }
  api->value->release(expected);
  return good && print_plan(environment, options, model) && explain_missing_model(environment);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: c_api_example PLUGIN_DIRECTORY MODEL CONTEXT_MODEL\n");
    return 2;
  }
  api = ephost_api_v1();
  printf("ephost %s\n", api->version);
  ephost_environment* environment = create_environment(argv[1]);
  if (environment == NULL) return EXIT_FAILURE;
  ephost_session_options* options = create_options();
  const int good = options != NULL && print_devices(environment) &&
                   run_all(environment, options, argv[2], argv[3]);
  api->session_options->release(options);
  api->environment->release(environment);
  puts(good ? "all runs agree" : "failed");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
