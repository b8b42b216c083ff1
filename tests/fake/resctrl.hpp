// Resctrl: a model of the kernel's resctrl filesystem, made of plain values. It enforces what the
// kernel enforces, with the kernel's errnos and last_cmd_status texts, as read in the sources of
// 6.12 and checked against that kernel and 7.3 by the scenario model-kernel.
//
// A test that calls it directly acts as another program would: nothing is counted, recorded or made
// to fail. The code under test goes through fake::Kernel.
//
// Not modelled: the `debug` mount option, writes to other files below info/ than those of io_alloc,
// to mba_MBps_event, renaming monitoring groups, and domains of Sub-NUMA clusters.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fake/machine.hpp"
#include "rdtd/model/snapshot.hpp"
#include "rdtd/resctrl/filesystem.hpp"

namespace rdtd::fake {

// errno, and whether open(2) failed with it rather than the read(2) or write(2) after it.
struct Refusal {
  int code = 0;
  bool on_open = false;
  bool operator==(const Refusal&) const = default;
};

template <class T>
using Answer = std::expected<T, Refusal>;

// info/last_cmd_status: a buffer of 512 bytes that commands append to.
class Status {
 public:
  void clear();
  // As the kernel's seq_buf: a constant text that does not fit is dropped, a formatted one is cut.
  void put(std::string_view text);
  void print(std::string_view text);
  [[nodiscard]] std::string text() const { return text_.empty() ? "ok\n" : text_; }

 private:
  std::string text_;
  bool overflowed_ = false;
};

// By MBM event: the domains where it has a counter.
using Assigned = std::map<std::string, std::set<DomainId>>;

struct MonGroup {
  std::string name;
  unsigned rmid = 0;
  CpuSet cpus;
  uint64_t inode = 0;
  Assigned assigned = {};
};

// The cache region of a pseudo-locked group, or of one that is being set up.
struct Region {
  Resource resource{};
  std::optional<DomainId> domain;  // absent: not chosen yet, or its domain is offline
  Cbm cbm;
};

struct Group {
  std::string name;  // "" for the root
  unsigned closid = 0;
  unsigned rmid = 0;
  Mode mode = Mode::shareable;
  CpuSet cpus;
  Region region;
  std::vector<MonGroup> mon_groups;
  uint64_t inode = 0;
  Assigned assigned = {};
  std::set<unsigned> iommu_groups = {};  // of devices
};

// It is or becomes a pseudo-locked region.
[[nodiscard]] bool is_locking(const Group& group);

struct Task {
  unsigned closid = 0;
  unsigned rmid = 0;
};

// The resource that divides the same cache under CDP.
[[nodiscard]] std::optional<Resource> peer(Resource resource);

class Resctrl {
 public:
  using Entry = resctrl::Filesystem::Entry;

  explicit Resctrl(Machine machine);

  // Paths are relative to the root, as in resctrl::Filesystem.
  [[nodiscard]] Answer<void> make(std::string_view path);
  [[nodiscard]] Answer<void> remove(std::string_view path);
  // Only of a monitoring group without CPUs: its threads get the limits of the other control group.
  [[nodiscard]] Answer<void> rename(std::string_view from, std::string_view to);
  [[nodiscard]] Answer<std::string> read(std::string_view path);
  [[nodiscard]] Answer<void> write(std::string_view path, std::string_view text);
  [[nodiscard]] Answer<std::vector<Entry>> list(std::string_view path);

  // Opens `tasks` for writing: the inode that stays that of this group.
  [[nodiscard]] Answer<uint64_t> open_tasks(std::string_view path);
  // A write to that open file; ENODEV once the group was removed.
  [[nodiscard]] int write_open_tasks(uint64_t inode, std::string_view text);

  // A thread begins, in the groups of its parent (0: in the root), or ends.
  void add_task(pid_t tid, pid_t parent = 0);
  void remove_task(pid_t tid) { tasks.erase(tid); }
  // As /proc/PID/cpu_resctrl_groups: the group's directory. Nothing if there is no such thread.
  [[nodiscard]] std::optional<std::string> group_of(pid_t tid) const;

  // A domain whose last CPU goes offline disappears; when it returns, every CLOSID there is
  // unrestricted. A CPU that comes online joins the root.
  void take_offline(unsigned cpu);
  void bring_online(unsigned cpu);

  // The RMIDs of removed groups become free; until then mkdir(2) may fail with EBUSY.
  void end_limbo();

  [[nodiscard]] Group& root() { return groups.front(); }
  // nullptr if there is none.
  [[nodiscard]] Group* find(std::string_view name);

  // The state. A test may read and change it.
  Machine machine;
  CpuSet online;
  std::vector<Group> groups;  // the root first, then in the order in which they were made
  std::map<pid_t, Task> tasks;
  std::set<unsigned> free_closids;
  std::deque<unsigned> free_rmids;
  std::deque<unsigned> limbo;
  // What is programmed for each resource and domain, indexed by CLOSID.
  std::map<Resource, std::map<DomainId, std::vector<uint32_t>>> values;
  // Contents of counters that are not "0\n", by their paths: "redis/mon_data/mon_L3_00/...".
  std::map<std::string, std::string> counters;
  bool io_enabled = false;  // I/O devices hold the highest CLOSID
  Status status;
  pid_t writer = 1;  // the thread that the number 0 means in `tasks`

 private:
  struct Node;
  using Staged = std::map<std::pair<Resource, DomainId>, uint32_t>;

  // Paths (tree.cpp).
  [[nodiscard]] Answer<Node> resolve(std::string_view path);
  [[nodiscard]] Answer<Node> resolve_info(const std::vector<std::string_view>& parts);
  // At least those in this directory of info/, "L3"; empty: all.
  [[nodiscard]] std::map<std::string, std::string> info_files(std::string_view only = "") const;
  static void add_control_files(const Resource& resource, const Control& control,
                                std::map<std::string, std::string>& files);
  [[nodiscard]] std::vector<std::string> files_of(const Node& node) const;
  [[nodiscard]] static std::optional<Resource> resource_with(std::string_view name,
                                                             std::string_view file);
  [[nodiscard]] static int permission(const Node& node, bool writing);
  [[nodiscard]] bool monitors() const { return machine.num_rmids > 0; }

  // Groups (resctrl.cpp).
  [[nodiscard]] int make_control_group(const std::string& name);
  [[nodiscard]] int make_mon_group(Group& parent, const std::string& name);
  void remove_control_group(Group& group);
  void remove_mon_group(Group& parent, const MonGroup& group);
  [[nodiscard]] std::expected<unsigned, int> take_rmid();
  void free_rmid(unsigned rmid);
  [[nodiscard]] unsigned num_closids() const;
  [[nodiscard]] std::optional<Mode> mode_of(unsigned closid) const;
  [[nodiscard]] bool has_tasks(const Group& group) const;

  // Commands (commands.cpp). Each returns 0 or errno.
  [[nodiscard]] int write_cpus(Group& group, MonGroup* mon, std::string_view text, bool list);
  [[nodiscard]] int set_cpus(Group& group, const CpuSet& cpus);
  [[nodiscard]] int set_mon_cpus(Group& parent, MonGroup& group, const CpuSet& cpus);
  [[nodiscard]] int write_tasks(Group& group, MonGroup* mon, std::string_view text);
  [[nodiscard]] int move_task(Group& group, MonGroup* mon, int tid);
  [[nodiscard]] int write_mode(Group& group, std::string_view text);
  [[nodiscard]] bool can_be_exclusive(const Group& group);
  [[nodiscard]] int enter_locksetup(Group& group);
  [[nodiscard]] int exit_locksetup(Group& group);
  [[nodiscard]] std::string tasks_text(const Group& group, const MonGroup* mon) const;
  [[nodiscard]] Answer<std::string> cpus_text(const Group& group, const MonGroup* mon, bool list);

  // Assignable counters (assignments.cpp).
  [[nodiscard]] std::vector<std::string> mbm_events() const;
  [[nodiscard]] std::vector<DomainId> online_mon_domains() const;
  [[nodiscard]] unsigned free_counters(DomainId id) const;
  [[nodiscard]] bool assign(Assigned& assigned, const std::string& event, DomainId id);
  void assign_at_mkdir(Assigned& assigned);
  [[nodiscard]] int write_assignments(Assigned& assigned, std::string_view text);
  [[nodiscard]] int write_assignment(Assigned& assigned, const std::string& event,
                                     std::string_view domains);
  [[nodiscard]] std::string assignments_text(const Assigned& assigned) const;
  void add_assignment_files(std::map<std::string, std::string>& files) const;

  // Schemata (schemata.cpp).
  [[nodiscard]] int write_schemata(Group& group, std::string_view text);
  [[nodiscard]] int parse_row(Group& group, std::string_view line, Staged& staged);
  [[nodiscard]] int parse_domains(Group& group, Resource resource, std::string_view text,
                                  Staged& staged);
  [[nodiscard]] bool parse_bandwidth(const Group& group, Resource resource, DomainId id,
                                     std::string_view text, Staged& staged);
  [[nodiscard]] bool parse_mask(const Group& group, Resource resource, DomainId id,
                                std::string_view text, Staged& staged);
  [[nodiscard]] std::optional<uint32_t> valid_mask(const Control& control, std::string_view text);
  [[nodiscard]] int lock_region(Group& group);
  [[nodiscard]] bool overlaps(Resource resource, DomainId id, uint32_t mask, unsigned closid,
                              bool only_exclusive) const;
  [[nodiscard]] Cbm locked_ways(Resource resource, DomainId id) const;
  [[nodiscard]] bool locked_in_hierarchy(Resource resource, DomainId id) const;
  [[nodiscard]] int initialize_allocations(unsigned closid);
  [[nodiscard]] int initialize_cache(Resource resource, unsigned closid);
  [[nodiscard]] Cbm initial_mask(Resource resource, DomainId id, unsigned closid) const;
  [[nodiscard]] Answer<std::string> schemata_text(const Group& group);
  [[nodiscard]] uint32_t bound_of(const Resource& resource, DomainId id, unsigned closid);
  [[nodiscard]] std::string domain_values(Resource resource, unsigned closid);
  [[nodiscard]] Answer<std::string> size_text(const Group& group);
  [[nodiscard]] std::string bit_usage_text(Resource resource) const;
  [[nodiscard]] CpuSet online_cpus(Resource resource, DomainId id) const;
  [[nodiscard]] bool is_online(const Resource& resource, DomainId id) const;
  // The value of a group that nothing limits.
  [[nodiscard]] uint32_t unrestricted(const Resource& resource) const;

  // I/O devices (io_alloc.cpp).
  [[nodiscard]] bool has_io_files() const;
  [[nodiscard]] bool does_io(Resource resource) const;
  [[nodiscard]] unsigned io_closid(Resource resource) const;
  [[nodiscard]] std::string io_alloc_text(Resource resource) const;
  [[nodiscard]] Answer<std::string> io_alloc_cbm_text(Resource resource);
  [[nodiscard]] int io_unavailable(Resource resource);
  [[nodiscard]] int write_io_alloc(Resource resource, std::string_view text);
  [[nodiscard]] int write_io_alloc_cbm(Resource resource, std::string_view text);

  uint64_t next_inode_ = 0;
};

}  // namespace rdtd::fake
