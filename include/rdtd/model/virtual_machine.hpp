// The virtual machine that a cgroup belongs to, by the name that its administrator gave it: under
// libvirt with systemd-machined (machine.slice/machine-qemu\x2d1\x2dweb.scope), under libvirt alone
// (/machine/qemu-1-web.libvirt-qemu), and under Proxmox VE, which has numbers for names
// (/qemu.slice/100.scope).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdtd {

// "web"; nothing if it belongs to none.
[[nodiscard]] std::optional<std::string> vm_of_cgroup(std::string_view path);

}  // namespace rdtd
