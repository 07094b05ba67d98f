#include "tests/unit/plugins/image/encoders.h"

#include <jpeglib.h>
#include <openjpeg.h>
#include <png.h>
#include <tiffio.h>
#include <webp/encode.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ephost_image::test {
namespace {

void append(File& file, uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) file.push_back(static_cast<uint8_t>(number >> 8 * i));
}

File bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

// Every third sample, from the first one on.
std::vector<uint8_t> first_color(const Picture& picture) {
  std::vector<uint8_t> samples;
  for (std::size_t i = 0; i < picture.pixels.size(); i += 3) samples.push_back(picture.pixels[i]);
  return samples;
}

}  // namespace

File encode_bmp(const Picture& picture) {
  const std::size_t stride = (3 * picture.width + 3) / 4 * 4;
  File file = {'B', 'M'};
  append(file, 54 + stride * picture.height, 4);
  append(file, 0, 4);
  append(file, 54, 4);
  append(file, 40, 4);
  append(file, picture.width, 4);
  append(file, picture.height, 4);
  append(file, 1, 2);
  append(file, 24, 2);
  for (int i = 0; i < 6; ++i) append(file, 0, 4);
  for (std::size_t y = picture.height; y-- > 0;) {
    for (std::size_t x = 0; x < picture.width; ++x) {
      const uint8_t* const pixel = picture.pixels.data() + 3 * (y * picture.width + x);
      for (std::size_t c = 3; c-- > 0;) file.push_back(pixel[c]);
    }
    append(file, 0, stride - 3 * picture.width);
  }
  return file;
}

File encode_jpeg(const Picture& picture, JpegKind kind) {
  jpeg_compress_struct info = {};
  jpeg_error_mgr errors = {};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(picture.width);
  info.image_height = static_cast<JDIMENSION>(picture.height);
  info.input_components = kind.colors;
  info.in_color_space = kind.colors == 1 ? JCS_GRAYSCALE : kind.colors == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  info.comp_info[0].h_samp_factor = kind.is_subsampled ? 2 : 1;
  info.comp_info[0].v_samp_factor = 1;
  if (kind.is_progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  for (std::size_t y = 0; y < picture.height; ++y) {
    std::vector<uint8_t> row;
    for (std::size_t x = 0; x < picture.width; ++x) {
      const uint8_t* const pixel = picture.pixels.data() + 3 * (y * picture.width + x);
      row.insert(row.end(), pixel, pixel + (kind.colors == 1 ? 1 : 3));
      if (kind.colors == 4) row.push_back(255);
    }
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&info, &rows, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const File file(memory, memory + size);
  std::free(memory);
  return file;
}

namespace {

struct Sink {
  File file;
  std::size_t at = 0;
};

OPJ_SIZE_T write_bytes(void* from, OPJ_SIZE_T count, void* user) {
  Sink& sink = *static_cast<Sink*>(user);
  sink.file.resize(std::max(sink.file.size(), sink.at + count));
  std::memcpy(sink.file.data() + sink.at, from, count);
  sink.at += count;
  return count;
}
OPJ_OFF_T skip(OPJ_OFF_T count, void* user) {
  static_cast<Sink*>(user)->at += static_cast<std::size_t>(count);
  return count;
}
OPJ_BOOL seek(OPJ_OFF_T to, void* user) {
  static_cast<Sink*>(user)->at = static_cast<std::size_t>(to);
  return OPJ_TRUE;
}

}  // namespace

File encode_jpeg2000(const Picture& picture, Jpeg2000Kind kind) {
  std::vector<opj_image_cmptparm_t> components(static_cast<std::size_t>(kind.components));
  for (opj_image_cmptparm_t& component : components) {
    component.dx = component.dy = 1;
    component.w = static_cast<OPJ_UINT32>(picture.width);
    component.h = static_cast<OPJ_UINT32>(picture.height);
    component.prec = 8;
  }
  opj_image_t* const image =
      opj_image_create(static_cast<OPJ_UINT32>(kind.components), components.data(),
                       kind.components == 1 ? OPJ_CLRSPC_GRAY : OPJ_CLRSPC_SRGB);
  image->x1 = static_cast<OPJ_UINT32>(picture.width);
  image->y1 = static_cast<OPJ_UINT32>(picture.height);
  for (std::size_t c = 0; c < components.size(); ++c) {
    for (std::size_t i = 0; i < picture.width * picture.height; ++i) {
      image->comps[c].data[i] = picture.pixels[3 * i + c];
    }
  }
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.tcp_numlayers = 1;
  parameters.cp_disto_alloc = 1;
  parameters.numresolution = 3;
  if (kind.precinct != 0) {
    parameters.csty |= 1;
    parameters.res_spec = 3;
    std::fill_n(parameters.prcw_init, 3, kind.precinct);
    std::fill_n(parameters.prch_init, 3, kind.precinct);
  }
  opj_codec_t* const codec = opj_create_compress(kind.has_boxes ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
  opj_setup_encoder(codec, &parameters, image);
  opj_stream_t* const stream = opj_stream_default_create(OPJ_FALSE);
  Sink sink;
  opj_stream_set_user_data(stream, &sink, nullptr);
  opj_stream_set_write_function(stream, &write_bytes);
  opj_stream_set_skip_function(stream, &skip);
  opj_stream_set_seek_function(stream, &seek);
  const bool is_written = opj_start_compress(codec, image, stream) != OPJ_FALSE &&
                          opj_encode(codec, stream) != OPJ_FALSE &&
                          opj_end_compress(codec, stream) != OPJ_FALSE;
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  opj_image_destroy(image);
  return is_written ? sink.file : File();
}

namespace {

void take_png(png_structp png, png_bytep from, std::size_t count) {
  File& file = *static_cast<File*>(png_get_io_ptr(png));
  file.insert(file.end(), from, from + count);
}

struct PngRows {
  std::size_t width, height;
  int bits, color_type;
  bool is_interlaced = false;
  std::vector<uint8_t> palette = {};
  std::vector<std::vector<uint8_t>> rows = {};
};

File write_png(PngRows image) {
  File file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &file, &take_png, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), image.bits, image.color_type,
               image.is_interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!image.palette.empty()) {
    std::vector<png_color> colors;
    for (std::size_t i = 0; i < image.palette.size(); i += 3) {
      colors.push_back({image.palette[i], image.palette[i + 1], image.palette[i + 2]});
    }
    png_set_PLTE(png, info, colors.data(), static_cast<int>(colors.size()));
    std::vector<png_byte> opacity(colors.size() / 2, 0);
    png_set_tRNS(png, info, opacity.data(), static_cast<int>(opacity.size()), nullptr);
  }
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  for (std::vector<uint8_t>& row : image.rows) rows.push_back(row.data());
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

}  // namespace

File encode_png(const Picture& picture, PngKind kind) {
  PngRows image = {picture.width, picture.height, kind.bits,
                   kind.has_alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB,
                   kind.is_interlaced};
  for (std::size_t y = 0; y < picture.height; ++y) {
    std::vector<uint8_t>& row = image.rows.emplace_back();
    for (std::size_t i = 0; i < 3 * picture.width; ++i) {
      row.push_back(picture.pixels[3 * y * picture.width + i]);
      if (kind.bits == 16) row.push_back(static_cast<uint8_t>(200 - i));
      if (kind.has_alpha && i % 3 == 2) row.push_back(static_cast<uint8_t>(i));
    }
  }
  return write_png(std::move(image));
}

File encode_gray_png(const Picture& picture, int bits) {
  PngRows image = {picture.width, picture.height, bits, PNG_COLOR_TYPE_GRAY};
  const std::vector<uint8_t> samples = first_color(picture);
  for (std::size_t y = 0; y < picture.height; ++y) {
    const auto width = static_cast<std::ptrdiff_t>(picture.width);
    std::vector<uint8_t> row((picture.width * static_cast<std::size_t>(bits) + 7) / 8);
    for (std::ptrdiff_t x = 0; x < width; ++x) {
      const uint8_t sample = samples[y * picture.width + static_cast<std::size_t>(x)];
      const auto bit = static_cast<std::size_t>(x * bits);
      if (bits >= 8) {
        row[bit / 8] = sample;
      } else {
        row[bit / 8] = static_cast<uint8_t>(
            row[bit / 8] | sample >> (8 - bits) << (8 - bits - static_cast<int>(bit % 8)));
      }
    }
    image.rows.push_back(std::move(row));
  }
  return write_png(std::move(image));
}

File encode_palette_png(std::size_t width, const std::vector<uint8_t>& indices,
                        const std::vector<uint8_t>& palette) {
  PngRows image = {width, indices.size() / width, 8, PNG_COLOR_TYPE_PALETTE, false, palette};
  for (std::size_t y = 0; y < image.height; ++y) {
    const auto begin = indices.begin() + static_cast<std::ptrdiff_t>(y * width);
    image.rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return write_png(std::move(image));
}

File encode_pnm(const Picture& picture, char kind) {
  const bool is_gray = kind == '2' || kind == '5';
  const std::vector<uint8_t> samples = is_gray ? first_color(picture) : picture.pixels;
  File file = bytes_of(std::string("P") + kind + "\n# a comment\n" + std::to_string(picture.width) +
                       " " + std::to_string(picture.height) + "\n255\n");
  for (const uint8_t sample : samples) {
    const File text = bytes_of(std::to_string(sample) + " ");
    if (kind <= '3') {
      file.insert(file.end(), text.begin(), text.end());
    } else {
      file.push_back(sample);
    }
  }
  return file;
}

namespace {

Sink& sink_of(thandle_t handle) { return *static_cast<Sink*>(handle); }
tmsize_t read_tiff(thandle_t handle, void* to, tmsize_t count) {
  Sink& sink = sink_of(handle);
  const std::size_t left = sink.file.size() - std::min(sink.at, sink.file.size());
  const std::size_t taken = std::min(static_cast<std::size_t>(count), left);
  std::memcpy(to, sink.file.data() + sink.at, taken);
  sink.at += taken;
  return static_cast<tmsize_t>(taken);
}
tmsize_t write_tiff(thandle_t handle, void* from, tmsize_t count) {
  return static_cast<tmsize_t>(write_bytes(from, static_cast<OPJ_SIZE_T>(count), &sink_of(handle)));
}
toff_t seek_tiff(thandle_t handle, toff_t offset, int origin) {
  Sink& sink = sink_of(handle);
  sink.at = offset + (origin == SEEK_CUR ? sink.at : origin == SEEK_END ? sink.file.size() : 0);
  return sink.at;
}
int close_tiff(thandle_t) { return 0; }
toff_t size_of_tiff(thandle_t handle) { return sink_of(handle).file.size(); }

}  // namespace

File encode_tiff(const Picture& picture, TiffKind kind) {
  Sink sink;
  TIFF* const tiff = TIFFClientOpen("image", "w", &sink, &read_tiff, &write_tiff, &seek_tiff,
                                    &close_tiff, &size_of_tiff, nullptr, nullptr);
  const auto colors = static_cast<std::size_t>(kind.colors);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<uint32_t>(picture.width));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<uint32_t>(picture.height));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind.colors);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
               kind.colors == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind.is_compressed ? COMPRESSION_LZW : COMPRESSION_NONE);
  const std::size_t bytes = static_cast<std::size_t>(kind.bits) / 8;
  const auto sample = [&](std::size_t x, std::size_t y, std::size_t c) {
    const std::size_t column = std::min(x, picture.width - 1);
    const std::size_t row = std::min(y, picture.height - 1);
    return picture.pixels[3 * (row * picture.width + column) + c];
  };
  constexpr std::size_t kTile = 16;
  const std::size_t width = kind.is_tiled ? kTile : picture.width;
  const auto fill = [&](std::size_t left, std::size_t y, uint8_t* to) {
    for (std::size_t i = 0; i < width * colors * bytes; ++i) {
      to[i] = sample(left + i / bytes / colors, y, i / bytes % colors);
    }
  };
  if (kind.is_tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, static_cast<uint32_t>(kTile));
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, static_cast<uint32_t>(kTile));
    std::vector<uint8_t> tile(kTile * kTile * colors * bytes);
    for (std::size_t top = 0; top < picture.height; top += kTile) {
      for (std::size_t left = 0; left < picture.width; left += kTile) {
        for (std::size_t y = 0; y < kTile; ++y) {
          fill(left, top + y, tile.data() + y * kTile * colors * bytes);
        }
        TIFFWriteTile(tiff, tile.data(), static_cast<uint32_t>(left), static_cast<uint32_t>(top), 0,
                      0);
      }
    }
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 4);
    std::vector<uint8_t> row(width * colors * bytes);
    for (std::size_t y = 0; y < picture.height; ++y) {
      fill(0, y, row.data());
      TIFFWriteScanline(tiff, row.data(), static_cast<uint32_t>(y), 0);
    }
  }
  TIFFClose(tiff);
  return sink.file;
}

File encode_webp(const Picture& picture, bool is_lossless) {
  uint8_t* memory = nullptr;
  const auto width = static_cast<int>(picture.width);
  const auto height = static_cast<int>(picture.height);
  const std::size_t size =
      is_lossless ? WebPEncodeLosslessRGB(picture.pixels.data(), width, height, 3 * width, &memory)
                  : WebPEncodeRGB(picture.pixels.data(), width, height, 3 * width, 100, &memory);
  const File file(memory, memory + size);
  WebPFree(memory);
  return file;
}

}  // namespace ephost_image::test
