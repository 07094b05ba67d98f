// Session creation of a real model with the dnnl provider: cold, generating the context cache, and
// from each form of it.
#pragma once

#include <filesystem>
#include <string>

namespace ephost::benchmarks {

// `work` is a folder for generated files.
void register_context_cache(const std::string& name, const std::filesystem::path& model,
                            const std::filesystem::path& work);

}  // namespace ephost::benchmarks
