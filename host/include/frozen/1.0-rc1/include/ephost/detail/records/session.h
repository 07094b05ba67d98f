// Fields of records and of the plain values that they become: sessions and their models.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/types/cache_use.h>
#include <ephost/types/config_entry.h>
#include <ephost/types/environment.h>
#include <ephost/types/fallback.h>
#include <ephost/types/memory_info.h>
#include <ephost/types/model_metadata.h>
#include <ephost/types/session.h>
#include <ephost/types/specialization.h>

namespace ephost::detail {

template <>
struct RecordOf<ProviderRequest> {
  using C = ephost_provider_request;
  static constexpr auto kFields =
      std::tuple(field(&ProviderRequest::name, &C::name),
                 field(&ProviderRequest::version_range, &C::version_range),
                 field(&ProviderRequest::options, &C::options, &C::option_count),
                 field(&ProviderRequest::devices, &C::devices, &C::device_count));
};

template <>
struct RecordOf<ConfigEntryDescription> {
  using C = ephost_config_entry;
  static constexpr auto kFields =
      std::tuple(field(&ConfigEntryDescription::key, &C::key),
                 field(&ConfigEntryDescription::scope, &C::scope),
                 field(&ConfigEntryDescription::subject, &C::subject),
                 field(&ConfigEntryDescription::values, &C::values),
                 field(&ConfigEntryDescription::default_value, &C::default_value),
                 field(&ConfigEntryDescription::meaning, &C::meaning),
                 field(&ConfigEntryDescription::is_own, &C::is_own));
};

template <>
struct RecordOf<ValueDescription> {
  using C = ephost_value_description;
  static constexpr auto kFields =
      std::tuple(field(&ValueDescription::name, &C::name), field(&ValueDescription::type, &C::type),
                 field(&ValueDescription::kind, &C::kind),
                 field(&ValueDescription::is_optional, &C::is_optional),
                 field(&ValueDescription::has_default, &C::has_default),
                 field(&ValueDescription::element_type, &C::element_type),
                 field(&ValueDescription::has_shape, &C::has_shape),
                 field(&ValueDescription::shape, &C::shape, &C::rank),
                 field(&ValueDescription::dim_names, &C::dim_names, &C::rank));
};

template <>
struct RecordOf<Phase> {
  using C = ephost_phase;
  static constexpr auto kFields =
      std::tuple(field(&Phase::name, &C::name), field(&Phase::seconds, &C::seconds));
};

template <>
struct RecordOf<Fallback> {
  using C = ephost_fallback;
  static constexpr auto kFields = std::tuple(
      field(&Fallback::provider, &C::provider), field(&Fallback::partition, &C::partition),
      field(&Fallback::nodes, &C::nodes), field(&Fallback::reason, &C::reason));
};

template <>
struct RecordOf<FixedExtent> {
  using C = ephost_fixed_extent;
  static constexpr auto kFields =
      std::tuple(field(&FixedExtent::name, &C::name), field(&FixedExtent::extent, &C::extent));
};

template <>
struct RecordOf<Specialization> {
  using C = ephost_specialization;
  static constexpr auto kFields = std::tuple(
      field(&Specialization::extents, &C::extents, &C::extent_count),
      field(&Specialization::state, &C::state), field(&Specialization::runs, &C::runs),
      field(&Specialization::seconds, &C::seconds), field(&Specialization::reason, &C::reason));
};

template <>
struct RecordOf<CacheUse> {
  using C = ephost_cache_use;
  static constexpr auto kFields = std::tuple(
      field(&CacheUse::outcome, &C::outcome), field(&CacheUse::key, &C::key),
      field(&CacheUse::reused_contexts, &C::reused_contexts), field(&CacheUse::reason, &C::reason));
};

template <>
struct RecordOf<SessionProvider> {
  using C = ephost_session_provider;
  static constexpr auto kFields = std::tuple(field(&SessionProvider::name, &C::name),
                                             field(&SessionProvider::library, &C::library),
                                             field(&SessionProvider::node_count, &C::node_count));
};

template <>
struct RecordOf<PlannedMemory> {
  using C = ephost_planned_memory;
  static constexpr auto kFields =
      std::tuple(field(&PlannedMemory::location, &C::location),
                 field(&PlannedMemory::peak_bytes, &C::peak_bytes),
                 field(&PlannedMemory::lower_bound_bytes, &C::lower_bound_bytes));
};

template <>
struct RecordOf<MemoryInfo> {
  using C = ephost_memory_info;
  static constexpr auto kFields = std::tuple(field(&MemoryInfo::name, &C::name),
                                             field(&MemoryInfo::device_type, &C::device_type),
                                             field(&MemoryInfo::device_id, &C::device_id),
                                             field(&MemoryInfo::memory_type, &C::memory_type));
};

template <>
struct RecordOf<ModelMetadata> {
  using C = ephost_model_metadata;
  static constexpr auto kFields = std::tuple(
      field(&ModelMetadata::producer_name, &C::producer_name),
      field(&ModelMetadata::graph_name, &C::graph_name), field(&ModelMetadata::domain, &C::domain),
      field(&ModelMetadata::description, &C::description),
      field(&ModelMetadata::graph_description, &C::graph_description),
      field(&ModelMetadata::version, &C::version),
      field(&ModelMetadata::custom_metadata_map, &C::custom_metadata_map,
            &C::custom_metadata_count));
};

}  // namespace ephost::detail
