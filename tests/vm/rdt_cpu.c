// SPDX-License-Identifier: GPL-2.0-or-later
// rdt_cpu: a QEMU TCG plugin that gives the emulated x86 CPU Intel RDT.
//
// A stock Linux kernel decides whether it has resctrl from CPUID (leaves 7, 0xF and 0x10) and then
// drives the hardware through a handful of MSRs. This plugin answers those CPUID leaves and stores
// those MSRs, so an unmodified distribution kernel under an unmodified QEMU mounts the real resctrl
// filesystem, with the kernel's own rules, limits and error texts.
//
// A test can check what reached the "hardware": the mask registers, the MBA delays, and the CLOSID
// in IA32_PQR_ASSOC of the task on each CPU. Every write can be logged on the host, and a program
// in the guest reads any register through the laboratory leaf, CPUID 0x52445400:
//
//   ECX 0, 1  disarms, arms the memory model (memory_model.h): from then on partitions and
//             throttles have their effect on user-space programs, and the monitoring counters tell
//             what really happened; EBX is 1 if there is one
//   ECX 2     this CPU's last-level reads and misses, in EBX and ECX
//   ECX 3     the register EDX as the CPU EBX has it: low half in EBX, high half in ECX
//   ECX 4     how often that register was written, in EBX
//
// A server of the Haswell generation (argument haswell, model 63) has L3 CAT but announces none:
// Linux knows the model, writes the mask of CLOSID 0, and takes the feature as there if it can read
// what it wrote. `events` are those of monitoring, as in leaf 0xF: occupancy 1, total bandwidth 2,
// local bandwidth 4.
//
// Without the argument memory there is no memory model: programs whose accesses are looked at run a
// third slower, also while it is disarmed.
//
// cpus_per_l2 CPUs share an L2, and cpus_per_socket an L3 and a memory channel. The memory model is
// that of the L3, or without l3_ways that of the L2. With code and data divided (cdp), it goes by
// the masks of CLOSIDs that are not: it is for mounts without that option. Of the kernel's accesses
// it sees those that lock a region of a cache: the kernel switches the prefetchers off first (MSR
// 0x1a4), and the code that it enters then is instrumented too.
//
// l2_lines is the size of the cache that a core has before it, which threads_per_core CPUs share;
// CPUID tells it unless the L2 can be divided.
//
// With busy_ns, the clock falls when more CPUs are busy: an instruction takes so much longer for
// each other one.
//
// With hit_ns and miss_ns, accesses to that cache take time (memory_model.h). lines_per_way makes
// it more associative than a CBM has bits: with few sets and many lines a way, it does not matter
// which pages a program has.
//
// With the argument amd, the bandwidths are AMD's: MBA and SMBA as rates, in registers of their
// own. The memory model does not know these. mbm_counters are counters that count only the RMID and
// the event that they are assigned to (ABMC); with sdciae, the highest CLOSID can be that of I/O
// devices. Both are in AMD's manual, volume 3, leaf 0x80000020, and volume 2, "Platform Quality of
// Service".
//
// Needs a QEMU whose plugin API is version 7 (seen with QEMU 11.1). The declarations below are the
// part of that API in use; QEMU's own header is not packaged by Debian.
#include <glib.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory_model.h"
#include "virtual_time.h"

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;
struct qemu_plugin_hwaddr;
typedef uint32_t qemu_plugin_meminfo_t;
typedef struct {
  struct qemu_plugin_register *handle;
  const char *name;
  const char *feature;
  bool is_readonly;
} reg_descriptor;
enum cb_flags { CB_NO_REGS, CB_R_REGS, CB_RW_REGS, CB_RW_REGS_PC };
typedef void (*vcpu_cb)(unsigned cpu, void *userdata);
typedef void (*mem_cb)(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata);
typedef void (*tb_cb)(struct qemu_plugin_tb *tb, void *userdata);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, vcpu_cb, void *);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, tb_cb, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, vcpu_cb, enum cb_flags,
                                            void *);
void qemu_plugin_register_vcpu_idle_cb(qemu_plugin_id_t, vcpu_cb, void *);
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *, unsigned cpu);
typedef struct {
  struct qemu_plugin_scoreboard *score;
  size_t offset;
} u64_of_cpu;
enum { INLINE_ADD, COND_GE = 7 };
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *, int op, u64_of_cpu,
                                                       uint64_t);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *, vcpu_cb, enum cb_flags,
                                               int cond, u64_of_cpu, uint64_t, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
GArray *qemu_plugin_get_registers(void);
bool qemu_plugin_read_register(struct qemu_plugin_register *, GByteArray *);
bool qemu_plugin_write_register(struct qemu_plugin_register *, GByteArray *);
__attribute__((noreturn)) void qemu_plugin_set_pc(uint64_t);
enum { MEM_RW = 3 };
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, mem_cb, enum cb_flags, int rw,
                                      void *);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, uint64_t);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);

EXPORT int qemu_plugin_version = 7;

// What the CPU claims to have. Each is a plugin argument of the same name.
static struct {
  uint32_t l3_ways, l3_closids, l2_ways, l2_closids, mba_closids, rmids, io_mask, cdp, sparse;
  uint32_t cpus_per_l2, cpus_per_socket, events, haswell, amd, mbm_counters, sdciae, memory;
} hw = {.l3_ways = 20,
        .l3_closids = 16,
        .l2_ways = 0,
        .l2_closids = 8,
        .mba_closids = 8,
        .rmids = 64,
        .io_mask = 0,
        .cdp = 1,
        .sparse = 0,
        .cpus_per_l2 = 1,
        .cpus_per_socket = 2,
        .events = 7,
        .haswell = 0,
        .amd = 0,
        .mbm_counters = 0,
        .sdciae = 0,
        .memory = 0};

static struct memory_config memory = {
    .sets = 1024, .lines_per_way = 1, .l2_lines = 512, .threads_per_core = 1};
static bool memory_armed;
static uint32_t busy_ns;
static bool models_l2;              // and not the L3
static __thread bool locks_region;  // the kernel does, on the CPU of this thread

// Instructions that a CPU has run since the last time_run().
enum { INSTRUCTIONS_AT_ONCE = 500 };
static u64_of_cpu instructions;

static struct qemu_plugin_register *rax, *rbx, *rcx, *rdx, *rip;

// A register's value and how often it was written. L3 masks and delays are a socket's, L2 masks
// those of the CPUs that share the L2, the others a CPU's.
struct msr {
  uint64_t value;
  uint32_t writes;
};
enum { MSR_COUNT = 0x1000 };
static struct msr cpu_msr[MAX_CPUS][MSR_COUNT], l2_msr[MAX_DOMAINS][MSR_COUNT],
    socket_msr[MAX_DOMAINS][MSR_COUNT];
static uint32_t patch_level[MAX_CPUS];  // of the cache that leaf 4 is about
static uint32_t patch_leaf[MAX_CPUS];   // 4 or 7: the CPUID just executed is to be amended
static FILE *msr_log;

// AMD's registers of a socket, and where they are kept here, where Intel has none.
enum { AMD_MBA = 0xc0000200, AMD_SMBA = 0xc0000280, ABMC_CFG = 0xc00003fd, EXT_CFG = 0xc00003ff };
enum { AMD_KEPT_AT = 0xe00, AMD_REGISTERS = 0x200 };
// An assignable counter of a socket: its RMID, and what that had counted when the counter was
// assigned.
enum { MAX_COUNTERS = 32 };
static struct {
  unsigned rmid;
  uint64_t base;
  bool enabled;
} mbm_counter[MAX_DOMAINS][MAX_COUNTERS];
enum {
  QM_EVTSEL = 0xc8d,
  QM_CTR = 0xc8e,
  PQR_ASSOC = 0xc8f,
  L3_MASK = 0xc90,
  L2_MASK = 0xd10,
  MBA_DELAY = 0xd50
};
enum { LAB_LEAF = 0x52445400, MISC_FEATURE_CONTROL = 0x1a4 };

static uint64_t get(struct qemu_plugin_register *reg) {
  GByteArray *bytes = g_byte_array_new();
  uint64_t value = 0;
  qemu_plugin_read_register(reg, bytes);
  memcpy(&value, bytes->data, MIN(bytes->len, sizeof value));
  g_byte_array_free(bytes, TRUE);
  return value;
}

static void set(struct qemu_plugin_register *reg, uint64_t value) {
  GByteArray *bytes = g_byte_array_new();
  g_byte_array_append(bytes, (const guint8 *)&value, sizeof value);
  qemu_plugin_write_register(reg, bytes);
  g_byte_array_free(bytes, TRUE);
}

// What an instruction that has just been executed is to have put in the registers.
struct answer {
  bool is_due, to_all;  // or to RAX and RDX alone
  uint64_t a, b, c, d;
};
static struct answer answers[MAX_CPUS];

static void put_in_registers(struct answer answer) {
  set(rax, answer.a), set(rdx, answer.d);
  if (answer.to_all) set(rbx, answer.b), set(rcx, answer.c);
}

// Goes on behind an instruction of two bytes. `pc` is where it was translated: the kernel has it at
// one address only, but QEMU shares translations of a page that processes have at different ones.
// Of these, `rip` is that of an instruction before it in the same block, which is shorter than a
// page.
//
// Only where nothing else helps: QEMU leaves the block without saving how it computes the flags,
// and an interrupt that comes right then saves wrong ones.
__attribute__((noreturn)) static void step_over(const void *pc) {
  uint64_t before = get(rip), at = before + (((uint64_t)pc - before) & 0xfff);
  qemu_plugin_set_pc(at + 2);
}

// QEMU executes the instruction too, which does no harm: it knows none of these leaves and
// registers (target/i386/tcg/system/misc_helper.c). Then after_instruction() has the last word.
// `pc` is set if the block ends with the instruction, so that no callback follows it.
static void give(unsigned cpu, const void *pc, struct answer answer) {
  if (!pc) {
    answers[cpu % MAX_CPUS] = answer;
    return;
  }
  put_in_registers(answer);
  step_over(pc);
}

static unsigned socket_of(unsigned cpu) { return cpu / hw.cpus_per_socket % MAX_DOMAINS; }
static unsigned l2_of(unsigned cpu) { return cpu / hw.cpus_per_l2 % MAX_DOMAINS; }

static uint32_t place_of(uint32_t index) {
  return index - AMD_MBA < AMD_REGISTERS ? index - AMD_MBA + AMD_KEPT_AT : index;
}

static struct msr *msr_at(unsigned cpu, uint32_t index) {
  index = place_of(index);
  if (index < L3_MASK) return &cpu_msr[cpu % MAX_CPUS][index];
  bool of_l2 = index >= L2_MASK && index < MBA_DELAY;
  return of_l2 ? &l2_msr[l2_of(cpu)][index] : &socket_msr[socket_of(cpu)][index];
}

static bool is_rdt_msr(uint32_t index) {
  if (hw.amd && (index - AMD_MBA < MAX_CLOSIDS || index - AMD_SMBA < MAX_CLOSIDS)) return true;
  if (hw.mbm_counters && index == ABMC_CFG) return true;
  if ((hw.mbm_counters || hw.sdciae) && index == EXT_CFG) return true;
  return index == 0xc81 || index == 0xc82 ||       // L3/L2 QOS_CFG: CDP on or off
         (index >= QM_EVTSEL && index < 0xd00) ||  // EVTSEL, CTR, PQR_ASSOC, L3 masks
         (index >= L2_MASK && index < 0xd90);      // L2 masks, MBA delays
}

static bool is_amended(uint32_t leaf, uint32_t sub) {
  if (leaf == 7) return sub == 0;
  if (leaf == (hw.amd ? 0x8000001d : 4))
    return memory.ways && (sub == 2 ? models_l2 || !hw.l2_ways : sub == 3 && !models_l2);
  return hw.amd && (leaf == 0x80000001 || leaf == 0x80000008);
}

// Before CPUID: answers leaves 0xF and 0x10, and AMD's 0x80000020.
static void on_cpuid(unsigned cpu, void *pc) {
  uint32_t leaf = get(rax), sub = get(rcx), of_cpu = get(rbx), index = get(rdx), a = 0, b = 0,
           c = 0, d = 0;
  patch_leaf[cpu % MAX_CPUS] = is_amended(leaf, sub) ? leaf : 0;
  answers[cpu % MAX_CPUS].is_due = false;
  patch_level[cpu % MAX_CPUS] = sub;
  if (leaf == 0xf) {
    if (sub == 0 && hw.rmids) b = hw.rmids - 1, d = 2;
    if (sub == 1 && hw.rmids) b = LINE_BYTES, c = hw.rmids - 1, d = hw.events;
  } else if (leaf == 0x10) {
    if (hw.haswell) sub = UINT32_MAX;
    if (sub == 0)
      b = (hw.l3_ways ? 2 : 0) | (hw.l2_ways ? 4 : 0) | (hw.mba_closids && !hw.amd ? 8 : 0);
    if (sub == 1 && hw.l3_ways)
      a = hw.l3_ways - 1, b = hw.io_mask, c = (hw.cdp ? 4 : 0) | (hw.sparse ? 8 : 0),
      d = hw.l3_closids - 1;
    if (sub == 2 && hw.l2_ways) a = hw.l2_ways - 1, c = hw.cdp ? 4 : 0, d = hw.l2_closids - 1;
    if (sub == 3 && hw.mba_closids && !hw.amd) a = 89, c = 4, d = hw.mba_closids - 1;
  } else if (leaf == 0x80000020 && hw.amd) {
    if (sub == 0)
      b = (hw.mba_closids ? 2 | 4 : 0) | (hw.mbm_counters ? 1 << 5 : 0) | (hw.sdciae ? 1 << 6 : 0);
    if ((sub == 1 || sub == 2) && hw.mba_closids) a = 11, d = hw.mba_closids - 1;
    if (sub == 3 && hw.mbm_counters) b = 2, c = 0x7f;
    if (sub == 5 && hw.mbm_counters) b = hw.mbm_counters - 1;
  } else if (leaf == LAB_LEAF) {
    if (sub < 2) {
      memory_armed = sub;
      time_arm(sub);
      b = hw.memory;
    } else if (sub == 2) {
      struct cpu_counters now = memory_counters(cpu % MAX_CPUS);
      b = now.llc_reads, c = now.llc_misses;
    } else if (place_of(index) < MSR_COUNT) {
      const struct msr *reg = msr_at(of_cpu, index);
      b = sub == 3 ? (uint32_t)reg->value : reg->writes;
      c = sub == 3 ? reg->value >> 32 : 0;
    }
  } else {
    return;
  }
  give(cpu, pc, (struct answer){true, true, a, b, c, d});
}

// After CPUID: leaf 7 gains RDT_A (bit 15) and RDT_M (bit 12); leaf 4, AMD's 0x8000001d, tells the
// size of the modelled cache and of the core's L2 before it, and who shares the L2 if that is the
// modelled one (EAX, bits 14 to 25). AMD's
// 0x80000001 gains the topology extensions (bit 22), which that leaf belongs to, and 0x80000008 MBA
// (bit 6).
static void after_cpuid(unsigned cpu) {
  uint32_t leaf = patch_leaf[cpu % MAX_CPUS];
  patch_leaf[cpu % MAX_CPUS] = 0;
  if (leaf == 7)
    set(rbx, (uint32_t)get(rbx) | (hw.haswell ? 0 : 1u << 15) | (hw.rmids ? 1u << 12 : 0));
  if (leaf == 0x80000001) set(rcx, (uint32_t)get(rcx) | 1u << 22);
  if (leaf == 0x80000008) set(rbx, (uint32_t)get(rbx) | (hw.mba_closids ? 1u << 6 : 0));
  bool inner = patch_level[cpu % MAX_CPUS] == 2 && !models_l2;
  if (leaf == 4 || leaf == 0x8000001d)
    set(rbx, (inner ? 0 : (uint64_t)(memory.ways - 1) << 22) | (LINE_BYTES - 1)),
        set(rcx, (inner ? memory.l2_lines : memory.sets * memory.lines_per_way) - 1);
  if (leaf == 4 && models_l2)
    set(rax, ((uint32_t)get(rax) & ~(0xfffu << 14)) | (hw.cpus_per_l2 - 1) << 14);
}

static void after_instruction(unsigned cpu, void *unused) {
  struct answer *answer = &answers[cpu % MAX_CPUS];
  if (answer->is_due) put_in_registers(*answer);
  answer->is_due = false;
  after_cpuid(cpu);
}

// ABMC_CFG: the RMID in bits 32 to 43, the counter in bits 48 to 52, 62 enables it, 63 says that
// the rest is to be taken.
static void assign_counter(unsigned socket, uint64_t value) {
  if (!(value >> 63)) return;
  unsigned id = value >> 48 & (MAX_COUNTERS - 1), rmid = (value >> 32 & 0xfff) % MAX_RMIDS;
  mbm_counter[socket][id].rmid = rmid;
  mbm_counter[socket][id].base = memory_miss_lines(socket, rmid);
  mbm_counter[socket][id].enabled = value >> 62 & 1;
}

// QEMU ignores writes to registers that it does not know.
static void on_wrmsr(unsigned cpu, void *unused) {
  uint32_t index = get(rcx);
  if (index == MISC_FEATURE_CONTROL) locks_region = (uint32_t)get(rax);
  if (!is_rdt_msr(index)) return;
  uint64_t value = get(rdx) << 32 | (uint32_t)get(rax);
  unsigned socket = socket_of(cpu);
  struct msr *reg = msr_at(cpu, index);
  reg->value = value;
  reg->writes++;
  uint32_t mask = models_l2 ? L2_MASK : L3_MASK;
  if (index >= mask && index < mask + MAX_CLOSIDS)
    memory_set_cbm(models_l2 ? l2_of(cpu) : socket, index - mask, value);
  if (index >= MBA_DELAY && index < MBA_DELAY + MAX_CLOSIDS)
    memory_set_mba_delay(socket, index - MBA_DELAY, value);
  if (index == ABMC_CFG) assign_counter(socket, value);
  if (msr_log && index != QM_EVTSEL) {
    fprintf(msr_log, "cpu%u %#x = %#" PRIx64 "\n", cpu, index, value);
    fflush(msr_log);
  }
}

// Monitoring counters, in lines of 64 bytes: 1 is occupancy, 2 and 3 the total and local bandwidth
// (one channel: the same). With bit 31, an assignable counter, whose number is where the RMID is
// otherwise.
static uint64_t read_counter(unsigned cpu, uint64_t evtsel) {
  unsigned socket = socket_of(cpu), rmid = (evtsel >> 32) % MAX_RMIDS;
  if (evtsel >> 31 & 1) {
    unsigned id = (evtsel >> 32) % MAX_COUNTERS;
    if (!mbm_counter[socket][id].enabled) return 0;
    return memory_miss_lines(socket, mbm_counter[socket][id].rmid) - mbm_counter[socket][id].base;
  }
  return (evtsel & 0xff) == 1 ? memory_occupancy_lines(socket, rmid)
                              : memory_miss_lines(socket, rmid);
}

static void on_wbinvd(unsigned cpu, void *unused) {
  memory_flush(models_l2 ? l2_of(cpu) : socket_of(cpu));
}

static void on_rdmsr(unsigned cpu, void *pc) {
  uint32_t index = get(rcx);
  answers[cpu % MAX_CPUS].is_due = false;  // of one that raised an exception
  if (!is_rdt_msr(index)) return;
  uint64_t value = index == QM_CTR ? read_counter(cpu, msr_at(cpu, QM_EVTSEL)->value)
                                   : msr_at(cpu, index)->value;
  give(cpu, pc, (struct answer){.is_due = true, .a = (uint32_t)value, .d = value >> 32});
}

static void on_instructions(unsigned cpu, void *unused) {
  uint64_t *count = qemu_plugin_scoreboard_find(instructions.score, cpu), now = *count;
  *count = 0;
  time_run(now);
}

static void on_rdtsc(unsigned cpu, void *pc) {
  on_instructions(cpu, NULL);
  uint64_t now = time_now();
  give(cpu, pc, (struct answer){.is_due = true, .a = (uint32_t)now, .d = now >> 32});
}

static void on_halt(unsigned cpu, void *unused) { time_halt(); }

struct access {
  qemu_plugin_meminfo_t info;
  uint64_t vaddr;
};

static bool physical(void *context, uint64_t *paddr) {
  struct access *access = context;
  struct qemu_plugin_hwaddr *address = qemu_plugin_get_hwaddr(access->info, access->vaddr);
  if (!address || qemu_plugin_hwaddr_is_io(address)) return false;
  *paddr = qemu_plugin_hwaddr_phys_addr(address);
  return true;
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *unused) {
  if (!memory_armed) return;
  uint64_t pqr = msr_at(cpu, PQR_ASSOC)->value;
  memory_access(cpu % MAX_CPUS, (pqr >> 32) % MAX_CLOSIDS, pqr % MAX_RMIDS, vaddr, physical,
                &(struct access){info, vaddr});
}

static void on_translate(struct qemu_plugin_tb *tb, void *unused) {
  size_t n = qemu_plugin_tb_n_insns(tb);
  if (hw.memory) {
    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_instructions, CB_NO_REGS, COND_GE,
                                              instructions, INSTRUCTIONS_AT_ONCE, NULL);
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, INLINE_ADD, instructions, n);
  }
  for (size_t i = 0; i < n; i++) {
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
    uint8_t op[2];
    bool user_space = qemu_plugin_insn_vaddr(insn) < 1ull << 47;
    if ((user_space || locks_region) && hw.memory && memory.ways)
      qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW, NULL);
    if (qemu_plugin_insn_data(insn, op, 2) < 2 || op[0] != 0x0f) continue;
    if (op[1] == 0x09) qemu_plugin_register_vcpu_insn_exec_cb(insn, on_wbinvd, CB_NO_REGS, NULL);
    vcpu_cb cb = op[1] == 0xa2                ? on_cpuid
                 : op[1] == 0x30              ? on_wrmsr
                 : op[1] == 0x32              ? on_rdmsr
                 : op[1] == 0x31 && hw.memory ? on_rdtsc
                                              : NULL;
    if (!cb) continue;
    // WRMSR always ends a block.
    bool steps_over = i + 1 == n && cb != on_wrmsr;
    if (i + 1 < n)
      qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, i + 1), after_instruction,
                                             CB_RW_REGS, NULL);
    qemu_plugin_register_vcpu_insn_exec_cb(
        insn, cb, steps_over ? CB_RW_REGS_PC : CB_RW_REGS,
        steps_over ? (void *)qemu_plugin_insn_vaddr(insn) : NULL);
  }
}

static void on_vcpu_init(unsigned cpu, void *unused) {
  if (hw.memory) time_of_thread(cpu);
  GArray *regs = qemu_plugin_get_registers();
  for (guint i = 0; i < regs->len; i++) {
    reg_descriptor *reg = &g_array_index(regs, reg_descriptor, i);
    if (!strcmp(reg->name, "rax")) rax = reg->handle;
    if (!strcmp(reg->name, "rbx")) rbx = reg->handle;
    if (!strcmp(reg->name, "rcx")) rcx = reg->handle;
    if (!strcmp(reg->name, "rdx")) rdx = reg->handle;
    if (!strcmp(reg->name, "rip")) rip = reg->handle;
  }
  g_array_free(regs, TRUE);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                               char **argv) {
  struct {
    const char *name;
    uint32_t *value;
  } options[] = {{"l3_ways", &hw.l3_ways},
                 {"l3_closids", &hw.l3_closids},
                 {"l2_ways", &hw.l2_ways},
                 {"l2_closids", &hw.l2_closids},
                 {"mba_closids", &hw.mba_closids},
                 {"rmids", &hw.rmids},
                 {"io_mask", &hw.io_mask},
                 {"cdp", &hw.cdp},
                 {"sparse", &hw.sparse},
                 {"cpus_per_l2", &hw.cpus_per_l2},
                 {"cpus_per_socket", &hw.cpus_per_socket},
                 {"events", &hw.events},
                 {"haswell", &hw.haswell},
                 {"amd", &hw.amd},
                 {"mbm_counters", &hw.mbm_counters},
                 {"sdciae", &hw.sdciae},
                 {"memory", &hw.memory},
                 {"sets", &memory.sets},
                 {"lines_per_way", &memory.lines_per_way},
                 {"hit_ns", &memory.hit_ns},
                 {"l2_lines", &memory.l2_lines},
                 {"threads_per_core", &memory.threads_per_core},
                 {"miss_ns", &memory.miss_ns},
                 {"busy_ns", &busy_ns},
                 {"channel_mbps", &memory.channel_mbps}};
  for (int i = 0; i < argc; i++) {
    char *equals = strchr(argv[i], '=');
    bool known = false;
    if (equals) {
      *equals = '\0';
      if (!strcmp(argv[i], "log")) known = (msr_log = fopen(equals + 1, "w")) != NULL;
      for (size_t k = 0; k < G_N_ELEMENTS(options); k++)
        if (!strcmp(argv[i], options[k].name))
          *options[k].value = strtoul(equals + 1, NULL, 0), known = true;
    }
    if (!known) {
      fprintf(stderr, "rdt_cpu: bad argument '%s'\n", argv[i]);
      return 1;
    }
  }
  models_l2 = !hw.l3_ways && hw.l2_ways;
  memory.ways = models_l2 ? hw.l2_ways : hw.l3_ways;
  memory.cpus_per_domain = models_l2 ? hw.cpus_per_l2 : hw.cpus_per_socket;
  memory_init(&memory);
  time_configure(busy_ns);
  if (hw.memory) {
    instructions.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
    time_of_thread(-1);
    qemu_plugin_register_vcpu_idle_cb(id, on_halt, NULL);
  }
  qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init, NULL);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate, NULL);
  return 0;
}
