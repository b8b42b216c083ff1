// ObserverReader: the [observer] and [guard] tables of all files, which are for rdtd-observer.
#pragma once

#include "rdtd/policy/policy.hpp"
#include "settings_table.hpp"

namespace rdtd {

class ObserverReader {
 public:
  ObserverReader(ObserverSettings& settings, GuardSettings& guard)
      : settings_(settings), guard_(guard) {}

  void read(const FileReader& in, const toml::key& key, const toml::node& node);
  void read_guard(const FileReader& in, const toml::key& key, const toml::node& node);

 private:
  void read_interval(const FileReader& in, const toml::key& key, const toml::node& node);
  void read_record(const FileReader& in, const toml::key& key, const toml::node& node);

  void read_traffic(const FileReader& in, const toml::key& key, const toml::node& node);

  ObserverSettings& settings_;
  GuardSettings& guard_;
  SettingsTable observer_table_{"observer"}, guard_table_{"guard"};
};

}  // namespace rdtd
