#include "rdtd/policy/comm_name.hpp"

#include <algorithm>
#include <array>

namespace rdtd {

namespace {

// No program of a longer name begins so: "nvidia-persistenced" is one, and "scsi_logging_level".
constexpr auto beginnings = std::to_array<std::string_view>(
    {"kworker/",  "rcu_",         "rcub/",       "rcuc/",
     "rcuog/",    "rcuop/",       "rcuos/",      "ksoftirqd/",
     "ktimers/",  "irq/",         "irq_work/",   "migration/",
     "cpuhp/",    "idle_inject/", "watchdog/",   "jbd2/",
     "ext4-rsv-", "xfs-",         "xfsaild/",    "btrfs-transaction",
     "dm-",       "dmcrypt_",     "kcryptd",     "kdmflush/",
     "kvm-",      "vhost-",       "napi/",       "nvme-",
     "nvmet-",    "scsi_eh_",     "scsi_tmf_",   "nfsv4",
     "drbd_",     "ecryptfs-",    "nvidia-drm/", "nvidia-modeset/",
     "psimon/",   "kcompactd",    "kswapd",      "rdma_",
     "mlx5_",     "irqbypass/",   "hv_",         "UVM "});

}  // namespace

bool is_kernel_thread(std::string_view name) {
  return std::ranges::any_of(
      beginnings, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

bool can_begin_kernel_thread(std::string_view prefix) {
  return is_kernel_thread(prefix) ||
         std::ranges::any_of(
             beginnings, [&](std::string_view beginning) { return beginning.starts_with(prefix); });
}

bool can_be_comm(std::string_view name) {
  return name.size() <= longest_comm ||
         (name.size() <= longest_kernel_thread && is_kernel_thread(name));
}

std::string comm_of(std::string_view name) {
  if (name.size() <= longest_comm) return std::string(name);
  size_t end = longest_comm;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) end--;
  return std::string(name.substr(0, end)) + (end < longest_comm ? "*" : "");
}

}  // namespace rdtd
