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
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&DeviceKind::type, &C::type);
    visit(&DeviceKind::vendor, &C::vendor);
    visit(&DeviceKind::id, &C::id);
  }
};

template <>
struct RecordOf<InstalledPlugin> {
  using C = ephost_plugin;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&InstalledPlugin::provider, &C::provider);
    visit(&InstalledPlugin::name, &C::name);
    visit(&InstalledPlugin::vendor, &C::vendor);
    visit(&InstalledPlugin::version, &C::version);
    visit(&InstalledPlugin::manifest, &C::manifest);
    visit(&InstalledPlugin::library, &C::library);
    visit(&InstalledPlugin::abi, &C::abi);
    visit(&InstalledPlugin::devices, &C::devices, &C::device_count);
    visit(&InstalledPlugin::context_sources, &C::context_sources, &C::context_source_count);
  }
};

template <>
struct RecordOf<SkippedPlugin> {
  using C = ephost_skipped_plugin;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&SkippedPlugin::manifest, &C::manifest);
    visit(&SkippedPlugin::reason, &C::reason);
  }
};

template <>
struct RecordOf<SearchedDirectory> {
  using C = ephost_searched_directory;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&SearchedDirectory::path, &C::path);
    visit(&SearchedDirectory::origin, &C::origin);
  }
};

template <>
struct RecordOf<EpDevice> {
  using C = ephost_device;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&EpDevice::provider, &C::provider);
    visit(&EpDevice::provider_name, &C::provider_name);
    visit(&EpDevice::provider_vendor, &C::provider_vendor);
    visit(&EpDevice::id, &C::id);
    visit(&EpDevice::type, &C::type);
    visit(&EpDevice::name, &C::name);
    visit(&EpDevice::vendor, &C::vendor);
    visit(&EpDevice::vendor_id, &C::vendor_id);
    visit(&EpDevice::device_id, &C::device_id);
    visit(&EpDevice::architecture, &C::architecture);
    visit(&EpDevice::driver_version, &C::driver_version);
    visit(&EpDevice::memory_bytes, &C::memory_bytes);
    visit(&EpDevice::is_virtual, &C::is_virtual);
    visit(&EpDevice::metadata, &C::metadata, &C::metadata_count);
  }
};

template <>
struct RecordOf<UnlistedProvider> {
  using C = ephost_unlisted_provider;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&UnlistedProvider::provider, &C::provider);
    visit(&UnlistedProvider::reason, &C::reason);
  }
};

template <>
struct RecordOf<EpDeviceList> {
  using C = ephost_device_list;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&EpDeviceList::devices, &C::devices, &C::device_count);
    visit(&EpDeviceList::failed, &C::failed, &C::failed_count);
  }
};

template <>
struct RecordOf<SessionGroupInfo> {
  using C = ephost_session_group;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&SessionGroupInfo::name, &C::name);
    visit(&SessionGroupInfo::waiting_partitions, &C::waiting_partitions,
          &C::waiting_partition_count);
    visit(&SessionGroupInfo::unwritten_models, &C::unwritten_models, &C::unwritten_model_count);
  }
};

}  // namespace ephost::detail
