#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "hidden_policies.hpp"
#include "leases.hpp"
#include "no_policy.hpp"
#include "output.hpp"
#include "verbs.hpp"

namespace rdtd {

namespace {

std::string state_name(const PolicyFile& file) {
  switch (file.state) {
    case PolicyFile::State::active: return "active";
    case PolicyFile::State::masked: return "masked";
    case PolicyFile::State::replaced: return "replaced";
    case PolicyFile::State::unreadable: return "unreadable";
  }
  return {};
}

// Why a file does not count.
std::string remark(const PolicyFile& file) {
  if (file.state == PolicyFile::State::replaced) return "replaced by a file of the same name";
  return file.problem.empty() ? state_name(file) : file.problem;
}

}  // namespace

int verbs::cat_config(const Context& context) {
  bool readable = true;
  JsonValue json = JsonValue::array();
  std::vector<PolicyFile> files = find_policy_files(context.root);
  if (ignored_policy_files(context.root).empty()) (void)report_no_policy(context.root, files);
  note_diagnostics(context, hidden_policies(context.root, files), {});
  std::ranges::move(lease_files(context), std::back_inserter(files));
  for (const PolicyFile& file : files) {
    readable = readable && file.state != PolicyFile::State::unreadable;
    if (context.json != Json::off) {
      JsonValue entry = {{"file", file.path}, {"state", state_name(file)}, {"text", file.text}};
      if (!file.problem.empty()) entry["problem"] = file.problem;
      json.push_back(std::move(entry));
      continue;
    }
    const bool active = file.state == PolicyFile::State::active;
    const std::string& text = file.text;
    print("{}\n{}{}",
          emphasized(context,
                     active ? "# " + file.path : fmt::format("# {}: {}", file.path, remark(file))),
          text, text.empty() || text.ends_with('\n') ? "" : "\n");
    if (active) print("\n");
  }
  for (const std::string& path : ignored_policy_files(context.root)) {
    if (context.json != Json::off)
      json.push_back(
          {{"file", path}, {"state", "ignored"}, {"text", ""}, {"problem", why_ignored}});
    else
      print("{}\n", emphasized(context, fmt::format("# {}: ignored: {}", path, why_ignored)));
  }
  if (context.json != Json::off) print_json(context, {{"files", json}});
  return readable ? Exit::ok : Exit::failed;
}

}  // namespace rdtd
