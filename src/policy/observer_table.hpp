// ObserverReader: the [observer] tables of all files as one value. A key may be set in one file
// only.
#pragma once

#include <map>
#include <string>

#include "file_reader.hpp"
#include "rdtd/policy/policy.hpp"

namespace rdtd {

class ObserverReader {
 public:
  explicit ObserverReader(ObserverSettings& settings) : settings_(settings) {}

  void read(const FileReader& in, const toml::key& key, const toml::node& node);

 private:
  void read_interval(const FileReader& in, const toml::key& key, const toml::node& node);
  void read_record(const FileReader& in, const toml::key& key, const toml::node& node);

  ObserverSettings& settings_;
  std::map<std::string, Location> set_;
};

}  // namespace rdtd
