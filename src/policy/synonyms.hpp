// Tables of words that users write in place of a policy's keys, and what they mean.
// unknown_key.cpp applies them.
#pragma once

#include <span>
#include <string_view>

#include "unknown_key.hpp"

namespace rdtd {

// Words of other tools and first guesses, without '_' and '-', with spaces between them. They apply
// in a table that has `key`.
struct Synonym {
  std::string_view words;
  std::string_view key;
  std::string_view hint;  // empty: "did you mean 'KEY'?"
};

inline constexpr std::string_view needs_rule =
    "conditions belong in a [[rule]] with this group's name";
inline constexpr std::string_view needs_group = "amounts belong in the rule's [group.NAME]";
inline constexpr std::string_view caches_only =
    "a partition divides caches only: bandwidth belongs in its [group.NAME]";
inline constexpr std::string_view needs_control =
    "write control = { NAME = ... } with the name that schemata has";
inline constexpr std::string_view resource_keys = "write l3 = \"4 ways\" or mb = \"50%\"";
inline constexpr std::string_view of_namespace = "write pod = \"NAMESPACE/*\"";
inline constexpr std::string_view of_kubernetes =
    "rules know pods by name only: write pod = \"NAMESPACE/NAME*\"";
inline constexpr std::string_view other_controls =
    "rdtd sets caches and memory bandwidth only; systemd.exec(5) and systemd.resource-control(5) "
    "have the other limits";
inline constexpr std::string_view by_domain =
    "a table maps domains to amounts: l3 = { \"0\" = \"4 ways\", \"*\" = \"2 ways\" }";
inline constexpr std::string_view as_comment = "use a comment (#), or a key that begins with 'x-'";
inline constexpr std::string_view of_alternatives =
    "all conditions of a rule must hold, an array holds if one of its members does, and "
    "alternatives are one [[rule]] each";
inline constexpr std::string_view commented_out = "remove the table, or comment it out";
inline constexpr std::string_view mount_options =
    "mount options belong in a drop-in for sys-fs-resctrl.mount: Options=cdp";
inline constexpr std::string_view mount_in_mbps =
    "mount options belong in a drop-in for sys-fs-resctrl.mount: Options=mba_MBps";
inline constexpr std::string_view no_exporter =
    "rdtd opens no port; rdtctl metrics prints the metrics for Prometheus";
inline constexpr std::string_view runtime_settings =
    "a runtime names the group, which needs no rule here: write [group.NAME]";
// Of CRI-O and of programs around pqos, each of which has a place of its own for these settings.
inline constexpr std::string_view of_crio_file =
    "'rdtctl import --from FILE' makes a policy of the file that CRI-O's key names";
inline constexpr std::string_view of_koordinator =
    "catRangeEndPercent and mbaPercent are l3 = \"30%\" and mb = \"50%\" in a [group.NAME]";
inline constexpr std::string_view one_interface =
    "rdtd uses resctrl only, which pqos calls the interface 'os': remove this line";
inline constexpr std::string_view no_pqos =
    "rdtd writes resctrl itself and runs no pqos: remove this line";
inline constexpr std::string_view in_observer =
    "the time between samples is 'interval' in [observer], such as \"1s\"";
inline constexpr std::string_view one_form_of_metrics =
    "metrics have one form, which 'rdtctl metrics' prints: remove this line";
inline constexpr std::string_view groups_of_partition =
    "a group names its partition: write partition = \"NAME\" in [group.NAME]";
inline constexpr std::string_view one_policy =
    "a policy is for the machine that it lies on, all the time: give each machine its files";
inline constexpr std::string_view all_the_time =
    "a policy holds all the time and for its machine only: use a timer, or other files";
inline constexpr std::string_view groups_share =
    "groups share ways unless one of them has exclusive = true";
inline constexpr std::string_view of_accounts =
    "rules do not know the accounts of a scheduler; for a user, write user = \"NAME\"";
inline constexpr std::string_view of_record =
    "the history has a size, and not a time: write record = \"64 MiB\"";
inline constexpr std::string_view of_script = "write cmdline = \"*/NAME.py*\"";
inline constexpr std::string_view of_qemu_thread = "write thread = \"IO iothreadID\"";
inline constexpr std::string_view qos_class = "write unit = \"kubepods-besteffort.slice\"";
inline constexpr std::string_view it_belongs_in_daemon = "it belongs in [daemon]";
// The units that they name have the type in their names: batch.slice.
inline constexpr std::string_view of_type_service = "write unit = \"NAME.service\"";
inline constexpr std::string_view of_type_slice = "write unit = \"NAME.slice\"";
inline constexpr std::string_view of_type_scope = "write unit = \"NAME.scope\"";
inline constexpr std::string_view in_a_group = "it belongs in a [group.NAME]";
inline constexpr std::string_view by_kernel =
    "the kernel numbers groups by itself: a group has a name only";
inline constexpr std::string_view no_templates =
    "a group has all its amounts: there is no inheritance and no template";
inline constexpr std::string_view an_end =
    "write l3 = \"4 ways\", mb = \"50%\", or for a guard the range mb = \"10%..100%\"";
inline constexpr std::string_view words_for_namespace =
    "namespace ns podnamespace kubernetesnamespace k8snamespace";
inline constexpr std::string_view words_for_workloads =
    "deployment statefulset daemonset replicaset";
inline constexpr std::string_view words_for_groups =
    "class classes clos cos groups controlgroup controlgroups resctrl";
inline constexpr std::string_view in_rule =
    "write monitor = \"NAME\" in a [[rule]], or monitor_cpus = { NAME = \"0-3\" } in a group";
inline constexpr std::string_view in_guard =
    "[guard] is a table of its own; write protected = true in the group that must not suffer";
inline constexpr std::string_view of_a_scheduler =
    "a scheduler gives each job a cgroup, see /proc/PID/cgroup: write cgroup = \"**/*ID*\"";

// The CPUs are those of the mask.
inline constexpr std::string_view of_cpu_mask = "write a list of CPUs, such as cpus = \"0-3\"";

inline constexpr std::string_view of_lxc = "write cgroup = \"/lxc.payload.NAME\"";
inline constexpr std::string_view is_group_of_rule = "did you mean 'group'?";
inline constexpr std::string_view on_unsupported = "did you mean 'unsupported'?";
inline constexpr std::string_view of_schema =
    "editors take the schema of a comment: #:schema /usr/share/rdtd/rdtd.schema.json";

// Of [[rule]].
[[nodiscard]] std::span<const Synonym> rows_of_rules();
// Of [group.NAME], and those of its keys that [partition.NAME] and [io] have too.
[[nodiscard]] std::span<const Synonym> rows_of_groups();
// Of the top of a file, of [daemon] and of [pseudo_lock.NAME].
[[nodiscard]] std::span<const Synonym> rows_of_others();

}  // namespace rdtd
