// The input and output of a compilation as the C API takes them.
#pragma once

#include <ephost/c_api.h>
#include <ephost/detail/api.h>
#include <ephost/types/compilation.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ephost::detail {

// Views the options that it was made of, and has their functions called.
class CompilationRecord {
 public:
  explicit CompilationRecord(const ModelCompilationOptions& options) : options_(options) {
    record_.struct_size = sizeof(record_);
    record_.context = this;
    set_model();
    const auto text = [](const std::string& of) { return of.empty() ? nullptr : of.c_str(); };
    if (options.ep_context_embed_mode) {
      record_.ep_context_embed_mode = *options.ep_context_embed_mode ? EPHOST_YES : EPHOST_NO;
    }
    record_.ep_context_binary_folder = text(options.ep_context_binary_folder);
    record_.ep_context_binary_model_name = text(options.ep_context_binary_model_name);
    if (options.ep_context_data_write_func) {
      record_.ep_context_data_write_func = write_context_data;
    }
    record_.output_model_external_initializers_file =
        text(options.output_model_external_initializers_file);
    record_.external_initializers_size_threshold = options.external_initializers_size_threshold;
    record_.external_initializers_alignment = options.external_initializers_alignment;
    if (options.output_model_get_initializer_location_func) {
      record_.output_model_get_initializer_location_func = place_initializer;
    }
    record_.target = text(options.target);
    record_.check_deterministic = options.check_deterministic ? 1 : 0;
    record_.error_if_no_nodes_compiled = options.error_if_no_nodes_compiled ? 1 : 0;
    record_.error_if_output_exists = options.error_if_output_exists ? 1 : 0;
    record_.force_overwrite = options.force_overwrite ? 1 : 0;
  }
  CompilationRecord(const CompilationRecord&) = delete;
  CompilationRecord& operator=(const CompilationRecord&) = delete;

  [[nodiscard]] const ephost_compilation* get() const { return &record_; }
  // After success: hands over the model that goes to a buffer.
  void give_output() {
    if (options_.output_model_buffer != nullptr) *options_.output_model_buffer = std::move(output_);
  }

 private:
  void set_model() {
    if (!options_.input_model_path.empty()) {
      record_.input_model_path = options_.input_model_path.c_str();
    }
    record_.input_model = options_.input_model_buffer.data();
    record_.input_model_size = options_.input_model_buffer.size();
    if (options_.input_model_read_func) record_.input_model_read_func = read_model;
    if (!options_.output_model_path.empty()) {
      record_.output_model_path = options_.output_model_path.c_str();
    }
    if (options_.output_model_write_func || options_.output_model_buffer != nullptr) {
      record_.output_model_write_func = write_model;
    }
  }

  static ephost_status* read_model(void* context, void* buffer, uint64_t capacity,
                                   uint64_t* out_size) {
    return give_status([&]() -> Status {
      const auto& read = static_cast<CompilationRecord*>(context)->options_.input_model_read_func;
      EPHOST_ASSIGN_OR_RETURN(*out_size, read({static_cast<std::byte*>(buffer), capacity}));
      return {};
    });
  }
  static ephost_status* write_model(void* context, const void* bytes, uint64_t size) {
    return give_status([&]() -> Status {
      auto& self = *static_cast<CompilationRecord*>(context);
      const std::span piece(static_cast<const std::byte*>(bytes), size);
      if (self.options_.output_model_write_func)
        return self.options_.output_model_write_func(piece);
      const size_t before = self.output_.size();
      self.output_.resize(before + piece.size());
      if (!piece.empty()) std::memcpy(self.output_.data() + before, bytes, piece.size());
      return {};
    });
  }
  static ephost_status* write_context_data(void* context, const char* file_name, const void* bytes,
                                           uint64_t size) {
    return give_status([&] {
      const auto& self = *static_cast<CompilationRecord*>(context);
      return self.options_.ep_context_data_write_func(file_name,
                                                      {static_cast<const std::byte*>(bytes), size});
    });
  }
  static ephost_status* place_initializer(void* context, const ephost_initializer* initializer,
                                          int32_t* out_location) {
    return give_status([&]() -> Status {
      const auto& self = *static_cast<CompilationRecord*>(context);
      ExternalInitializerInfo external;
      InitializerInfo info = {
          .name = initializer->name,
          .element_type = static_cast<ElementType>(initializer->element_type),
          .shape = {initializer->shape, initializer->rank},
          .bytes = {static_cast<const std::byte*>(initializer->data), initializer->byte_size}};
      if (initializer->is_external != 0) {
        external = {initializer->file, initializer->file_offset, initializer->file_byte_size};
        info.external = &external;
      }
      EPHOST_ASSIGN_OR_RETURN(const InitializerLocation location,
                              self.options_.output_model_get_initializer_location_func(info));
      *out_location = static_cast<int32_t>(location);
      return {};
    });
  }

  const ModelCompilationOptions& options_;
  ephost_compilation record_ = {};
  std::vector<std::byte> output_;
};

}  // namespace ephost::detail
