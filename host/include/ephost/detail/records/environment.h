// Fields of records and of the plain values that they become: environments, devices and groups of
// sessions.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/types/environment.h>
#include <ephost/types/ep_device.h>

namespace ephost::detail {

template <>
struct RecordOf<DeviceKind> {
  using C = ephost_device_kind;
  static constexpr auto kFields =
      std::tuple(field(&DeviceKind::type, &C::type), field(&DeviceKind::vendor, &C::vendor),
                 field(&DeviceKind::id, &C::id));
};

template <>
struct RecordOf<InstalledPlugin> {
  using C = ephost_plugin;
  static constexpr auto kFields = std::tuple(
      field(&InstalledPlugin::provider, &C::provider), field(&InstalledPlugin::name, &C::name),
      field(&InstalledPlugin::vendor, &C::vendor), field(&InstalledPlugin::version, &C::version),
      field(&InstalledPlugin::manifest, &C::manifest),
      field(&InstalledPlugin::library, &C::library), field(&InstalledPlugin::abi, &C::abi),
      field(&InstalledPlugin::devices, &C::devices, &C::device_count),
      field(&InstalledPlugin::context_sources, &C::context_sources, &C::context_source_count));
};

template <>
struct RecordOf<SkippedPlugin> {
  using C = ephost_skipped_plugin;
  static constexpr auto kFields = std::tuple(field(&SkippedPlugin::manifest, &C::manifest),
                                             field(&SkippedPlugin::reason, &C::reason));
};

template <>
struct RecordOf<SearchedDirectory> {
  using C = ephost_searched_directory;
  static constexpr auto kFields = std::tuple(field(&SearchedDirectory::path, &C::path),
                                             field(&SearchedDirectory::origin, &C::origin));
};

template <>
struct RecordOf<EpDevice> {
  using C = ephost_device;
  static constexpr auto kFields = std::tuple(
      field(&EpDevice::provider, &C::provider), field(&EpDevice::provider_name, &C::provider_name),
      field(&EpDevice::provider_vendor, &C::provider_vendor), field(&EpDevice::id, &C::id),
      field(&EpDevice::type, &C::type), field(&EpDevice::name, &C::name),
      field(&EpDevice::vendor, &C::vendor), field(&EpDevice::vendor_id, &C::vendor_id),
      field(&EpDevice::device_id, &C::device_id), field(&EpDevice::architecture, &C::architecture),
      field(&EpDevice::driver_version, &C::driver_version),
      field(&EpDevice::memory_bytes, &C::memory_bytes),
      field(&EpDevice::is_virtual, &C::is_virtual),
      field(&EpDevice::metadata, &C::metadata, &C::metadata_count));
};

template <>
struct RecordOf<UnlistedProvider> {
  using C = ephost_unlisted_provider;
  static constexpr auto kFields = std::tuple(field(&UnlistedProvider::provider, &C::provider),
                                             field(&UnlistedProvider::reason, &C::reason));
};

template <>
struct RecordOf<EpDeviceList> {
  using C = ephost_device_list;
  static constexpr auto kFields =
      std::tuple(field(&EpDeviceList::devices, &C::devices, &C::device_count),
                 field(&EpDeviceList::failed, &C::failed, &C::failed_count));
};

template <>
struct RecordOf<SessionGroupInfo> {
  using C = ephost_session_group;
  static constexpr auto kFields = std::tuple(
      field(&SessionGroupInfo::name, &C::name),
      field(&SessionGroupInfo::waiting_partitions, &C::waiting_partitions,
            &C::waiting_partition_count),
      field(&SessionGroupInfo::unwritten_models, &C::unwritten_models, &C::unwritten_model_count));
};

}  // namespace ephost::detail
