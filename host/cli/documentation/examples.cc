#include "host/cli/documentation/examples.h"

#include <algorithm>
#include <array>

namespace ephost::cli {
namespace {

struct CommandExamples {
  std::string_view command;
  std::string_view verb;
  std::string_view lines;
};

// tests/integration/cli/usage_cases.py runs each of them, in this order.
constexpr std::array kExamples = {
    CommandExamples{"list", "",
                    "ephost list\n"
                    "ephost list --probe"},
    CommandExamples{"inspect", "", "ephost inspect dnnl"},
    CommandExamples{"check-selection", "", "ephost check-selection selection.yaml"},
    CommandExamples{"devices", "",
                    "ephost devices\n"
                    "ephost devices --targets"},
    CommandExamples{"partition", "",
                    "ephost partition model.onnx --ep dnnl --explain\n"
                    "ephost partition model.onnx --ep dnnl --format html -o partition.html"},
    CommandExamples{"plan", "",
                    "ephost plan model.onnx --ep dnnl\n"
                    "ephost plan model.onnx --ep dnnl --html plan.html\n"
                    "ephost plan --buffers problem.csv --capacity 1048576"},
    CommandExamples{"compile", "",
                    "ephost compile model.onnx --ep dnnl\n"
                    "ephost compile open.onnx --ep dnnl --shape-profile batch=8 -o open_ctx.onnx"},
    CommandExamples{"run", "",
                    "ephost run model.onnx --ep dnnl --input input=random:7\n"
                    "ephost run model_ctx.onnx --ep dnnl --output-dir results\n"
                    "ephost run model.onnx --ep dnnl --cache-dir store"},
    CommandExamples{"test", "",
                    "ephost test model_folder\n"
                    "ephost test model_folder --ep dnnl --rtol 1e-4 --verbose"},
    CommandExamples{"bench", "",
                    "ephost bench model.onnx --ep dnnl --runs 200\n"
                    "ephost bench model.onnx --ep dnnl --compare-context"},
    CommandExamples{"verify", "",
                    "ephost verify model_ctx.onnx\n"
                    "ephost verify model_ctx.onnx --load"},
    CommandExamples{"validate", "",
                    "ephost validate acme/acme.yaml --check 21.1 --junit acme.xml\n"
                    "ephost validate --list"},
    CommandExamples{"cache", "",
                    "ephost cache list store\n"
                    "ephost cache prune store --max-bytes 1000000000"},
    CommandExamples{"cache", "list", "ephost cache list store"},
    CommandExamples{"cache", "verify", "ephost cache verify store"},
    CommandExamples{"cache", "prune", "ephost cache prune store --max-age-days 30"},
    CommandExamples{"cache", "clear", "ephost cache clear store"},
    CommandExamples{"quarantine", "", "ephost quarantine list"},
    CommandExamples{"quarantine", "list", "ephost quarantine list"},
    CommandExamples{"quarantine", "clear", "ephost quarantine clear"},
    CommandExamples{"config", "", "ephost config list"},
    CommandExamples{"config", "list",
                    "ephost config list shapes\n"
                    "ephost config list session.isolation"},
    CommandExamples{"new-plugin", "", "ephost new-plugin zeta --language cpp --kind compiler"},
    CommandExamples{"keygen", "", "ephost keygen team --no-passphrase"},
    CommandExamples{"sign", "", "ephost sign acme/acme.yaml model_ctx.onnx --key team.key"},
    CommandExamples{"trust", "",
                    "ephost trust add team.pub --name team\n"
                    "ephost trust list"},
    CommandExamples{"trust", "add",
                    "ephost trust add team.pub --name team\n"
                    "ephost trust add team.pub --name team --provider AcmeExecutionProvider"},
    CommandExamples{"trust", "list", "ephost trust list"},
    CommandExamples{"trust", "remove", "ephost trust remove team"},
    CommandExamples{"trust", "revoke", "ephost trust revoke acme/acme.yaml"},
};

}  // namespace

std::string examples_text(std::string_view examples) {
  std::string text = std::string(kExamplesHeading) + "\n";
  while (!examples.empty()) {
    const size_t end = std::min(examples.find('\n'), examples.size());
    text += "  " + std::string(examples.substr(0, end)) + "\n";
    examples.remove_prefix(std::min(end + 1, examples.size()));
  }
  text.pop_back();
  return text;
}

void add_examples(ArgumentParser& root) {
  for (const CommandExamples& one : kExamples) {
    ArgumentParser app = root.subcommand(std::string(one.command));
    if (!one.verb.empty()) app = app.subcommand(std::string(one.verb));
    app.add_to_footer(examples_text(one.lines));
  }
}

}  // namespace ephost::cli
