// Machines whose resources are few, many or odd, as the model kernel has them.
#pragma once

#include "fake/machine.hpp"

namespace rdtd::test {

inline fake::Machine with_l3(fake::Machine machine, auto change) {
  change(machine.controls.at(Resource::L3));
  return machine;
}

// Masks of at least two ways, 4 CLOSIDs, two ways that devices fill too, no bandwidths.
inline fake::Machine haswell() {
  fake::Machine machine = with_l3(fake::xeon(), [](fake::Control& l3) {
    l3.min_cbm_bits = 2;
    l3.num_closids = 4;
    l3.shareable_bits = Cbm::range(18, 2);
  });
  machine.controls.erase(Resource::MB);
  machine.mon_features = {"llc_occupancy"};
  return machine;
}

inline fake::Machine with_io_ways() {
  return with_l3(fake::xeon(2, 11),
                 [](fake::Control& l3) { l3.shareable_bits = Cbm::range(9, 2); });
}

inline fake::Machine only_monitoring() {
  fake::Machine machine = fake::xeon();
  machine.controls.clear();
  machine.more_info.erase("MB/thread_throttle_mode");
  return machine;
}

inline fake::Machine only_allocation() {
  fake::Machine machine = fake::xeon();
  machine.num_rmids = 0;
  machine.mon_features.clear();
  machine.mon_domains.clear();
  machine.more_info.erase("L3_MON/max_threshold_occupancy");
  return machine;
}

// A row of schemata of its own, for the domains of MB or else L3.
inline fake::Control& add_control(fake::Machine& machine, const char* name, bool bitmap = false) {
  const bool has_mb = machine.controls.contains(Resource::MB);
  const fake::Control& like = machine.controls.at(has_mb ? Resource::MB : Resource::L3);
  fake::Control control;
  control.num_closids = like.num_closids;
  control.domains = like.domains;
  control.bandwidth_gran = 1;
  control.min_bandwidth = 0;
  return machine.controls[Resource(name, bitmap)] = control;
}

// MPAM: devices fill all ways, two RMIDs for each CLOSID, a hard limit that can be switched, a
// share of the capacity of L3, and shares of the bandwidth of each node, one of which has no CPU.
inline fake::Machine arm() {
  fake::Machine machine = with_l3(fake::xeon(2, 16), [](fake::Control& l3) {
    l3.shareable_bits = l3.cbm_mask;
    l3.sparse_masks = true;
  });
  fake::Control& mb = machine.controls.at(Resource::MB);
  mb.bandwidth_gran = mb.min_bandwidth = 1;
  machine.more_info.erase("MB/thread_throttle_mode");
  machine.mon_features = {"llc_occupancy", "mbm_total_bytes"};
  machine.pmgs = 2;
  machine.num_rmids = 16;
  fake::Control& hlim = add_control(machine, "MB_HLIM");
  hlim.most = 1;
  hlim.described_in = "MB";
  hlim.unit_name = "bool";
  fake::Control& capacity = add_control(machine, "L3_MAX");
  capacity.initial = 100;
  capacity.described_in = "L3";
  capacity.unit_name = "all";
  fake::Control& node = add_control(machine, "MB_NODE");
  node.initial = 100;
  node.min_bandwidth = 1;
  node.domains[DomainId{65536}].without_cpus = true;
  node.described_in = "MB";
  node.unit_name = "all";
  node.scope = "NODE";
  return machine;
}

// openEuler, mounted with caPbm: the masks of L3 have another name.
inline fake::Machine open_euler() {
  fake::Machine machine = fake::xeon(2, 16);
  machine.more_info.erase("MB/thread_throttle_mode");
  fake::Control& pbm = add_control(machine, "L3PBM", true);
  pbm.cbm_mask = Cbm::range(0, 16);
  pbm.initial = 0xffff;
  add_control(machine, "L3PRI").initial = 3;
  add_control(machine, "MBMIN").says_steps = true;
  machine.controls.erase(Resource::L3);
  machine.controls.erase(Resource::MB);
  return machine;
}

// The generic schema in its native mode: there is no MB.
inline fake::Machine native() {
  fake::Machine machine = fake::xeon();
  machine.more_info.erase("MB/thread_throttle_mode");
  for (const char* name : {"MB_MIN", "MB_MAX"}) {
    fake::Control& control = add_control(machine, name);
    control.described_in = "MB";
    control.unit_name = "all";
    control.initial = std::string_view(name) == "MB_MAX" ? 100 : 0;
  }
  machine.controls.erase(Resource::MB);
  return machine;
}

// A limit for all sockets of a node together, and rates of more bits.
inline fake::Machine amd_nodes(unsigned nodes = 1) {
  fake::Machine machine = fake::amd();
  for (auto& [resource, control] : machine.controls)
    for (unsigned i = 1; i < nodes; i++) control.domains[DomainId{i}] = control.domains.at({});
  for (auto& [resource, control] : machine.controls) control.most_eighths = 8192;
  fake::Control& gmb = add_control(machine, "GMB");
  gmb.most = gmb.initial = 8192;
  gmb.described_in = "MB";
  gmb.unit_name = "GBps";
  gmb.bounds = "MB";
  gmb.scope = "NODE";
  return machine;
}

inline fake::Machine without_l3() {
  fake::Machine machine = fake::xeon();
  machine.controls.erase(Resource::L3);
  return machine;
}

}  // namespace rdtd::test
