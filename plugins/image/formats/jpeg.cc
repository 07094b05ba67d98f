// libjpeg reports errors through a function that must not return: it jumps. What it jumps over are
// frames of C and of the functions below whose argument is a JpegJob, which hold no object with a
// destructor; everything that a jump must not lose is in the JpegJob.
#include <cstdio>
// After <cstdio>, which it needs.
#include <jerror.h>
#include <jpeglib.h>

#include <memory>

#include "plugins/image/formats/escape.h"

namespace ephost_image {
namespace {

// More scans are not an image, but an attempt to keep the decoder busy.
constexpr int kMostScans = 500;

struct JpegJob : Escape {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  Bytes file;
  uint8_t* pixels;
  std::size_t width;
};

static_assert(sizeof(Escape::message) >= JMSG_LENGTH_MAX);

JpegJob& job_of(j_common_ptr info) { return *static_cast<JpegJob*>(info->client_data); }

[[noreturn]] void leave_jpeg(j_common_ptr info) {
  JpegJob& job = job_of(info);
  info->err->format_message(info, job.message.data());
  std::longjmp(job.escape, 1);
}

// Warnings are about data that other decoders accept as well, but for those of missing data.
void take_message(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) leave_jpeg(info);
}

void limit_scans(j_common_ptr info) {
  JpegJob& job = job_of(info);
  if (job.info.input_scan_number <= kMostScans) return;
  std::snprintf(job.message.data(), job.message.size(), "more than %d scans", kMostScans);
  std::longjmp(job.escape, 1);
}

bool has_four_colors(const JpegJob& job) {
  return job.info.jpeg_color_space == JCS_CMYK || job.info.jpeg_color_space == JCS_YCCK;
}

void read_jpeg_header(JpegJob& job) {
  jpeg_create_decompress(&job.info);
  job.progress.progress_monitor = &limit_scans;
  job.info.progress = &job.progress;
  jpeg_mem_src(&job.info, job.file.data(), static_cast<unsigned long>(job.file.size()));
  jpeg_read_header(&job.info, TRUE);
  job.info.out_color_space = has_four_colors(job) ? JCS_CMYK : JCS_RGB;
}

// What Adobe writes, with and without its marker: 0 is full ink with it.
void take_four_colors(const JpegJob& job, const JSAMPLE* from, uint8_t* to) {
  const unsigned inverted = job.info.saw_Adobe_marker ? 0 : 255;
  for (std::size_t x = 0; x < job.width; ++x, from += 4, to += 3) {
    const unsigned key = from[3] ^ inverted;
    for (std::size_t c = 0; c < 3; ++c) {
      to[c] = static_cast<uint8_t>(((from[c] ^ inverted) * key + 127) / 255);
    }
  }
}

void read_jpeg_rows(JpegJob& job) {
  jpeg_start_decompress(&job.info);
  const bool converts = job.info.out_color_space == JCS_CMYK;
  JSAMPROW buffer = nullptr;
  if (converts) {  // freed with the rest
    auto* const common = reinterpret_cast<j_common_ptr>(&job.info);
    buffer = static_cast<JSAMPROW>(
        job.info.mem->alloc_large(common, JPOOL_IMAGE, job.width * 4 * sizeof(JSAMPLE)));
  }
  while (job.info.output_scanline < job.info.output_height) {
    uint8_t* const row = job.pixels + job.info.output_scanline * job.width * 3;
    JSAMPROW target = converts ? buffer : row;
    if (jpeg_read_scanlines(&job.info, &target, 1) != 1) {
      std::snprintf(job.message.data(), job.message.size(), "missing rows");
      std::longjmp(job.escape, 1);
    }
    if (converts) take_four_colors(job, buffer, row);
  }
}

struct DestroyJpeg {
  void operator()(JpegJob* job) const {
    jpeg_destroy_decompress(&job->info);
    delete job;
  }
};

}  // namespace

void decode_jpeg(Bytes file, Canvas& canvas) {
  const std::unique_ptr<JpegJob, DestroyJpeg> job(new JpegJob());
  job->info.err = jpeg_std_error(&job->errors);
  job->errors.error_exit = &leave_jpeg;
  job->errors.emit_message = &take_message;
  job->info.client_data = job.get();
  job->file = file;
  run(*job, &read_jpeg_header);
  canvas.start(job->info.image_width, job->info.image_height);
  job->pixels = canvas.data();
  job->width = canvas.width();
  run(*job, &read_jpeg_rows);
}

}  // namespace ephost_image
