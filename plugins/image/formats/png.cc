// libpng reports errors through a function that must not return: it jumps, as libjpeg's does
// (jpeg.cc). The functions below whose argument is a PngJob hold no object with a destructor.
#include <png.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "plugins/image/formats/escape.h"

namespace ephost_image {
namespace {

struct PngJob : Escape {
  png_structp png;
  png_infop info;
  Bytes rest;  // of the file
  uint8_t* pixels;
  std::size_t width, height;
};

[[noreturn]] void leave_png(png_structp png, png_const_charp message) {
  PngJob& job = *static_cast<PngJob*>(png_get_error_ptr(png));
  std::snprintf(job.message.data(), job.message.size(), "%s", message);
  std::longjmp(job.escape, 1);
}

void ignore_png_warning(png_structp, png_const_charp) {}

void take_bytes(png_structp png, png_bytep to, std::size_t count) {
  PngJob& job = *static_cast<PngJob*>(png_get_io_ptr(png));
  if (count > job.rest.size()) png_error(png, "the file ends too early");
  std::memcpy(to, job.rest.data(), count);
  job.rest = job.rest.subspan(count);
}

void read_png_header(PngJob& job) {
  job.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &job, &leave_png, &ignore_png_warning);
  if (job.png == nullptr) {
    std::snprintf(job.message.data(), job.message.size(), "out of memory");
    std::longjmp(job.escape, 1);
  }
  job.info = png_create_info_struct(job.png);
  if (job.info == nullptr) png_error(job.png, "out of memory");
  png_set_read_fn(job.png, &job, &take_bytes);
  png_read_info(job.png, job.info);
}

void read_png_rows(PngJob& job) {
  png_set_palette_to_rgb(job.png);
  png_set_expand_gray_1_2_4_to_8(job.png);
  png_set_strip_16(job.png);
  png_set_strip_alpha(job.png);
  png_set_gray_to_rgb(job.png);
  const int passes = png_set_interlace_handling(job.png);
  png_read_update_info(job.png, job.info);
  if (png_get_rowbytes(job.png, job.info) != 3 * job.width) {
    png_error(job.png, "rows are of another size than the header says");
  }
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t y = 0; y < job.height; ++y) {
      png_read_row(job.png, job.pixels + y * job.width * 3, nullptr);
    }
  }
}

struct DestroyPng {
  void operator()(PngJob* job) const {
    png_destroy_read_struct(&job->png, &job->info, nullptr);
    delete job;
  }
};

}  // namespace

void decode_png(Bytes file, Canvas& canvas) {
  const std::unique_ptr<PngJob, DestroyPng> job(new PngJob());
  job->rest = file;
  run(*job, &read_png_header);
  canvas.start(png_get_image_width(job->png, job->info), png_get_image_height(job->png, job->info));
  job->pixels = canvas.data();
  job->width = canvas.width();
  job->height = canvas.height();
  run(*job, &read_png_rows);
}

}  // namespace ephost_image
