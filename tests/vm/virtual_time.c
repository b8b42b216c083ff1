// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "virtual_time.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "memory_model.h"

enum {
  INSTRUCTION_NS = 10,
  // How far a CPU runs ahead of the slowest one, and of the host's clock.
  WINDOW_NS = 50000,
  AHEAD_NS = 100000,
  POLL_NS = 20000,
  // A CPU that stands still for so long waits for this one: QEMU lets it run alone.
  STUCK_NS = 100000000
};

struct vcpu {
  _Alignas(64) _Atomic uint64_t ns;  // its time, while it runs
  _Atomic bool running;
  uint64_t from_ns, from_host_ns;  // when it was last no faster than the host
};
static struct vcpu vcpus[MAX_CPUS];
static _Atomic bool armed;
static uint32_t busy_ns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t latest_ns;                    // which the machine's time does not fall behind
static uint64_t stopped_ns, stopped_host_ns;  // when the last CPU stopped
static __thread struct vcpu *self;
static __thread bool of_machine;
static int (*host_clock)(clockid_t, struct timespec *);

static uint64_t host_ns(void) {
  struct timespec t;
  if (!host_clock) host_clock = dlsym(RTLD_NEXT, "clock_gettime");
  host_clock(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_ns(uint64_t ns) {
  nanosleep(&(struct timespec){.tv_nsec = ns % 1000000000}, NULL);
}

// Of the other CPUs that run; UINT64_MAX if none does.
static uint64_t slowest_ns(void) {
  uint64_t slowest = UINT64_MAX;
  for (struct vcpu *v = vcpus; v < vcpus + MAX_CPUS; v++)
    if (v != self && v->running && v->ns < slowest) slowest = v->ns;
  return slowest;
}

// With the lock held.
static uint64_t machine_ns(void) {
  uint64_t now = slowest_ns();
  if (self && self->running && self->ns < now) now = self->ns;
  if (now == UINT64_MAX) now = stopped_ns + (host_ns() - stopped_host_ns);
  if (now > latest_ns) latest_ns = now;
  return latest_ns;
}

static void start(void) {
  pthread_mutex_lock(&lock);
  uint64_t now = machine_ns();
  if (self->ns < now) self->ns = now;
  self->running = true;
  pthread_mutex_unlock(&lock);
  self->from_ns = self->ns;
  self->from_host_ns = host_ns();
}

static void stop(void) {
  pthread_mutex_lock(&lock);
  uint64_t now = machine_ns();
  self->running = false;
  if (slowest_ns() == UINT64_MAX) {
    stopped_ns = self->ns > now ? self->ns : now;
    stopped_host_ns = host_ns();
  }
  pthread_mutex_unlock(&lock);
}

// Sleeps while the CPU is ahead of the host's clock or of another CPU. What it has fallen behind
// the host's clock it does not catch up: QEMU's main loop sleeps on that clock until the next
// timer.
static void keep_pace(void) {
  uint64_t host = host_ns(), most = self->from_ns + (host - self->from_host_ns);
  if (self->ns <= most)
    self->from_ns = self->ns, self->from_host_ns = host;
  else if (self->ns > most + AHEAD_NS)
    sleep_ns(self->ns - most);
  for (uint64_t seen = 0, stuck = 0; armed;) {
    uint64_t slowest = slowest_ns(), now;
    if (slowest == UINT64_MAX || self->ns <= slowest + WINDOW_NS) break;
    now = host_ns();
    if (slowest != seen) seen = slowest, stuck = now + STUCK_NS;
    if (now > stuck) break;
    sleep_ns(POLL_NS);
  }
}

void time_of_thread(int cpu) {
  of_machine = true;
  if (cpu >= 0) self = &vcpus[cpu % MAX_CPUS];
}

void time_arm(bool on) { armed = on; }

void time_configure(uint32_t ns) { busy_ns = ns; }

static uint64_t other_running(void) {
  uint64_t count = 0;
  for (struct vcpu *v = vcpus; v < vcpus + MAX_CPUS; v++) count += v != self && v->running;
  return count;
}

uint64_t time_now(void) {
  if (self && self->running) return self->ns;
  pthread_mutex_lock(&lock);
  uint64_t now = machine_ns();
  pthread_mutex_unlock(&lock);
  return now;
}

void time_spend(uint64_t ns) {
  if (!armed) {
    if (self->running) stop();
    return;
  }
  if (!self->running) start();
  self->ns += ns;
  keep_pace();
}

void time_run(uint64_t instructions) {
  uint64_t slower = busy_ns && armed ? busy_ns * other_running() : 0;
  time_spend(instructions * (INSTRUCTION_NS + slower));
}

void time_halt(void) {
  if (self && self->running) stop();
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t) {
  if (!of_machine || clock != CLOCK_MONOTONIC) {
    if (!host_clock) host_ns();
    return host_clock(clock, t);
  }
  uint64_t now = time_now();
  *t = (struct timespec){.tv_sec = now / 1000000000, .tv_nsec = now % 1000000000};
  return 0;
}
