// SPDX-License-Identifier: GPL-2.0-or-later
// virtual_time: the machine's clock, for programs whose times must not depend on the host's load.
//
// While the memory model is armed, each virtual CPU has a time of its own: what its instructions
// and its accesses to the cache take, however long the host needs for them. A CPU waits for those
// that are behind it, and none is faster than the host's clock. Halted CPUs follow the others; with
// all CPUs halted, and while the model is not armed, the time passes as on the host.
//
// The guest reads it as the TSC, at 1 GHz, and QEMU reads it as the host's monotonic clock: for
// that, the plugin is preloaded too, and its clock_gettime() is the one that QEMU calls. Hence all
// timers of the machine expire by this time. Why it is done so: docs/decisions/virtual-time.md.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// The CPU of the calling thread; the thread that calls this with a negative number is QEMU's main
// loop. Other threads have the host's clock.
void time_of_thread(int cpu);
void time_arm(bool armed);
// Each other CPU that runs makes an instruction take so much longer: the clock falls.
void time_configure(uint32_t busy_ns);
uint64_t time_now(void);
// The CPU of the calling thread has run so many instructions; it spends nanoseconds; it halts.
void time_run(uint64_t instructions);
void time_spend(uint64_t ns);
void time_halt(void);
