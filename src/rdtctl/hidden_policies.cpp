#include "hidden_policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace rdtd {

namespace {

// The path behind all links, as it is within `root`; empty if it cannot be resolved.
std::string resolved(const std::string& root, const std::string& path) {
  std::error_code error;
  const std::string file = std::filesystem::canonical(path, error).string();
  if (error) return {};
  const std::string top = std::filesystem::canonical(root, error).string();
  return !error && top != "/" && file.starts_with(top + "/") ? file.substr(top.size()) : file;
}

// The setting of rdtd.service that hides the file; empty if none does.
std::string_view hidden_by(std::string_view path) {
  constexpr auto hidden = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"/home/", "ProtectHome=yes"},
       {"/root/", "ProtectHome=yes"},
       {"/run/user/", "ProtectHome=yes"},
       {"/tmp/", "PrivateTmp=yes"},
       {"/var/tmp/", "PrivateTmp=yes"}});
  for (const auto& [directory, setting] : hidden)
    if (path.starts_with(directory)) return setting;
  return {};
}

}  // namespace

std::vector<Diagnostic> hidden_policies(const std::string& root,
                                        const std::vector<PolicyFile>& files) {
  std::vector<Diagnostic> out;
  for (const PolicyFile& file : files) {
    if (file.state != PolicyFile::State::active || file.lease) continue;
    const std::string target = resolved(root, file.path);
    if (const std::string_view setting = hidden_by(target); !setting.empty())
      out.push_back(
          {Severity::warning,
           {.file = file.path},
           fmt::format("leads to '{}', which rdtd cannot read: its unit has {}", target, setting),
           "copy the file to this place"});
  }
  return out;
}

}  // namespace rdtd
