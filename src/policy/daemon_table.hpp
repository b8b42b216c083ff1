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
  void read_interval(const FileReader& in, const toml::key& key, const toml::node& node);

  DaemonSettings& settings_;
  SettingsTable table_{"daemon"};
};

}  // namespace rdtd
