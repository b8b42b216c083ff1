// SPDX-License-Identifier: Apache-2.0
// lab: the test programs that run in the guest, in one static binary. Called by another name (a
// link), it is a child of that name: the kernel names a process after the file it was started from.
//
//   lab arm | disarm                   the memory model of the emulated CPU
//   lab register CPU INDEX             an RDT register as that CPU has it, in hexadecimal
//   lab await CPU INDEX VALUE SECONDS  waits until the register has that value (hexadecimal), and
//                                      prints when, in seconds of CLOCK_MONOTONIC; fails if it
//                                      takes longer
//   lab writes CPU INDEX               how often it was written
//   lab victim KIB SECONDS [TURNS]     random reads of a working set; prints how many reads missed
//                                      the last-level cache. With TURNS, a FIFO, each 20,000 reads
//                                      wait until the noise has passed once more, so that the
//                                      host's scheduler does not decide how much noise there is
//   lab lines KIB                      touches that many lines, prints "touched", and after SIGUSR1
//                                      reads each once; prints how many of these reads missed the
//                                      last-level cache
//   lab chase KIB SECONDS              dependent reads of a working set in random order; prints the
//                                      median time of a read in ns, over groups of 256 reads
//   lab read-times KIB                 the same with each read timed; prints the medians for lines
//                                      in the cache, for lines that a span of 4 MiB has evicted,
//                                      and for two readings of the clock with nothing between
//   lab noise KIB SECONDS [TURNS]      linear reads of a span; with TURNS it is one pass ahead of
//                                      the victim at most
//   lab burst LINK COUNT SECONDS       starts COUNT children as LINK, each living SECONDS; prints
//                                      how many found themselves outside GROUP (environment) at
//                                      their end, one line when all are started
//   lab threads LINK TIMES COUNT       TIMES children one after the other, each starting COUNT
//                                      threads at once; prints how many threads were outside GROUP
//                                      100 ms later
//   lab outside NAME GROUP             counts the threads of processes of that name that are
//                                      outside the group
//   lab rename NAME SECONDS            renames itself, then sleeps
//   lab thread NAME SECONDS            starts a thread of that name, then sleeps
//   lab fork SECONDS                   a child by fork without exec; prints its pid
//   lab exec-loop LINK COUNT           starts and awaits COUNT children, one after the other
//   lab map DEVICE CPU SECONDS         maps a device whole, from that CPU, and closes it; writes
//                                      and reads it, prints its size
//   lab as UID GID PROGRAM [ARG...]    runs a program as another user
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <grp.h>
#include <time.h>
#include <unistd.h>

enum { LAB_LEAF = 0x52445400 };

static void lab(uint32_t op, uint32_t cpu, uint32_t index, uint32_t *first, uint32_t *second) {
  uint32_t a = LAB_LEAF, b = cpu, c = op, d = index;
  __asm__ volatile("cpuid" : "+a"(a), "+b"(b), "+c"(c), "+d"(d));
  if (first) *first = b;
  if (second) *second = c;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void nap(double seconds) {
  nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)}, NULL);
}

// Whether a thread, "self" or "PID/task/TID", is in the group; a thread that is gone is.
static bool in_group(const char *thread, const char *group) {
  char path[64], text[512] = "", wanted[300];
  snprintf(path, sizeof path, "/proc/%s/cpu_resctrl_groups", thread);
  int fd = open(path, O_RDONLY);
  if (fd < 0) return true;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  snprintf(wanted, sizeof wanted, "res:%s\n",
           *group ? group : "/");  // the default group has no name
  return n <= 0 || strncmp(text, wanted, strlen(wanted)) == 0;
}

static volatile uint64_t *touched_lines(size_t lines, uint64_t *sum) {
  volatile uint64_t *m = aligned_alloc(4096, lines * 64);
  memset((void *)m, 1, lines * 64);
  for (int warm = 0; warm < 4; warm++)
    for (size_t i = 0; i < lines; i++) *sum += m[i * 8];
  return m;
}

static void print_misses(uint32_t reads, uint32_t misses) {
  printf("reads %u misses %u percent %.2f\n", reads, misses, reads ? 100.0 * misses / reads : 0.0);
}

enum { TURN = 4096 };  // the least that a pipe can hold: a turn fills it

// Both ends, so that neither program ends when the other does. -1 without a path.
static int open_turns(const char *path) {
  int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (path && (fd < 0 || fcntl(fd, F_SETPIPE_SZ, TURN) != TURN)) perror(path), exit(1);
  return fd;
}

static void give_turn(int fd) {
  static const char turn[TURN];
  if (fd >= 0 && write(fd, turn, TURN) != TURN) perror("turn"), exit(1);
}

static void take_turn(int fd) {
  char turn[TURN];
  if (fd >= 0 && read(fd, turn, TURN) != TURN) perror("turn"), exit(1);
}

static void victim(size_t kib, double seconds, int turns) {
  size_t lines = kib * 1024 / 64;
  double end = now() + seconds;
  uint64_t x = 88172645463325252ull, sum = 0;
  uint32_t reads0, misses0, reads1, misses1;
  volatile uint64_t *m = touched_lines(lines, &sum);
  lab(2, 0, 0, &reads0, &misses0);
  do {
    take_turn(turns);
    for (int i = 0; i < 20000; i++) {
      // Some work between the reads, so that a neighbour has time to evict what this one will come
      // back to.
      for (int round = 0; round < 8; round++) x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      sum += m[x % lines * 8];
    }
  } while (now() < end);
  lab(2, 0, 0, &reads1, &misses1);
  print_misses(reads1 - reads0, misses1 - misses0);
}

static void read_lines(size_t kib) {
  size_t lines = kib * 1024 / 64;
  uint64_t sum = 0;
  uint32_t reads0, misses0, reads1, misses1;
  sigset_t set;
  int signal;
  sigemptyset(&set), sigaddset(&set, SIGUSR1), sigprocmask(SIG_BLOCK, &set, NULL);
  volatile uint64_t *m = touched_lines(lines, &sum);
  printf("touched\n"), fflush(stdout);
  sigwait(&set, &signal);
  lab(2, 0, 0, &reads0, &misses0);
  for (size_t i = 0; i < lines; i++) sum += m[i * 8];
  lab(2, 0, 0, &reads1, &misses1);
  print_misses(reads1 - reads0, misses1 - misses0);
}

static void noise(size_t kib, double seconds, int turns) {
  size_t lines = kib * 1024 / 64;
  double end = now() + seconds;
  volatile uint64_t *m = aligned_alloc(4096, lines * 64);
  memset((void *)m, 1, lines * 64);
  uint64_t sum = 0;
  do {
    for (size_t i = 0; i < lines; i++) sum += m[i * 8];
    give_turn(turns);
  } while (now() < end);
}

// Lines that each hold the number of another, in one random cycle.
static volatile uint64_t *random_cycle(size_t lines) {
  volatile uint64_t *m = aligned_alloc(4096, lines * 64);
  uint64_t x = 88172645463325252ull;
  for (size_t i = 0; i < lines; i++) m[i * 8] = i;
  for (size_t i = lines - 1; i > 0; i--) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    uint64_t other = x % i, held = m[i * 8];
    m[i * 8] = m[other * 8], m[other * 8] = held;
  }
  return m;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_ns(double *seconds, size_t count) {
  qsort(seconds, count, sizeof *seconds, compare);
  return seconds[count / 2] * 1e9;
}

static void chase(size_t kib, double duration) {
  enum { GROUP = 256, MOST = 1 << 16 };
  static double took[MOST];
  size_t lines = kib * 1024 / 64, count = 0;
  volatile uint64_t *m = random_cycle(lines);
  uint64_t at = 0;
  for (size_t i = 0; i < 2 * lines; i++) at = m[at * 8];
  for (double begin = now(), end = begin + duration; begin < end; count++) {
    for (int i = 0; i < GROUP; i++) at = m[at * 8];
    double after = now();
    took[count % MOST] = (after - begin) / GROUP;  // the latest ones
    begin = after;
  }
  printf("%.0f\n", median_ns(took, count < MOST ? count : MOST));
}

static double single_read_ns(volatile uint64_t *m, uint64_t *at) {
  enum { READS = 2001 };
  static double took[READS];
  for (int i = 0; i < READS; i++) {
    double begin = now();
    if (m) *at = m[*at * 8];
    took[i] = now() - begin;
  }
  return median_ns(took, READS);
}

static void read_times(size_t kib) {
  size_t lines = kib * 1024 / 64, span = (4 << 20) / 64;
  volatile uint64_t *m = random_cycle(lines), *others = aligned_alloc(4096, span * 64);
  uint64_t at = 0, sum = 0;
  memset((void *)others, 1, span * 64);
  for (size_t i = 0; i < 2 * lines; i++) at = m[at * 8];
  double resident = single_read_ns(m, &at);
  for (size_t i = 0; i < span; i++) sum += others[i * 8];
  double evicted = single_read_ns(m, &at);
  printf("resident %.0f evicted %.0f clock %.0f\n", resident, evicted, single_read_ns(NULL, &at));
}

static pid_t start(const char *link, const char *job, const char *argument) {
  pid_t pid = vfork();
  if (pid == 0) {
    execl(link, link, job, argument, NULL);
    _exit(127);
  }
  return pid;
}

// The children's exit status is how many of their threads were outside.
static unsigned collect(unsigned count) {
  unsigned outside = 0;
  for (unsigned i = 0; i < count; i++) {
    int status = 0;
    if (wait(&status) < 0) break;
    outside += WIFEXITED(status) ? WEXITSTATUS(status) : 1000000;
  }
  return outside;
}

static void burst(const char *link, unsigned count, const char *seconds) {
  double begin = now();
  for (unsigned i = 0; i < count; i++)
    if (start(link, "live", seconds) < 0) perror("lab: fork"), exit(1);
  printf("started %u in %.1f s\n", count, now() - begin);
  fflush(stdout);
  printf("outside %u\n", collect(count));
}

static _Noreturn void *nothing(void *argument) {
  prctl(PR_SET_NAME, argument ? argument : "lab-thread");
  for (;;) pause();
}

static unsigned own_threads_outside(const char *group) {
  unsigned outside = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *entry; (entry = readdir(tasks));) {
    char thread[64];
    if (entry->d_name[0] == '.') continue;
    snprintf(thread, sizeof thread, "self/task/%.20s", entry->d_name);
    outside += !in_group(thread, group);
  }
  closedir(tasks);
  return outside;
}

// How many are still outside when no more is to be hoped for: sooner than the next reconcile, later
// than any delay of a busy host.
static int start_threads(int count, const char *group) {
  pthread_t thread;
  unsigned outside;
  double end = now() + 20;
  for (int i = 0; i < count; i++) pthread_create(&thread, NULL, nothing, NULL);
  do nap(0.1);
  while ((outside = own_threads_outside(group)) > 0 && now() < end);
  return (int)outside;
}

static void count_outside(const char *name, const char *group) {
  unsigned threads = 0, outside = 0;
  DIR *proc = opendir("/proc");
  for (struct dirent *entry; (entry = readdir(proc));) {
    char path[64], comm[32] = "";
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    snprintf(path, sizeof path, "/proc/%.20s/comm", entry->d_name);
    FILE *file = fopen(path, "r");
    if (!file) continue;
    bool matches = fgets(comm, sizeof comm, file) &&
                   (comm[strcspn(comm, "\n")] = '\0', strcmp(comm, name) == 0);
    fclose(file);
    if (!matches) continue;
    snprintf(path, sizeof path, "/proc/%.20s/task", entry->d_name);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
      char thread[64];
      if (task->d_name[0] == '.') continue;
      snprintf(thread, sizeof thread, "%.20s/task/%.20s", entry->d_name, task->d_name);
      threads++;
      outside += !in_group(thread, group);
    }
    if (tasks) closedir(tasks);
  }
  closedir(proc);
  printf("%u of %u\n", outside, threads);
}

// The size of a region is that of the largest map that the kernel grants.
static int map_device(const char *device, int cpu, double seconds) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  if (sched_setaffinity(0, sizeof cpus, &cpus)) return perror("lab: sched_setaffinity"), 1;
  int fd = open(device, O_RDWR);
  if (fd < 0) return perror(device), 1;
  size_t size = 64 << 20;
  char *memory = MAP_FAILED;
  for (; size >= 4096 && memory == MAP_FAILED; size -= memory == MAP_FAILED ? 4096 : 0)
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return perror("lab: mmap"), 1;
  for (size_t i = 0; i < size; i++) memory[i] = (char)(i * 7);
  for (size_t i = 0; i < size; i++)
    if (memory[i] != (char)(i * 7)) return fprintf(stderr, "lab: byte %zu is wrong\n", i), 1;
  printf("%zu\n", size), fflush(stdout);
  nap(seconds);
  return 0;
}

static int await(uint32_t cpu, uint32_t index, uint64_t value, double seconds) {
  for (const double end = now() + seconds; now() < end; nap(0.001)) {
    uint32_t low, high;
    lab(3, cpu, index, &low, &high);
    if (((uint64_t)high << 32 | low) == value) return printf("%.6f\n", now()), 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  const char *job = argc > 1 ? argv[1] : "", *a = argc > 2 ? argv[2] : "",
             *b = argc > 3 ? argv[3] : "", *c = argc > 4 ? argv[4] : "";
  const char *group = getenv("GROUP") ? getenv("GROUP") : "";
  uint32_t low, high;
  if (!strcmp(job, "arm")) {
    lab(1, 0, 0, &low, NULL);
    if (!low)
      return fputs("lab: this machine has no memory model; say so in the scenario's head\n",
                   stderr),
             1;
  } else if (!strcmp(job, "disarm")) {
    lab(0, 0, 0, NULL, NULL);
  } else if (!strcmp(job, "register")) {
    lab(3, atoi(a), strtoul(b, NULL, 0), &low, &high);
    printf("%lx\n", (uint64_t)high << 32 | low);
  } else if (!strcmp(job, "await")) {
    return await(atoi(a), strtoul(b, NULL, 0), strtoul(c, NULL, 16), argc > 5 ? atof(argv[5]) : 0);
  } else if (!strcmp(job, "writes")) {
    lab(4, atoi(a), strtoul(b, NULL, 0), &low, NULL);
    printf("%u\n", low);
  } else if (!strcmp(job, "victim")) {
    victim(atoi(a), atof(b), open_turns(argc > 4 ? c : NULL));
  } else if (!strcmp(job, "lines")) {
    read_lines(atoi(a));
  } else if (!strcmp(job, "chase")) {
    chase(atoi(a), atof(b));
  } else if (!strcmp(job, "read-times")) {
    read_times(atoi(a));
  } else if (!strcmp(job, "noise")) {
    noise(atoi(a), atof(b), open_turns(argc > 4 ? c : NULL));
  } else if (!strcmp(job, "burst")) {
    burst(a, atoi(b), c);
  } else if (!strcmp(job, "live")) {
    nap(atof(a));
    return !in_group("self", group);
  } else if (!strcmp(job, "threads")) {
    unsigned outside = 0;
    for (int i = 0; i < atoi(b); i++) start(a, "start-threads", c), outside += collect(1);
    printf("outside %u\n", outside);
  } else if (!strcmp(job, "start-threads")) {
    return start_threads(atoi(a), group);
  } else if (!strcmp(job, "outside")) {
    count_outside(a, b);
  } else if (!strcmp(job, "rename")) {
    prctl(PR_SET_NAME, a);
    nap(atof(b));
  } else if (!strcmp(job, "thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, (void *)a);
    nap(atof(b));
  } else if (!strcmp(job, "fork")) {
    pid_t child = fork();
    if (child > 0) printf("%d\n", child), fflush(stdout);
    nap(atof(a));
  } else if (!strcmp(job, "exec-loop")) {
    for (int i = 0; i < atoi(b); i++) start(a, "none", ""), collect(1);
  } else if (!strcmp(job, "map")) {
    return map_device(a, atoi(b), atof(c));
  } else if (!strcmp(job, "as")) {
    gid_t gid = atoi(b);
    if (setgroups(0, NULL) || setgid(gid) || setuid(atoi(a))) return perror("lab: as"), 1;
    execv(c, argv + 4);
    return perror(c), 127;
  } else if (strcmp(job, "none")) {
    fprintf(stderr, "lab: unknown job '%s'\n", job);
    return 64;
  }
  return 0;
}
