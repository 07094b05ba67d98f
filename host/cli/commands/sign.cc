// `ephost sign FILE...`: signs manifests of plugins, and context models.
#include <memory>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/options/options.h"
#include "host/cli/report/json.h"
#include "host/cli/report/output.h"
#include "host/cli/shell/command.h"
#include "host/cli/signing/signer.h"
#include "host/cli/signing/signing_flags.h"
#include "host/trust/minisign.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;

struct SignCommandFlags {
  ReportFlags report;
  SigningFlags signing;
  std::vector<fs::path> files;
};

bool is_manifest(const fs::path& file) {
  return file.extension() == ".yaml" || file.extension() == ".yml";
}

// "  not covered: a.bin, b.bin and 3 more; ...", or nothing.
std::string uncovered_text(const SignedFile& one) {
  constexpr size_t kMostNames = 8;
  if (one.uncovered.empty()) return {};
  std::vector<std::string> names;
  for (const std::string& name : one.uncovered) {
    if (names.size() < kMostNames) names.push_back(printable_line(name));
  }
  const size_t others = one.uncovered.size() - names.size();
  return formatted(
      "  not covered: {}{}; if the plugin uses them, list them in \"files\" of the manifest and "
      "sign it again\n",
      join(names, ", "), others == 0 ? "" : formatted(" and {} more", others));
}

Result<int> run(const SignCommandFlags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Signer signer, Signer::create(flags.signing));
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, open_environment({}));
  std::vector<SignedFile> all;
  for (const fs::path& file : flags.files) {
    if (is_manifest(file)) {
      EPHOST_ASSIGN_OR_RETURN(SignedFile one, signer.sign_manifest(file));
      all.push_back(std::move(one));
      continue;
    }
    EPHOST_ASSIGN_OR_RETURN(const auto models, signer.sign_model(environment, file));
    all.insert(all.end(), models.begin(), models.end());
  }
  Json files = Json::array();
  std::string text;
  for (const SignedFile& one : all) {
    files.push_back({{"file", one.file.native()},
                     {"signature", one.signature.native()},
                     {"added", one.added},
                     {"not_covered", one.uncovered}});
    text += formatted("{}: signed in {}{}\n", printable_line(one.file.native()),
                      printable_line(one.signature.filename().native()),
                      one.added.empty() ? "" : "; added " + join(one.added, " and "));
    text += uncovered_text(one);
  }
  const std::string id = trust::to_text(signer.key());
  if (flags.report.json()) {
    print(to_text(Json{{"key", id}, {"files", files}}));
  } else if (!flags.report.quiet) {
    print(text);
  }
  return kExitSuccess;
}

}  // namespace

Command add_sign(ArgumentParser& root) {
  auto flags = std::make_shared<SignCommandFlags>();
  ArgumentParser app = root.add_subcommand(
      "sign", "Sign manifests of plugins and context models, so that others can trust them");
  app.footer(
      "Writes FILE.minisig beside each file. A manifest gets the checksums that it lacks, of its\n"
      "libraries and of the other files in its folders, before it is signed; files that are then\n"
      "still not covered are named.");
  app.add("FILE", flags->files, "Manifests (.yaml, .yml) and context models")
      .type_name("FILE")
      .required();
  Argument key = add_signing_flags(app, flags->signing, "-k,--key");
  key.required();
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
