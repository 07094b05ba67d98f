// `ephost keygen NAME`: makes a pair of keys that sign plugins and context models.
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "host/base/files/private_files.h"
#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/report/json.h"
#include "host/cli/report/output.h"
#include "host/cli/shell/command.h"
#include "host/cli/signing/passphrase.h"
#include "host/trust/secret_key.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;

struct KeygenFlags {
  ReportFlags report;
  fs::path name;
  std::optional<uint32_t> passphrase_fd;
  bool no_passphrase = false;
};

Result<std::string> choose_passphrase(const KeygenFlags& flags) {
  if (flags.no_passphrase) return std::string();
  EPHOST_ASSIGN_OR_RETURN(std::string passphrase,
                          read_passphrase(flags.passphrase_fd, "passphrase of the new key: "));
  if (passphrase.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "the passphrase is empty; give one, or --no-passphrase for a key without one");
  }
  if (flags.passphrase_fd) return passphrase;
  EPHOST_ASSIGN_OR_RETURN(const std::string again, read_passphrase({}, "the same once more: "));
  if (again == passphrase) return passphrase;
  return Status(StatusCode::kInvalidArgument, "the two passphrases differ; try again");
}

Result<int> run(const KeygenFlags& flags) {
  apply(flags.report);
  fs::path secret_file = flags.name, public_file = flags.name;
  secret_file += ".key";
  public_file += ".pub";
  for (const fs::path& file : {secret_file, public_file}) {
    std::error_code ignored;
    if (fs::symlink_status(file, ignored).type() == fs::file_type::not_found) continue;
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} exists, and keys are not overwritten; choose another name",
                            quote(file.native())));
  }
  EPHOST_ASSIGN_OR_RETURN(const std::string passphrase, choose_passphrase(flags));
  EPHOST_ASSIGN_OR_RETURN(const trust::SecretKey key, trust::SecretKey::generate());
  EPHOST_ASSIGN_OR_RETURN(const std::string secret, key.to_text(passphrase));
  EPHOST_RETURN_IF_ERROR(create_file(secret_file, secret, 0600));
  const trust::PublicKey public_key = key.public_key();
  EPHOST_RETURN_IF_ERROR(create_file(public_file, trust::to_text(public_key), 0644));
  const std::string id = trust::to_text(public_key.id);
  if (flags.report.json()) {
    print(to_text(Json{{"id", id},
                       {"secret_key", secret_file.native()},
                       {"public_key", public_file.native()},
                       {"encrypted", !passphrase.empty()}}));
    return kExitSuccess;
  }
  print(formatted(
      "key {}\n  {}  the secret key{}; keep it to yourself\n  {}  the public key, for "
      "everybody who is to trust what you sign\n",
      id, printable_line(secret_file.native()), passphrase.empty() ? ", without a passphrase" : "",
      printable_line(public_file.native())));
  return kExitSuccess;
}

}  // namespace

Command add_keygen(ArgumentParser& root) {
  auto flags = std::make_shared<KeygenFlags>();
  ArgumentParser app =
      root.add_subcommand("keygen", "Make a pair of keys that sign plugins and context models");
  app.footer("The files are of minisign's format. Nothing is overwritten.");
  app.add("NAME", flags->name, "Writes the secret key NAME.key and the public key NAME.pub")
      .type_name("NAME")
      .required();
  Argument descriptor = app.add("--passphrase-fd", flags->passphrase_fd,
                                "Read the passphrase from this descriptor [the terminal]")
                            .type_name("N");
  app.add_flag("--no-passphrase", flags->no_passphrase,
               "Do not encrypt the secret key, for machines that sign without a person")
      .excludes(descriptor);
  add_report_flags(app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
