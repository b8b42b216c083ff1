// Machines, other tools' groups and policies by choices, small enough that they get into each
// other's way.
#pragma once

#include <array>
#include <string>

#include "fake/resctrl.hpp"
#include "fuzz/input.hpp"
#include "rdtd/policy/parse.hpp"

namespace rdtd::fuzz {

inline fake::Machine random_machine(Choices& choices) {
  const auto xeon = [&] {
    const unsigned sockets = 1 + choices.below(2);
    return fake::xeon(sockets, 3 + choices.below(10));
  };
  fake::Machine out;
  switch (choices.below(5)) {
    case 0: out = xeon(); break;
    case 1: out = fake::atom(); break;
    case 2: out = fake::amd(); break;
    case 3: out = fake::with_cdp(xeon()); break;
    case 4:
      out = fake::with_mbps(xeon());
      out.release.rounds_rates = choices.one_in(2);
      break;
  }
  const unsigned num_closids = 2 + choices.below(8);
  const unsigned min_cbm_bits = choices.one_in(4) ? 2 : 1;
  const bool devices = choices.one_in(3);
  for (auto& [resource, control] : out.controls) {
    control.num_closids = num_closids;
    if (!is_cache(resource)) continue;
    if (control.min_cbm_bits != 0) control.min_cbm_bits = min_cbm_bits;
    if (devices) control.shareable_bits = Cbm::range(control.cbm_mask.highest() - 1, 2);
  }
  // As on each x86 processor, there are at least as many as CLOSIDs.
  if (out.num_rmids != 0 && choices.one_in(2)) out.num_rmids = num_closids + choices.below(6);
  return out;
}

// Another tool's group, exclusive or not, as far as the kernel permits.
inline void make_foreign_group(Choices& choices, fake::Resctrl& resctrl, unsigned number) {
  const std::string name = "foreign" + std::to_string(number);
  if (!resctrl.make(name)) return;
  for (const auto& [resource, control] : resctrl.machine.controls) {
    if (!is_cache(resource)) continue;
    const unsigned first = choices.below(control.cbm_mask.count());
    const unsigned count = 1 + choices.below(control.cbm_mask.count() - first);
    for (const auto& [domain, values] : control.domains)
      (void)resctrl.write(name + "/schemata", std::string(to_string(resource)) + ":" +
                                                  to_string(domain) + "=" +
                                                  to_string(Cbm::range(first, count)) + "\n");
  }
  if (choices.one_in(3)) (void)resctrl.write(name + "/mode", "exclusive\n");
  if (choices.one_in(4)) (void)resctrl.make(name + "/mon_groups/m");
}

inline std::string random_amount(Choices& choices, Resource resource) {
  static constexpr std::array<const char*, 12> caches = {"1 ways", "2 ways", "3 ways", "25%",
                                                         "50%",    "all",    "0x3",    "0x6",
                                                         "0xc",    "0x18",   "0x30",   "0x1"};
  static constexpr std::array<const char*, 5> bandwidths = {"50%", "20%", "100%", "2 GB/s",
                                                            "800 MB/s"};
  return is_cache(resource) ? choices.of(caches) : choices.of(bandwidths);
}

inline std::string random_group(Choices& choices, const fake::Machine& machine,
                                const std::string& name, bool partitions) {
  std::string out = "[group." + name + "]\n";
  for (const auto& [resource, control] : machine.controls)
    if (choices.below(4) < (is_cache(resource) ? 3U : 1U))
      out += resource_key(resource) + " = \"" + random_amount(choices, resource) + "\"\n";
  if (name == "default")
    return out + (choices.one_in(3) ? "monitor_cpus = { m = \"1\", k = \"2\" }\n" : "");
  if (choices.one_in(3))
    out += "exclusive = true\n";
  else if (partitions && choices.one_in(3))
    out += "partition = \"part\"\n";
  static constexpr std::array<const char*, 6> cpus = {"", "", "", "0", "1", "2-3"};
  const std::string list = choices.of(cpus);
  if (list.empty()) return out;
  out += "cpus = \"" + list + "\"\n";
  if (choices.one_in(2)) out += "monitor_cpus = { n = \"" + list.substr(0, 1) + "\" }\n";
  return out;
}

// The policy may be one that the planner refuses.
inline Policy random_policy(Choices& choices, const fake::Machine& machine) {
  const bool partitions = choices.one_in(4);
  std::string text;
  for (const char* name : {"g0", "g1", "g2", "g3", "g4"})
    if (choices.one_in(2)) text += random_group(choices, machine, name, partitions);
  if (choices.one_in(4)) text += random_group(choices, machine, "default", false);
  if (partitions)
    for (const auto& [resource, control] : machine.controls)
      if (is_cache(resource))
        text += (text.find("[partition") == std::string::npos ? "[partition.part]\n" : "") +
                resource_key(resource) + " = \"" + random_amount(choices, resource) + "\"\n";
  for (const char* group : {"default", "g0", "g1", "g2"})
    for (const char* monitor : {"m", "n"})
      if ((group == std::string("default") ||
           text.find("[group." + std::string(group) + "]") != std::string::npos) &&
          choices.one_in(6))
        text += "[[rule]]\ngroup = \"" + std::string(group) + "\"\nname = \"" + group + monitor +
                "\"\nmonitor = \"" + monitor + "\"\n";
  auto parsed =
      parse_policy(std::vector{PolicyFile{"p.toml", PolicyFile::State::active, text, {}}});
  return has_errors(parsed.diagnostics) ? Policy{} : std::move(parsed.policy);
}

}  // namespace rdtd::fuzz
