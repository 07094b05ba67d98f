// Helpers for the tests of the writer.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/context/write/writer.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"

namespace ephost::context::testing {

inline Status created(WriteOptions options) {
  const Result<ContextWriter> writer = ContextWriter::create(std::move(options));
  return writer.ok() ? Status() : writer.status();
}

// A writer with payloads of the provider `test`; the content of each is its index as text.
inline ContextWriter writer_of(const WriteOptions& options, uint32_t payloads = 1) {
  Result<ContextWriter> writer = ContextWriter::create(options);
  EXPECT_THAT(writer, test::IsOk());
  for (uint32_t i = 0; i < payloads; ++i) {
    EXPECT_THAT(writer->begin_payload("test"), test::IsOk());
    EXPECT_THAT(writer->append(i, as_bytes("payload " + std::to_string(i))), test::IsOk());
  }
  return std::move(*writer);
}

// The status of `finish` for partitions of the sample model. Expects that no file is left.
inline Status refusal(const std::vector<WrittenPartition>& partitions, uint32_t payloads = 1,
                      const std::map<std::string, std::string>& compatibility = {}) {
  const test::TempDirectory dir;
  ContextWriter writer = writer_of({.output_path = dir / "m_ctx.onnx"}, payloads);
  const Result<WrittenContext> written =
      std::move(writer).finish(sample_model(), partitions, compatibility);
  EXPECT_THAT(files_in(dir.path()), ::testing::IsEmpty());
  return written.ok() ? Status() : written.status();
}

}  // namespace ephost::context::testing
