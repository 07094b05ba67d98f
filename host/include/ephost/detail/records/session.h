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
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&ProviderRequest::name, &C::name);
    visit(&ProviderRequest::version_range, &C::version_range);
    visit(&ProviderRequest::options, &C::options, &C::option_count);
    visit(&ProviderRequest::devices, &C::devices, &C::device_count);
  }
};

template <>
struct RecordOf<ConfigEntryDescription> {
  using C = ephost_config_entry;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&ConfigEntryDescription::key, &C::key);
    visit(&ConfigEntryDescription::scope, &C::scope);
    visit(&ConfigEntryDescription::subject, &C::subject);
    visit(&ConfigEntryDescription::values, &C::values);
    visit(&ConfigEntryDescription::default_value, &C::default_value);
    visit(&ConfigEntryDescription::meaning, &C::meaning);
    visit(&ConfigEntryDescription::is_own, &C::is_own);
  }
};

template <>
struct RecordOf<ValueDescription> {
  using C = ephost_value_description;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&ValueDescription::name, &C::name);
    visit(&ValueDescription::type, &C::type);
    visit(&ValueDescription::kind, &C::kind);
    visit(&ValueDescription::is_optional, &C::is_optional);
    visit(&ValueDescription::has_default, &C::has_default);
    visit(&ValueDescription::element_type, &C::element_type);
    visit(&ValueDescription::has_shape, &C::has_shape);
    visit(&ValueDescription::shape, &C::shape, &C::rank);
    visit(&ValueDescription::dim_names, &C::dim_names, &C::rank);
  }
};

template <>
struct RecordOf<Phase> {
  using C = ephost_phase;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&Phase::name, &C::name);
    visit(&Phase::seconds, &C::seconds);
  }
};

template <>
struct RecordOf<Fallback> {
  using C = ephost_fallback;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&Fallback::provider, &C::provider);
    visit(&Fallback::partition, &C::partition);
    visit(&Fallback::nodes, &C::nodes);
    visit(&Fallback::reason, &C::reason);
  }
};

template <>
struct RecordOf<FixedExtent> {
  using C = ephost_fixed_extent;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&FixedExtent::name, &C::name);
    visit(&FixedExtent::extent, &C::extent);
  }
};

template <>
struct RecordOf<SessionProvider> {
  using C = ephost_session_provider;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&SessionProvider::name, &C::name);
    visit(&SessionProvider::library, &C::library);
    visit(&SessionProvider::node_count, &C::node_count);
    visit(&SessionProvider::wished_node_count, &C::wished_node_count);
  }
};

template <>
struct RecordOf<Specialization> {
  using C = ephost_specialization;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&Specialization::extents, &C::extents, &C::extent_count);
    visit(&Specialization::state, &C::state);
    visit(&Specialization::runs, &C::runs);
    visit(&Specialization::seconds, &C::seconds);
    visit(&Specialization::reason, &C::reason);
    visit(&Specialization::providers, &C::providers, &C::provider_count);
  }
};

template <>
struct RecordOf<CacheUse> {
  using C = ephost_cache_use;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&CacheUse::outcome, &C::outcome);
    visit(&CacheUse::key, &C::key);
    visit(&CacheUse::reused_contexts, &C::reused_contexts);
    visit(&CacheUse::reason, &C::reason);
  }
};

template <>
struct RecordOf<PlannedMemory> {
  using C = ephost_planned_memory;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&PlannedMemory::location, &C::location);
    visit(&PlannedMemory::peak_bytes, &C::peak_bytes);
    visit(&PlannedMemory::lower_bound_bytes, &C::lower_bound_bytes);
  }
};

template <>
struct RecordOf<MemoryInfo> {
  using C = ephost_memory_info;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&MemoryInfo::name, &C::name);
    visit(&MemoryInfo::device_type, &C::device_type);
    visit(&MemoryInfo::device_id, &C::device_id);
    visit(&MemoryInfo::memory_type, &C::memory_type);
    visit(&MemoryInfo::dlpack_type, &C::dlpack_type);
    visit(&MemoryInfo::dlpack_id, &C::dlpack_id);
  }
};

template <>
struct RecordOf<ModelMetadata> {
  using C = ephost_model_metadata;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&ModelMetadata::producer_name, &C::producer_name);
    visit(&ModelMetadata::graph_name, &C::graph_name);
    visit(&ModelMetadata::domain, &C::domain);
    visit(&ModelMetadata::description, &C::description);
    visit(&ModelMetadata::graph_description, &C::graph_description);
    visit(&ModelMetadata::version, &C::version);
    visit(&ModelMetadata::custom_metadata_map, &C::custom_metadata_map, &C::custom_metadata_count);
  }
};

}  // namespace ephost::detail
