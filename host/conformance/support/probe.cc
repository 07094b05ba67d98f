#include "host/conformance/support/probe.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <utility>

#include "host/base/files/failure_records.h"
#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/bridge/abi_options.h"
#include "host/bridge/abi_text.h"
#include "host/manifest/search.h"
#include "host/plugin/loading/elf_summary.h"
#include "host/plugin/loading/plugin_files.h"
#include "host/trust/policy.h"
#include "host/trust/quarantine_policy.h"

namespace ephost::conformance {
namespace {

using bridge::DeviceInfo;
using bridge::to_abi;

constexpr std::string_view kCannotBeLoaded =
    "the plugin cannot be loaded; the failed checks of the first rules say why";

// What a newer host knows and this plugin need not: bytes that make no sense.
constexpr uint64_t kGarbage = 0xa5a5a5a5a5a5a5a5;

// Copies a record into the front of `bytes`, and sets the whole size in it.
template <class Record>
void put_record(Record record, std::span<uint64_t> bytes) {
  record.struct_size = bytes.size_bytes();
  std::memcpy(bytes.data(), &record, sizeof(record));
}

eph_device to_record(const DeviceInfo& device, std::vector<eph_key_value>& metadata) {
  for (const auto& [key, value] : device.metadata) {
    metadata.push_back({to_abi(key), to_abi(value)});
  }
  eph_device record = {};
  record.id = to_abi(device.id);
  record.name = to_abi(device.name);
  record.vendor = to_abi(device.vendor);
  record.architecture = to_abi(device.architecture);
  record.driver_version = to_abi(device.driver_version);
  record.memory_bytes = device.memory_bytes;
  record.type = device.type;
  record.flags = device.flags;
  record.vendor_id = device.vendor_id;
  record.device_id = device.device_id;
  record.metadata = metadata.empty() ? nullptr : metadata.data();
  record.metadata_count = metadata.size();
  return record;
}

// `devices` one after the other, each followed by `extra` bytes.
std::vector<uint64_t> to_records(std::span<const DeviceInfo> devices, uint64_t extra,
                                 std::vector<std::vector<eph_key_value>>& metadata) {
  const size_t words = (sizeof(eph_device) + extra) / sizeof(uint64_t);
  std::vector<uint64_t> bytes(words * devices.size(), kGarbage);
  for (size_t i = 0; i < devices.size(); ++i) {
    put_record(to_record(devices[i], metadata.emplace_back()),
               std::span(bytes).subspan(i * words, words));
  }
  return bytes;
}

// Judges a creation that threw nothing: it gives a provider if it succeeds, and none if it fails.
void judge_result(const Creation& creation, bool is_untouched, const std::string& how,
                  Report& report) {
  const bool has_provider = !is_untouched && creation.provider != nullptr;
  if (creation.code == EPH_OK && !has_provider) {
    report.fail(formatted("create {} reports success without a provider", how),
                "set *out_provider before returning EPH_OK");
  } else if (creation.code != EPH_OK && is_untouched) {
    report.fail(formatted("create {} fails and leaves *out_provider as it found it", how),
                "set *out_provider to null before anything else");
  } else if (creation.code != EPH_OK && has_provider) {
    report.fail(formatted("create {} fails and gives a provider, too", how),
                "destroy what was made, and set *out_provider to null before returning a failure");
  }
}

const eph_device* devices_in(const std::vector<uint64_t>& bytes) {
  return bytes.empty() ? nullptr : reinterpret_cast<const eph_device*>(bytes.data());
}

}  // namespace

Result<manifest::FoundPlugin> find_plugin(const Subject& subject) {
  return manifest::read_plugin(subject.manifest);
}

Status check_library_file(const manifest::FoundPlugin& found) {
  EPHOST_RETURN_IF_ERROR(manifest::check_loader_path(found.library));
  EPHOST_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(found.library));
  const plugin::ElfSummary summary = plugin::summarize_elf(file.bytes());
  if (summary.needed_size == 0 || summary.needed_size > file.bytes().size()) {
    return Status(
        StatusCode::kEpFail,
        formatted("the file of {} bytes is not a shared library of this system, or only a "
                  "part of one",
                  file.bytes().size()));
  }
  if ((plugin::sanitizers_of(summary.needed) & ~uint64_t{EPH_BUILD_FLAGS}) != 0) {
    return Status(StatusCode::kEpFail,
                  "the library needs the run-time library of a sanitizer that this host was built "
                  "without");
  }
  return Status::ok_status();
}

Result<std::shared_ptr<const plugin::Library>> load_library(const manifest::FoundPlugin& found) {
  EPHOST_RETURN_IF_ERROR(check_library_file(found));
  EPHOST_ASSIGN_OR_RETURN(const trust::Verifier verifier, user_verifier());
  const bool listed_only = verifier.policy() == SignaturePolicy::kRequire;
  if (verifier.policy() != SignaturePolicy::kOff) {
    plugin::Registry registry(plugin::HostOffer{.extensions = bridge::offered_extensions()});
    registry.set_verifier(verifier);
    EPHOST_RETURN_IF_ERROR(registry.check(found));
  }
  EPHOST_ASSIGN_OR_RETURN(plugin::PluginFiles files, plugin::PluginFiles::open(found));
  const plugin::LoadTerms terms = files.terms(listed_only);
  return plugin::Library::open(files.take_library(), terms);
}

Result<RawPlugin> open_raw(const Subject& subject) {
  EPHOST_ASSIGN_OR_RETURN(const manifest::FoundPlugin found, find_plugin(subject));
  RawPlugin raw;
  raw.manifest = found.manifest;
  EPHOST_ASSIGN_OR_RETURN(raw.library, load_library(found));
  using EntryPoint = std::remove_pointer_t<eph_plugin_v1_function>;
  auto* const entry_point = raw.library->find_function<EntryPoint>(EPH_PLUGIN_SYMBOL);
  if (entry_point == nullptr) {
    return Status(StatusCode::kEpFail, "the library does not export " EPH_PLUGIN_SYMBOL);
  }
  EPHOST_ASSIGN_OR_RETURN(raw.preamble,
                          plugin::call({raw.manifest.provider, EPH_PLUGIN_SYMBOL}, entry_point));
  return raw;
}

Result<plugin::Quarantine> user_quarantine() {
  EPHOST_ASSIGN_OR_RETURN(const trust::MachinePolicy machine,
                          trust::load_machine_policy(trust::machine_policy_file()));
  EPHOST_ASSIGN_OR_RETURN(const trust::ProcessQuarantine process,
                          trust::quarantine_of_process(machine));
  return plugin::Quarantine(FailureRecords::default_file(), process.policy);
}

Result<trust::Verifier> user_verifier() { return trust::Verifier::create(SignaturePolicy::kOff); }

Result<std::shared_ptr<const plugin::LoadedPlugin>> load_plugin(const Subject& subject) {
  EPHOST_ASSIGN_OR_RETURN(const manifest::FoundPlugin found, find_plugin(subject));
  EPHOST_ASSIGN_OR_RETURN(plugin::Quarantine quarantine, user_quarantine());
  EPHOST_ASSIGN_OR_RETURN(trust::Verifier verifier, user_verifier());
  plugin::Registry registry(plugin::HostOffer{.extensions = bridge::offered_extensions()},
                            std::move(quarantine));
  registry.set_verifier(std::move(verifier));
  return registry.load(found);
}

std::optional<RawPlugin> need_raw(const Subject& subject, Report& report) {
  Result<RawPlugin> raw = open_raw(subject);
  if (raw.ok() && raw->preamble != nullptr) return std::move(*raw);
  report.leave_out(std::string(kCannotBeLoaded));
  return std::nullopt;
}

std::shared_ptr<const plugin::LoadedPlugin> need_plugin(const Subject& subject, Report& report) {
  Result<std::shared_ptr<const plugin::LoadedPlugin>> plugin = load_plugin(subject);
  if (plugin.ok()) return std::move(*plugin);
  report.leave_out(std::string(kCannotBeLoaded));
  return nullptr;
}

Result<const eph_plugin_api*> get_api(const RawPlugin& raw, uint32_t minor) {
  const std::string directory = raw.manifest.directory();
  eph_load_info info = {};
  info.struct_size = sizeof(info);
  info.directory = to_abi(directory);
  info.minor = minor;
  return plugin::call({raw.manifest.provider, "get_api"}, raw.preamble->get_api,
                      static_cast<const eph_load_info*>(&info));
}

void KitError::set_message(eph_error* error, eph_string message) noexcept {
  try {
    static_cast<KitError*>(error)->message_ = bridge::view(message);
  } catch (const std::exception&) {
    // Memory ran out; the check finds no message.
  }
}

void BareHost::log(const eph_host*, int32_t, eph_string) noexcept {}
const void* BareHost::get_extension(const eph_host*, eph_string) noexcept { return nullptr; }

std::unique_ptr<bridge::HostServices> kit_services(const plugin::LoadedPlugin& plugin) {
  return std::make_unique<bridge::HostServices>(
      plugin.manifest.provider, [](bridge::Severity, std::string_view, std::string_view) {},
      bridge::ProgressHooks{});
}

Result<Config> Config::make(const std::shared_ptr<const plugin::LoadedPlugin>& plugin,
                            const GivenOptions& options, std::vector<DeviceInfo> devices) {
  Config config;
  const manifest::Manifest& manifest = plugin->manifest;
  EPHOST_ASSIGN_OR_RETURN(config.typed_, manifest::validate_options(manifest, options));
  const auto services = kit_services(*plugin);
  for (const DeviceInfo& info : devices) {
    EPHOST_ASSIGN_OR_RETURN(auto device, bridge::Device::open(plugin, *services, info));
    if (device == nullptr) break;
    config.handles_.push_back(device->handle());
    config.opened_.push_back(std::move(device));
  }
  config.options_ = to_abi(config.typed_);
  config.devices_ = std::move(devices);
  config.directory_ = manifest.directory();
  return config;
}

const eph_provider_config* Config::record(uint64_t extra) {
  metadata_.clear();
  const auto targets = target_ ? std::span(&*target_, 1) : std::span<DeviceInfo>();
  device_bytes_ = to_records(devices_, extra, metadata_);
  target_bytes_ = to_records(targets, extra, metadata_);
  eph_provider_config config = {};
  config.options = options_.empty() ? nullptr : options_.data();
  config.option_count = options_.size();
  config.devices = devices_in(device_bytes_);
  config.device_stride = sizeof(eph_device) + extra;
  config.device_count = devices_.size();
  config.target = devices_in(target_bytes_);
  config.directory = to_abi(directory_);
  config.purpose = purpose_;
  const bool only_compiles = target_ || (purpose_ & EPH_PURPOSE_COMPILE_ONLY) != 0;
  if (!handles_.empty() && !only_compiles) config.opened = handles_.data();
  config_bytes_.assign((sizeof(config) + extra) / sizeof(uint64_t), kGarbage);
  put_record(config, config_bytes_);
  return reinterpret_cast<const eph_provider_config*>(config_bytes_.data());
}

Creation create(const plugin::LoadedPlugin& plugin, const eph_host& host,
                const eph_provider_config* config) {
  Creation creation;
  KitError error;
  // What a plugin has to overwrite in any case.
  creation.provider = reinterpret_cast<eph_provider*>(kGarbage);
  const Result<int32_t> code = plugin::call(
      {plugin.manifest.provider, "create"}, plugin.provider.create, plugin.provider_self, &host,
      config, &creation.provider, static_cast<eph_error*>(&error));
  creation.message = error.message();
  if (code.ok()) {
    creation.code = *code;
  } else {
    creation.thrown = code.status().message();
  }
  return creation;
}

void destroy(const plugin::LoadedPlugin& plugin, eph_provider* provider) {
  plugin::call_release({plugin.manifest.provider, "destroy"}, plugin.provider.destroy, provider);
}

void judge_creation(const Creation& creation, const std::string& how, Report& report, int rule) {
  const auto judges = [rule](int one) { return rule == 0 || rule == one; };
  if (!creation.thrown.empty()) {
    if (!judges(17)) return;
    report.fail(formatted("create {}: {}", how, creation.thrown),
                "catch everything within the function, and return a code and a message");
    return;
  }
  const bool is_untouched = creation.provider == reinterpret_cast<eph_provider*>(kGarbage);
  if (judges(19)) judge_result(creation, is_untouched, how, report);
  if (!judges(18) || creation.code == EPH_OK) return;
  if (creation.message.empty()) {
    report.fail(formatted("create {} fails with code {} and no message", how, creation.code),
                "call set_message with what failed, with what, and what to do");
  }
  if (!bridge::is_known_code(creation.code)) {
    report.fail(
        formatted("create {} returns {}, which is not a code of the interface", how, creation.code),
        "return one of EPH_*");
  }
}

std::vector<DeviceInfo> default_devices(const plugin::LoadedPlugin& plugin) {
  const auto services = kit_services(plugin);
  Result<std::vector<DeviceInfo>> devices = bridge::list_devices(plugin, *services);
  if (!devices.ok()) return {};
  std::erase_if(*devices, [](const DeviceInfo& device) { return device.is_virtual(); });
  return std::move(*devices);
}

LiveProvider::LiveProvider(std::shared_ptr<const plugin::LoadedPlugin> plugin, Report& report)
    : plugin_(std::move(plugin)), services_(kit_services(*plugin_)) {
  Result<Config> config = Config::make(plugin_, {}, default_devices(*plugin_));
  if (config.ok()) {
    config_ = std::move(*config);
    const Creation creation = create(*plugin_, *services_, config_->record());
    if (creation.ok()) provider_ = creation.provider;
  }
  if (provider_ == nullptr) {
    report.leave_out("no provider can be created; check 23.1 says why");
  }
}

LiveProvider::~LiveProvider() {
  if (provider_ != nullptr) destroy(*plugin_, provider_);
}

std::string text_of(const Status& status) { return status.to_string(); }

std::string checksum_of(const void* data, uint64_t size) {
  return to_hex(content_checksum({static_cast<const std::byte*>(data), static_cast<size_t>(size)}));
}

}  // namespace ephost::conformance
