// The virtual machine that a cgroup belongs to, by the name that its administrator gave it: under
// libvirt with systemd-machined (machine.slice/machine-qemu\x2d1\x2dweb.scope, or in the slice of
// another partition: machine.slice/machine-gold.slice/machine-qemu...), under libvirt alone
// (/machine/qemu-1-web.libvirt-qemu, /machine/gold.partition/qemu-1-web.libvirt-qemu), and under
// Proxmox VE, which has numbers for names (/qemu.slice/100.scope).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

// "web"; nothing if it belongs to none.
[[nodiscard]] std::optional<std::string> vm_of_cgroup(std::string_view path);

// All names that a machine of this name can have in its scope, beside its own. libvirt drops
// characters that no host name has, and of '-' and '.' in a row all but the first. It cuts
// "qemu-NUMBER-NAME" at 64 characters, so that the digits of the number decide how many stay.
[[nodiscard]] std::vector<std::string> vm_names_in_scope(std::string_view name);

// Whether the cgroup of a machine can be directly or further below this one.
[[nodiscard]] bool may_hold_vms(std::string_view path);

}  // namespace rdtd
