// A copy of resctrl, as `rdtctl plan` takes one: from its files to a machine, its counters, and a
// plan for it. The form of the input is described in memory_tree.hpp.
#include "fuzz/memory_tree.hpp"
#include "rdtd/plan/prepare.hpp"
#include "rdtd/resctrl/counters.hpp"
#include "rdtd/resctrl/read.hpp"

using namespace rdtd;

namespace {

constexpr const char* policy = R"(
[partition.part]
l3 = "50%"
[group.first]
l3 = "2 ways"
l2 = "25%"
exclusive = true
[group.second]
partition = "part"
l3 = "40%"
mb = "50%"
[group.third]
l3 = "1 MiB"
mb = "2 GB/s"
cpus = "1-2"
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::MemoryTree tree(fuzz::text_of(data, size));
  (void)resctrl::read_counters(tree);
  (void)resctrl::read_tasks(tree, "");
  const auto machine = resctrl::read_machine(tree, resctrl::read_copied_mount_options(tree), {});
  if (!machine) return 0;
  const std::vector files{PolicyFile{"p.toml", PolicyFile::State::active, policy, {}}};
  const auto prepared = prepare_what_fits(files, *machine);
  fuzz::require(prepared || has_errors(prepared.error().diagnostics),
                "a policy is rejected with an error");
  if (prepared) (void)format_plan(prepared->plan);
  return 0;
}
