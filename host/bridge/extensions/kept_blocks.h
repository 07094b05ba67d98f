// Blocks of devices that are kept for later use, such as those of idle frames: where the memory of
// a device runs out, all who keep some are asked to give them back.
#pragma once

#include <functional>
#include <vector>

namespace ephost::bridge {

class Device;

class KeptBlocks {
 public:
  // `give_back` is called where one of the devices needs memory, by any thread and until this is
  // destroyed. It neither makes nor destroys objects of this class, and takes no lock under which
  // memory is allocated. The devices are not used.
  KeptBlocks(std::vector<const Device*> devices, std::function<void()> give_back);
  KeptBlocks(const KeptBlocks&) = delete;
  KeptBlocks& operator=(const KeptBlocks&) = delete;
  ~KeptBlocks();

  // Asks all who keep blocks of the device.
  static void give_back(const Device& device);

 private:
  const std::vector<const Device*> devices_;
  const std::function<void()> give_back_;
};

}  // namespace ephost::bridge
