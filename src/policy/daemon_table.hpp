// DaemonReader: the [daemon] tables of all files as one value.
#pragma once

#include "rdtd/policy/policy.hpp"
#include "settings_table.hpp"

namespace rdtd {

class DaemonReader {
 public:
  explicit DaemonReader(DaemonSettings& settings) : settings_(settings) {}

  void read(const FileReader& in, const toml::key& key, const toml::node& node);

 private:
  DaemonSettings& settings_;
  SettingsTable table_{"daemon"};
};

}  // namespace rdtd
