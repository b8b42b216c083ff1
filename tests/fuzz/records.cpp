// The two records of /run/rdtd, each loaded from the same text and stored again.
#include "fake/kernel.hpp"
#include "fake/processes.hpp"
#include "fuzz/record_directory.hpp"
#include "rdtd/daemon/manual_assignments.hpp"
#include "rdtd/resctrl/ownership.hpp"

using namespace rdtd;

namespace {

void check_ownership(std::string_view text) {
  fuzz::require(fuzz::record_directory().replace("groups", text).has_value(),
                "the record is written");
  auto ownership = Ownership::load(fuzz::record_directory());
  fuzz::require(ownership.has_value(), "any text is a record");
  ownership->made("made", 7);
  fuzz::require(ownership->store().has_value(), "the record is stored");
  const auto again = Ownership::load(fuzz::record_directory());
  fuzz::require(again && again->names() == ownership->names(),
                "a record that is stored has the same groups");
}

using Assigned = std::map<pid_t, std::string>;

Assigned load(ManualAssignments& assignments, const proc::Processes& processes) {
  fuzz::require(assignments.load(processes).has_value(), "any text is a record");
  Assigned out;
  for (const auto& held : assignments.all()) out[held.process->pid()] = held.group;
  return out;
}

void check_manual(std::string_view text) {
  static fake::Kernel kernel(fake::xeon());
  static fake::Processes& processes = *[] {
    auto* made = new fake::Processes(kernel);
    made->next_pid = 10;
    made->start({.exe = "/usr/bin/redis"});
    made->start({.exe = "/usr/bin/a", .name = "a b"});
    return made;
  }();
  processes.calls.reset();
  fuzz::require(fuzz::record_directory().replace(manual_record, text).has_value(),
                "the record is written");
  ManualAssignments first(fuzz::record_directory());
  const Assigned assigned = load(first, processes);
  fuzz::require(first.store().has_value(), "the record is stored");
  ManualAssignments second(fuzz::record_directory());
  fuzz::require(load(second, processes) == assigned,
                "a record that is stored has the same processes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_ownership(fuzz::text_of(data, size));
  check_manual(fuzz::text_of(data, size));
  return 0;
}
