// The report on a selection file: its choices and its problems.
#pragma once

#include <ephost/types/session_options.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ephost {

// How far a selection is checked.
enum class SelectionCheck {
  kFind,  // by the file and the manifests; no plugin is loaded
  kLoad,  // also load the plugins, find the devices and create the providers
};

// Something that is wrong with the file, or has no effect.
struct SelectionFinding {
  uint32_t line = 1;  // both from 1
  uint32_t column = 1;
  std::string message;  // what is wrong, and what to do; without the place
};

// A provider of the selection, with the plugin that the selection chooses for it.
struct SelectedProvider {
  std::string name;           // as given in the file
  std::string version_range;  // as given in the file; empty: any
  OptionList options;
  std::vector<std::string> devices;
  bool is_appended = false;  // not in the file: the CPU provider, which every session has
  std::string provider;      // type name; empty: no plugin is chosen, and so the rest
  std::string version;
  std::string manifest;
  std::string library;
};

// What the selection makes of an installed plugin.
struct SelectionVerdict {
  std::string manifest;
  uint32_t position = 0;  // of its provider in the order of priority, from 1; 0: not chosen
  std::string reason;     // why it is chosen, or not
};

struct SelectionReport {
  std::vector<SelectedProvider> providers;  // in order of priority
  std::vector<SelectionVerdict> plugins;    // in the order of Environment::plugins()
  OptionList session_entries;
  std::vector<SelectionFinding> findings;  // in the order of the places
};

}  // namespace ephost
