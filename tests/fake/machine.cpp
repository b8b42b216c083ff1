#include "fake/machine.hpp"

#include <algorithm>

namespace rdtd::fake {

namespace {

Machine sockets_of(unsigned sockets, unsigned cpus_each) {
  Machine machine;
  for (unsigned cpu = 0; cpu < sockets * cpus_each; cpu++) {
    machine.cpus.insert(cpu);
    machine.mon_domains[DomainId{cpu / cpus_each}].insert(cpu);
  }
  machine.num_rmids = 64;
  machine.mon_features = {"llc_occupancy", "mbm_total_bytes", "mbm_local_bytes"};
  machine.more_info = {{"L3_MON/max_threshold_occupancy", "20480\n"}};
  return machine;
}

Control cache(const Machine& machine, unsigned ways, uint64_t way_bytes) {
  Control control;
  control.cbm_mask = Cbm::range(0, ways);
  for (const auto& [id, cpus] : machine.mon_domains) control.domains[id] = {cpus, way_bytes};
  return control;
}

Control bandwidth(const Machine& machine, unsigned num_closids) {
  Control control;
  control.num_closids = num_closids;
  for (const auto& [id, cpus] : machine.mon_domains) control.domains[id].cpus = cpus;
  return control;
}

}  // namespace

uint32_t Control::unlimited() const {
  if (!cbm_mask.empty()) return cbm_mask.bits;
  switch (unit) {
    case Unit::percent: return 100;
    case Unit::mbps: return UINT32_MAX;
    case Unit::eighths: return most_eighths;
  }
  return 0;
}

Machine xeon(unsigned sockets, unsigned ways) {
  Machine machine = sockets_of(sockets, 2);
  machine.controls[Resource::L3] = cache(machine, ways, 64 << 10);
  machine.controls[Resource::MB] = bandwidth(machine, 8);
  machine.more_info["MB/thread_throttle_mode"] = "max\n";
  return machine;
}

Machine atom() {
  Machine machine = sockets_of(2, 2);
  machine.controls[Resource::L2] = cache(machine, 8, 512 << 10);
  machine.controls[Resource::L2].num_closids = 4;
  machine.num_rmids = 0;
  machine.mon_features.clear();
  machine.mon_domains.clear();
  machine.more_info.clear();
  machine.pseudo_locking = true;
  return machine;
}

Machine amd() {
  Machine machine = sockets_of(1, 4);
  Control& l3 = machine.controls[Resource::L3] = cache(machine, 16, 1 << 20);
  l3.min_cbm_bits = 0;
  l3.sparse_masks = true;
  Control mb = bandwidth(machine, 16);
  mb.unit = Unit::eighths;
  mb.bandwidth_gran = 1;
  mb.min_bandwidth = 0;
  mb.delay_linear = false;
  machine.controls[Resource::MB] = machine.controls[Resource::SMBA] = mb;
  return machine;
}

Machine with_io_alloc(Machine machine) {
  machine.controls.at(Resource::L3).io_alloc = true;
  return machine;
}

Machine with_cdp(Machine machine) {
  Control l3 = machine.controls.at(Resource::L3);
  l3.num_closids /= 2;
  machine.controls.erase(Resource::L3);
  machine.controls[Resource::L3CODE] = machine.controls[Resource::L3DATA] = l3;
  return machine;
}

Machine with_mbps(Machine machine) {
  machine.controls.at(Resource::MB).unit = Unit::mbps;
  return machine;
}

}  // namespace rdtd::fake
