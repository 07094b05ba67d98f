// Writes a small image file of each kind into the folder that is its argument.
#include <filesystem>
#include <fstream>

#include "tests/unit/plugins/image/pictures.h"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  for (const auto& [name, file] : ephost_image::test::sample_files()) {
    std::ofstream stream(std::filesystem::path(arguments[1]) / name, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(file.data()),
                 static_cast<std::streamsize>(file.size()));
    if (!stream.flush()) return 1;
  }
  return 0;
}
