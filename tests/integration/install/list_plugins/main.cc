// Prints the manifests of the plugins that an application finds without saying where.
#include <ephost/ephost.h>

#include <iostream>

int main() {
  const auto environment = ephost::Environment::create();
  if (!environment.ok()) {
    std::cerr << environment.status().to_string() << "\n";
    return 1;
  }
  for (const ephost::InstalledPlugin& plugin : environment->plugins()) {
    std::cout << plugin.manifest << "\n";
  }
}
